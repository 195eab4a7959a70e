package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"ctxdb/engine/vec"
	"ctxdb/format"
)

// Embedder makes vectors of texts. What it gets is what it sees of turns and of
// questions; package engine/openai has one for any endpoint that speaks OpenAI's
// protocol, a local one included.
type Embedder interface {
	// Model names what makes the vectors: only vectors of one name and dimension
	// are ever compared. At most 1 KiB, not empty.
	Model() string
	// Embed returns a vector for each text, in their order, all of one dimension.
	// An error that wraps ErrRefused says that a text is to blame.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrRefused: a model does not take a text, and would not the next time either.
var ErrRefused = errors.New("the model refuses a text")

// errAnswer: what came back is no answer to the question.
var errAnswer = errors.New("wrong answer")

const defaultEmbedWait = 10 * time.Second

// inTime calls a model with a time limit. It is left alone when its time is over,
// even if it does not obey its context; a panic of it is an error.
func inTime[T any](ctx context.Context, wait time.Duration, f func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a = answer{err: fmt.Errorf("panic: %v", p)}
			}
			done <- a
		}()
		a.value, a.err = f(ctx)
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	case a := <-done:
		return a.value, a.err
	}
}

// vectorsOf asks the Embedder for the vectors of texts, and believes nothing
// that it says of them.
func vectorsOf(ctx context.Context, e Embedder, wait time.Duration, texts []string) ([][]float32, error) {
	vectors, err := inTime(ctx, wait, func(ctx context.Context) ([][]float32, error) { return e.Embed(ctx, texts) })
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%w: %d vectors of %d texts", errAnswer, len(vectors), len(texts))
	}
	for i, v := range vectors {
		switch {
		case len(v) != len(vectors[0]):
			return nil, fmt.Errorf("%w: vectors of %d and %d dimensions", errAnswer, len(vectors[0]), len(v))
		case len(v) > format.MaxEmbedding:
			return nil, fmt.Errorf("%w: a vector of %d dimensions, the limit is %d", errAnswer, len(v), format.MaxEmbedding)
		case !vec.Comparable(v):
			return nil, fmt.Errorf("%w: vector %d of %d has no length that can be compared", errAnswer, i+1, len(vectors))
		}
	}
	return vectors, nil
}

// modelOf is the Embedder's name, held against the limits.
func modelOf(e Embedder) (string, error) {
	if e == nil {
		return "", errors.New("no Embedder is set in the Options")
	}
	name := e.Model()
	if name == "" || len(name) > format.MaxName {
		return "", fmt.Errorf("a model's name has 1 to %d bytes, this one %d", format.MaxName, len(name))
	}
	return name, nil
}

// finite clips what a score may be, for hostile vectors.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
