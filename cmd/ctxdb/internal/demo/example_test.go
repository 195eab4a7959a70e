package demo_test

import (
	"context"
	"fmt"
	"io"

	"ctxdb/cmd/ctxdb/internal/demo"
)

func Example() {
	r, err := demo.Run(context.Background(), io.Discard, demo.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	lru := r.Paged[0]
	fmt.Println(lru.References, "references,", lru.Faults, "faults,", lru.TurnsLost, "turns lost")
	fmt.Println("within the budget:", lru.PeakTokens <= r.BudgetTokens)
	// Output:
	// 1500 references, 226 faults, 0 turns lost
	// within the budget: true
}
