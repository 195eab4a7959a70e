package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"unicode"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
	"ctxdb/engine"
)

// searchPhase asks questions of ten words that stand in one turn. Only ctxdb has an index to ask.
func searchPhase(t task, p peer, set *workload.Set) (figures, error) {
	stop, base := watch(), measure.AnonBytes()
	s, err := p.open(t.Dir, 1)
	if err != nil {
		return nil, err
	}
	db, ok := s.(ours)
	if !ok {
		return nil, errors.New("only ctxdb can be searched")
	}
	rng := rand.New(rand.NewPCG(workload.Seed, 3))
	var all measure.Samples
	for i := range t.Ops + t.Ops/5 {
		q := engine.Query{Text: question(rng, set.At(rng.IntN(t.Turns)).Content)}
		if i == t.Ops/5 { // what counts begins when the indexes are open
			all = nil
		}
		if err := all.Time(func() error { _, err := db.db.Search(context.Background(), q); return err }); err != nil {
			return nil, err
		}
	}
	f := figures{}
	f.put("search", all)
	f["search_peak_mib"] = float64(stop()-base) / (1 << 20)
	f["search_rss_mib"] = float64(measure.Used().PeakBytes) / (1 << 20)
	return f, s.Close()
}

// question takes up to ten words from anywhere in a turn.
func question(rng *rand.Rand, content []byte) string {
	var words []string
	for _, w := range bytes.FieldsFunc(content, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' }) {
		if len(w) >= 4 && len(w) <= 20 {
			words = append(words, string(w))
		}
	}
	var q []string
	for range min(10, len(words)) {
		q = append(q, words[rng.IntN(len(words))])
	}
	return strings.Join(q, " ")
}
