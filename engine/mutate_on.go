//go:build ctxdbmutate

// This file is no part of any normal build: see wal/mutate_on.go.

package engine

import "fmt"

var (
	mutateOnce    bool // a state is published in one slot only
	mutateConfirm bool // what Open found is relied on as it is
)

// Mutate leaves a step out: once or confirm. The function returned puts it
// back. Not for concurrent use.
func Mutate(name string) (restore func()) {
	step := map[string]*bool{"once": &mutateOnce, "confirm": &mutateConfirm}[name]
	if step == nil {
		panic(fmt.Sprintf("no step is called %q", name))
	}
	*step = true
	return func() { *step = false }
}
