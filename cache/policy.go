package cache

import (
	"fmt"
	"iter"
)

// Policy names an order of leaving.
type Policy string

// The policies. All are exact and deterministic.
const (
	IdleSize Policy = "idlesize"
	LRU      Policy = "lru"
	CLOCK    Policy = "clock"
	SIEVE    Policy = "sieve"
	S3FIFO   Policy = "s3fifo"
	GDSF     Policy = "gdsf"
)

// Policies lists all of them, the default first.
func Policies() []Policy { return []Policy{IdleSize, LRU, CLOCK, SIEVE, S3FIFO, GDSF} }

// ParsePolicy returns the policy of that name; "" is IdleSize. An unknown
// name is ErrOptions.
func ParsePolicy(name string) (Policy, error) {
	if name == "" {
		return IdleSize, nil
	}
	for _, p := range Policies() {
		if string(p) == name {
			return p, nil
		}
	}
	return "", fmt.Errorf("%w: no policy %q, there are %v", ErrOptions, name, Policies())
}

// evictor is what a policy has to know how to do. All calls are made under
// the cache's lock.
type evictor[K comparable, V any] interface {
	// admit takes in an item that has just become resident.
	admit(it *item[K, V])
	// hit notes a reference to a resident item.
	hit(it *item[K, V])
	// remove forgets an item that is released.
	remove(it *item[K, V])
	// victims yields items in the order of leaving, each already forgotten
	// when it is yielded. It passes over what is not eligible.
	// REQUIRES: left items are eligible for the class when it begins, and
	// nothing but the walk itself changes the evictor while it runs.
	victims(class Class, left int) iter.Seq[*item[K, V]]
	// order yields every resident once, in the order in which a snapshot
	// writes and restore re-admits them.
	order() iter.Seq[*item[K, V]]
	// save adds to a snapshot, whose Items are filled in, what items do not say.
	save(s *Snapshot[K])
	// restore takes in the items of a snapshot in its order, all fields set.
	restore(s *Snapshot[K], items []*item[K, V]) error
}

// scale is what policies share of their cache.
type scale struct {
	now   uint64 // steps so far
	limit int64  // the budget in the dimension that item.size counts
}

func newEvictor[K comparable, V any](p Policy, sc *scale) (evictor[K, V], error) {
	switch p {
	case LRU:
		return &lru[K, V]{}, nil
	case CLOCK:
		return &clock[K, V]{}, nil
	case SIEVE:
		return &sieve[K, V]{}, nil
	case S3FIFO:
		return newS3FIFO[K, V](sc.limit), nil
	case GDSF:
		return &gdsf[K, V]{}, nil
	case IdleSize:
		return &idleSize[K, V]{scale: sc}, nil
	}
	return nil, fmt.Errorf("%w: no policy %q, there are %v", ErrOptions, string(p), Policies())
}
