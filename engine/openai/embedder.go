package openai

import (
	"context"
	"fmt"

	"ctxdb/engine"
	"ctxdb/format"
)

// Embedder makes vectors of texts. It is an engine.Embedder, for many
// goroutines.
type Embedder struct {
	client     *client
	model      string
	dimensions int
}

var _ engine.Embedder = (*Embedder)(nil)

// NewEmbedder checks the configuration. Nothing is sent yet.
func NewEmbedder(c Config) (*Embedder, error) {
	k, err := newClient(&c, "embeddings")
	if err != nil {
		return nil, err
	}
	if c.Dimensions < 0 || c.Dimensions > format.MaxEmbedding {
		return nil, fmt.Errorf("openai: %d dimensions; the limit is %d", c.Dimensions, format.MaxEmbedding)
	}
	return &Embedder{k, c.Model, c.Dimensions}, nil
}

// Model is the model's name, with @ and the dimensions where they were asked for.
func (e *Embedder) Model() string {
	if e.dimensions > 0 {
		return fmt.Sprintf("%s@%d", e.model, e.dimensions)
	}
	return e.model
}

type embedQuestion struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type embedAnswer struct {
	Data []struct {
		Index  *int      `json:"index"`
		Vector []float32 `json:"embedding"`
	} `json:"data"`
}

// numberBytes is what a number of a vector takes in JSON at most, and answerBytes
// what stands around them.
const (
	numberBytes = 32
	answerBytes = 1 << 20
	mostBytes   = 256 << 20
)

// Embed returns a vector for each text, in their order. An error that wraps
// engine.ErrRefused blames the texts: the server said 400, 413 or 422.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	dims := e.dimensions
	if dims == 0 {
		dims = format.MaxEmbedding
	}
	limit := min(int64(len(texts))*int64(dims)*numberBytes+answerBytes, mostBytes)
	var a embedAnswer
	if err := e.client.post(ctx, embedQuestion{e.model, texts, e.dimensions}, &a, limit); err != nil {
		return nil, err
	}
	vectors, err := a.inOrder(len(texts))
	if err != nil {
		return nil, e.client.wrap(err)
	}
	for _, v := range vectors {
		if e.dimensions > 0 && len(v) != e.dimensions {
			return nil, e.client.wrap(fmt.Errorf("a vector of %d dimensions, %d were asked for", len(v), e.dimensions))
		}
	}
	return vectors, nil
}

// inOrder puts n vectors into the order of their indexes. Servers that give none
// keep the order of the texts.
func (a *embedAnswer) inOrder(n int) ([][]float32, error) {
	if len(a.Data) != n {
		return nil, fmt.Errorf("%d vectors of %d texts", len(a.Data), n)
	}
	vectors := make([][]float32, n)
	for i, d := range a.Data {
		if (d.Index == nil) != (a.Data[0].Index == nil) {
			return nil, fmt.Errorf("only some of %d vectors have an index", n)
		}
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= n || vectors[i] != nil {
			return nil, fmt.Errorf("a vector has index %d, which is none of %d or there twice", i, n)
		}
		if len(d.Vector) == 0 {
			return nil, fmt.Errorf("vector %d is empty", i)
		}
		vectors[i] = d.Vector
	}
	return vectors, nil
}
