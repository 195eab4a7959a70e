package engine

import (
	"context"
	"slices"
	"sync"

	"ctxdb/format"
)

// batch is one call of Append on its way through the commit.
type batch struct {
	ctx   context.Context
	turns []Turn
	size  int64 // of its records, about

	ids  []TurnID
	err  error
	done chan struct{} // closed when ids and err are set
}

func (b *batch) finish(err error) {
	if err != nil {
		b.ids, b.err = nil, err
	}
	close(b.done)
}

func (b *batch) finished() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// queue is the batches that no leader has taken yet, oldest first.
type queue struct {
	mu      sync.Mutex
	batches []*batch
}

func (q *queue) push(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.batches = append(q.batches, b)
}

func (q *queue) pop() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.batches) == 0 {
		return nil
	}
	b := q.batches[0]
	q.batches[0] = nil // its turns are not kept
	q.batches = q.batches[1:]
	return b
}

// pending is the sum of the sizes of the waiting batches.
func (q *queue) pending() (n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, b := range q.batches {
		n += format.FrameSize(int(b.size))
	}
	return n
}

// withdraw takes a batch back that no leader has taken.
func (q *queue) withdraw(b *batch) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.batches, b)
	if i < 0 {
		return false
	}
	q.batches = slices.Delete(q.batches, i, i+1)
	return true
}
