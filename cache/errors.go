package cache

import (
	"errors"
	"fmt"
)

// Errors of New and Restore.
var (
	// ErrOptions: the options contradict themselves or name no budget.
	ErrOptions = errors.New("cache: bad options")
	// ErrState: a snapshot that no cache of this policy can have written, or
	// a cache to restore into that is not empty.
	ErrState = errors.New("cache: bad snapshot")
)

// Errors of Load, Pin and Release.
var (
	// ErrOverBudget: the cost cannot fit beside what is pinned. Nothing changed.
	ErrOverBudget = errors.New("cache: over budget")
	// ErrCost: a negative cost. Nothing changed.
	ErrCost = errors.New("cache: negative cost")
	// ErrNotResident: only residents can be pinned or released.
	ErrNotResident = errors.New("cache: not resident")
	// ErrPinned: a pinned item is not released. Nothing changed.
	ErrPinned = errors.New("cache: pinned")
	// ErrDropped: the key was dropped while its load was under way.
	ErrDropped = errors.New("cache: dropped while loading")
	// ErrLoadAborted: the shared load panicked or left its goroutine. Only
	// those who waited for it see this; the panic itself goes on where it began.
	ErrLoadAborted = errors.New("cache: shared load did not return")
)

// errAbandoned tells those who wait for a flight that its owner gave up
// before any loading began, so that one of them takes over.
var errAbandoned = errors.New("cache: fault abandoned")

func overBudget(cost, pinned, limit Cost) error {
	return fmt.Errorf("%w: %d tokens, %d bytes asked beside pinned %d and %d, budget %d and %d",
		ErrOverBudget, cost.Tokens, cost.Bytes, pinned.Tokens, pinned.Bytes, limit.Tokens, limit.Bytes)
}
