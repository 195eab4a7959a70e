package replay_test

import (
	"context"
	"fmt"
	"strings"

	"ctxdb/cache"
	"ctxdb/cache/replay"
)

// What would a window of 8,000 tokens have done with the references of the
// locality model, and what could have been done at best?
func Example() {
	ctx := context.Background()
	trace, err := replay.PublishedModel(1).Trace()
	if err != nil {
		panic(err)
	}
	o := replay.Options{Budget: 8000, Policy: cache.LRU}
	run, err := replay.Simulate(ctx, trace, o)
	if err != nil {
		panic(err)
	}
	bound, err := replay.LowerBound(ctx, trace, o)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d of %d references are faults (%.0f %%); no cache has less than %.0f %%\n",
		run.Faults, run.Recalls, 100*run.FaultRate(), 100*bound.FaultRate())
	// Output: 227 of 1500 references are faults (15 %); no cache has less than 10 %
}

func ExampleRead() {
	trace, err := replay.Read("mine", strings.NewReader("id,size\na,300\nb,500\na,300\n"))
	if err != nil {
		panic(err)
	}
	_, total := trace.Sizes()
	fmt.Println(len(trace.Refs), trace.Items, total)
	_, err = replay.Read("broken", strings.NewReader("a,300\nb,many\n"))
	fmt.Println(err)
	// Output:
	// 3 2 800
	// broken: replay: bad trace: line 2: column size: "many" is no number from 0 to 1099511627776
}
