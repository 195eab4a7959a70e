package recalltest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"ctxdb/cmd/ctxdb/internal/transcript"
	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
)

// allSessions is every turn of the sessions, in order.
func allSessions(t testing.TB) (turns []transcript.Turn, contentBytes int) {
	for _, name := range sessions {
		for _, turn := range session(t, name) {
			turns = append(turns, turn)
			contentBytes += len(turn.Content)
		}
	}
	return turns, contentBytes
}

// TestIndexBytes holds the encoded index to a share of the content.
func TestIndexBytes(t *testing.T) {
	turns, contentBytes := allSessions(t)
	m, a := rank.NewMemory(), new(lex.Analyzer)
	terms := 0
	for i := range turns {
		turn := indexed(a, nil, &turns[i])
		terms += len(turn.Doc.Terms)
		m.Add(turn)
	}
	b, err := rank.Build(rank.Source{Part: m.View()})
	if err != nil {
		t.Fatal(err)
	}
	share := float64(len(b)) / float64(contentBytes)
	t.Logf("%d turns, %d bytes of content, %d postings; index %d bytes, %.1f %%", len(turns), contentBytes, terms, len(b), 100*share)
	if share > 0.20 {
		t.Errorf("the index takes %.1f %% of the content", 100*share)
	}
}

// questions are made of the turns themselves: ten words from the text of users.
func questions(t testing.TB, turns []transcript.Turn, n int) (qs []string) {
	for i := 0; len(qs) < n && i < len(turns); i++ {
		if turns[i].Role == transcript.RoleUser || turns[i].Role == transcript.RoleAssistant {
			if words := bytes.Fields(turns[i].Content); len(words) >= 12 && turns[i].Content[0] != '[' {
				qs = append(qs, string(bytes.Join(words[1:11], []byte(" "))))
			}
		}
	}
	if len(qs) < n {
		t.Fatalf("%d questions", len(qs))
	}
	return qs
}

const manyTurns = 100_000

// manyParts repeats the sessions, in threads of their own, up to a hundred
// thousand turns, in parts of a tenth each.
func manyParts(t testing.TB, turns []transcript.Turn) (parts []rank.Part, indexBytes int) {
	a := new(lex.Analyzer)
	docs := make([]rank.Turn, len(turns))
	for i := range turns {
		docs[i] = indexed(a, nil, &turns[i])
	}
	m := rank.NewMemory()
	added := 0
	for copied := 0; added < manyTurns; copied++ {
		for _, doc := range docs {
			doc.Thread = fmt.Sprint(doc.Thread, "/", copied)
			m.Add(doc)
			if added++; added%(manyTurns/10) == 0 {
				b, err := rank.Build(rank.Source{Part: m.View()})
				if err != nil {
					t.Fatal(err)
				}
				p, err := rank.Open(bytes.NewReader(b), int64(len(b)))
				if err != nil {
					t.Fatal(err)
				}
				parts, m = append(parts, p), rank.NewMemory()
				indexBytes += len(b)
			}
			if added == manyTurns {
				break
			}
		}
	}
	return parts, indexBytes
}

// BenchmarkSearch searches a hundred thousand turns: ns/op is the mean, p50
// and p99 are of single searches.
func BenchmarkSearch(b *testing.B) {
	turns, _ := allSessions(b)
	qs := questions(b, turns, 200)
	parts, _ := manyParts(b, turns)
	a := new(lex.Analyzer)
	var took []time.Duration
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		q := lex.Parse(qs[i%len(qs)], a)
		if _, err := rank.Default.Search(parts, q, rank.Filter{}, 12); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e6, "p99-ms")
}

// BenchmarkAnalyze reads the sessions for terms.
func BenchmarkAnalyze(b *testing.B) {
	turns, contentBytes := allSessions(b)
	a := new(lex.Analyzer)
	b.SetBytes(int64(contentBytes))
	b.ReportAllocs()
	var dst []lex.TermCount
	for b.Loop() {
		for i := range turns {
			dst = indexed(a, dst, &turns[i]).Doc.Terms
		}
	}
}
