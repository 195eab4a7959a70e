package main

import (
	"context"
	"os"
)

func main() {
	root := newRoot()
	root.SetArgs(os.Args[1:])
	root.SetIn(os.Stdin)
	root.SetOut(os.Stdout)
	root.SetErr(os.Stderr)
	os.Exit(run(context.Background(), root))
}
