package main

import (
	"context"
	"os"
)

// openInput opens a file to read, of any kind: a pipe waits for its writer, and
// an interrupt ends that wait.
func openInput(ctx context.Context, name string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	c := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		c <- opened{f, err}
	}()
	select {
	case o := <-c:
		return o.f, o.err
	case <-ctx.Done():
		go func() { // should it open yet
			if o := <-c; o.err == nil {
				o.f.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// isRegular reports whether a path leads to a regular file, which opens without
// waiting for anybody.
func isRegular(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}
