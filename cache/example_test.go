package cache_test

import (
	"context"
	"fmt"

	"ctxdb/cache"
)

func Example() {
	c, err := cache.New(cache.Options[string, string]{BudgetTokens: 100, Policy: cache.LRU})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for _, key := range []string{"#1", "#2", "#1", "#3"} {
		text, hit, err := c.Load(ctx, key, cache.Cost{Tokens: 40}, func() (string, error) {
			return "the text of " + key, nil // read from the file here
		})
		fmt.Println(text, hit, err)
	}
	fmt.Println(c.Keys(), c.Stats().Charged.Tokens)
	// Output:
	// the text of #1 false <nil>
	// the text of #2 false <nil>
	// the text of #1 true <nil>
	// the text of #3 false <nil>
	// [#1 #3] 80
}

// A cache without values answers what a policy would have done.
func Example_replay() {
	var left []int
	c, err := cache.New(cache.Options[int, struct{}]{BudgetTokens: 10, Policy: cache.SIEVE,
		OnEvict: func(key int, _ struct{}, _ cache.Cost, _ cache.Reason) { left = append(left, key) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	nothing := func() (struct{}, error) { return struct{}{}, nil }
	for _, key := range []int{1, 2, 1, 3, 4, 1} {
		if _, _, err := c.Load(context.Background(), key, cache.Cost{Tokens: 4}, nothing); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(c.Stats().Hits, c.Stats().Faults, left)
	// Output: 1 5 [2 1 3]
}
