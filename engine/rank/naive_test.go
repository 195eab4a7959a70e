package rank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ctxdb/engine/lex"
)

// naiveTurn is a turn of the model that searches are compared with.
type naiveTurn struct {
	thread, role string
	time         time.Time
	cues         lex.Cue
	length       int
	counts       map[lex.Term]int
}

// someTurns makes turns of a few threads over a small vocabulary, so that terms
// repeat and collide in buckets.
func someTurns(r *rand.Rand, n int) []naiveTurn {
	turns := make([]naiveTurn, n)
	for i := range turns {
		t := naiveTurn{
			thread: fmt.Sprint("thread ", r.IntN(3)), role: []string{"user", "tool_result", "Ann Lee"}[r.IntN(3)],
			cues: lex.Cue(r.IntN(32)), length: 1 + r.IntN(40), counts: make(map[lex.Term]int),
		}
		if r.IntN(5) > 0 {
			t.time = time.Unix(1_700_000_000+int64(i)*3600, 0)
		}
		for range r.IntN(12) {
			t.counts[vocabulary(r)] += 1 + r.IntN(3)
		}
		turns[i] = t
	}
	return turns
}

// vocabulary spreads 200 terms over all 32 bits, the frequent ones first.
func vocabulary(r *rand.Rand) lex.Term {
	return lex.WordTerm(fmt.Sprint("w", int(200*math.Pow(r.Float64(), 3))))
}

func (t *naiveTurn) turn() Turn {
	doc := lex.Doc{Length: t.length, Cues: t.cues}
	for term, n := range t.counts {
		doc.Terms = append(doc.Terms, lex.TermCount{Term: term, Count: n})
	}
	slices.SortFunc(doc.Terms, func(a, b lex.TermCount) int { return int(int64(a.Term) - int64(b.Term)) })
	return Turn{Thread: t.thread, Role: t.role, Time: t.time, Doc: doc}
}

func memoryOf(turns []naiveTurn) *Memory {
	m := NewMemory()
	for i := range turns {
		m.Add(turns[i].turn())
	}
	return m
}

// naive scores every turn by the definition, with maps and float64.
type naive struct {
	model Model
	turns []naiveTurn
}

// around calls f for each turn that lends to turn i, with its weight.
func (n *naive) around(i int, f func(t *naiveTurn, weight float64, before bool)) {
	for _, step := range []int{-1, 1} {
		distance := 0
		for j := i + step; j >= 0 && j < len(n.turns) && distance < n.model.Reach; j += step {
			if n.turns[j].thread == n.turns[i].thread {
				distance++
				w := n.model.Near * math.Pow(n.model.Decay, float64(distance-1))
				if n.turns[i].role == "tool_result" || n.turns[j].role == "tool_result" {
					w *= n.model.Tool
				}
				f(&n.turns[j], w, step < 0 && distance == 1)
			}
		}
	}
}

func (n *naive) contextLength(i int) float64 {
	x := float64(n.turns[i].length)
	n.around(i, func(t *naiveTurn, w float64, _ bool) { x += w * float64(t.length) })
	return x
}

func (n *naive) count(i int, term lex.Term) float64 {
	rounded := func(t *naiveTurn) float64 {
		if t.counts[term] == 0 {
			return 0
		}
		return float64(roundCount(t.counts[term]))
	}
	x := rounded(&n.turns[i])
	n.around(i, func(t *naiveTurn, w float64, before bool) {
		if before && t.cues&lex.CueQuestion != 0 {
			w *= n.model.Answer
		}
		x += w * rounded(t)
	})
	return x
}

// scores are those of all turns, 0 for what does not match.
func (n *naive) scores(terms []lex.QueryTerm, asks lex.Cue, named string) []float64 {
	average := 0.0
	for i := range n.turns {
		average += n.contextLength(i) / float64(len(n.turns))
	}
	average = max(1, average)
	out := make([]float64, len(n.turns))
	for _, q := range terms {
		have := 0
		for i := range n.turns {
			if n.turns[i].counts[q.Term] > 0 {
				have++
			}
		}
		weight := q.Weight * math.Pow(idf(len(n.turns), have), n.model.Sharpness)
		for i := range n.turns {
			x := n.count(i, q.Term)
			k := n.model.K1 * (1 - n.model.B + n.model.B*n.contextLength(i)/average)
			out[i] += weight * (n.model.K1 + 1) * x / (x + k)
		}
	}
	for i := range out {
		s := searcher{question: &question{model: &n.model, query: lex.Query{Asks: asks}}}
		out[i] *= s.cueFactor(n.turns[i].cues)
		if n.turns[i].role == named {
			out[i] *= n.model.Named
		}
	}
	return out
}

func someQuery(r *rand.Rand) (q lex.Query, named string) {
	for range 1 + r.IntN(6) {
		t := vocabulary(r)
		if !slices.ContainsFunc(q.Terms, func(x lex.QueryTerm) bool { return x.Term == t }) {
			q.Terms = append(q.Terms, lex.QueryTerm{Term: t, Weight: float64(1 + r.IntN(2))})
		}
	}
	q.Asks = []lex.Cue{0, lex.CueTime, lex.CueName, lex.CueNumber, lex.CueReason}[r.IntN(5)]
	if r.IntN(2) == 0 {
		q.Names, named = []lex.Term{lex.WordTerm("ann")}, "Ann Lee"
	}
	return q, named
}

// checkHits holds hits to the naive scores: the same turns with the same
// scores, in order.
func checkHits(t *testing.T, hits []Hit, want []float64, base []uint32) {
	t.Helper()
	matching := 0
	for _, x := range want {
		if x > 0 {
			matching++
		}
	}
	if len(hits) != matching {
		t.Fatalf("%d hits, want %d", len(hits), matching)
	}
	for i, h := range hits {
		x := want[base[h.Part]+h.Ordinal]
		if math.Abs(h.Score-x) > 1e-4*x {
			t.Fatalf("turn %d of part %d scores %v, want %v", h.Ordinal, h.Part, h.Score, x)
		}
		if i > 0 && order(hits[i-1], h) >= 0 {
			t.Fatalf("hit %d is out of order", i)
		}
	}
}
