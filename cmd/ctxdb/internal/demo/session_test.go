package demo

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"math"
	"testing"
	"unicode/utf8"

	"ctxdb/engine"
)

func TestSessionLooksLikeOne(t *testing.T) {
	for seed := range uint64(8) {
		turns := newSession(seed)
		total, keys := 0, map[string]bool{}
		for i, turn := range turns {
			total += turn.Tokens
			if turn.Tokens != engine.EstimateTokens(turn.Content) || turn.Tokens > DefaultBudget || turn.Tokens < 10 {
				t.Errorf("seed %d: turn %d has %d tokens", seed, i+1, turn.Tokens)
			}
			if !utf8.Valid(turn.Content) || placeholder.Match(turn.Content) {
				t.Errorf("seed %d: turn %d is not finished text:\n%s", seed, i+1, turn.Content)
			}
			if turn.Role == "tool_call" && !json.Valid(turn.Content) {
				t.Errorf("seed %d: call %d is no JSON:\n%s", seed, i+1, turn.Content)
			}
			if (turn.Role == "tool_result") != (i > 0 && turns[i-1].Role == "tool_call") {
				t.Errorf("seed %d: turn %d is a %s after a %s", seed, i+1, turn.Role, turns[i-1].Role)
			}
			if i > 0 && (turn.ReplyKey != turns[i-1].Key || !turn.Time.After(turns[i-1].Time)) {
				t.Errorf("seed %d: turn %d answers %q at %v", seed, i+1, turn.ReplyKey, turn.Time)
			}
			keys[turn.Key] = true
		}
		if len(turns) != turnCount || len(keys) != turnCount {
			t.Errorf("seed %d: %d turns with %d keys", seed, len(turns), len(keys))
		}
		if total < sessionTokens-300 || total > sessionTokens+300 {
			t.Errorf("seed %d: %d tokens, want about %d", seed, total, sessionTokens)
		}
	}
}

// TestSizesAreLognormal compares the logarithms' spread with sizeSigma. Whole
// lines and the cap take a little from it.
func TestSizesAreLognormal(t *testing.T) {
	var sum, squares, n float64
	for seed := range uint64(16) {
		for _, turn := range newSession(seed) {
			l := math.Log(float64(turn.Tokens))
			sum, squares, n = sum+l, squares+l*l, n+1
		}
	}
	if sigma := math.Sqrt(squares/n - sum/n*sum/n); sigma < 0.7 || sigma > 0.85 {
		t.Errorf("the logarithm of the sizes has a deviation of %.3f, want about %.1f", sigma, sizeSigma)
	}
}

// TestSessionCompressesLikeText: genuine sessions come to about a fifth of their
// size under flate; noise comes to all of it and one repeated line to nothing.
func TestSessionCompressesLikeText(t *testing.T) {
	var raw, packed bytes.Buffer
	for _, turn := range newSession(DefaultSeed) {
		raw.Write(turn.Content)
	}
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(raw.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if ratio := float64(packed.Len()) / float64(raw.Len()); ratio < 0.15 || ratio > 0.35 {
		t.Errorf("flate leaves %.3f of the session", ratio)
	}
}
