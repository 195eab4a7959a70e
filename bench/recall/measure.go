package main

import (
	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
)

// budgets are shares of a conversation's tokens.
var budgets = []float64{0.01, 0.02, 0.04, 0.10, 0.25, 0.50}

// depths are numbers of turns.
var depths = []int{5, 10, 25, 50}

// score is what a ranking reached over some questions.
type score struct {
	questions  int
	recall     [6]float64 // sums, one a budget
	depth      [4]float64 // sums, one a number of turns
	hit1, hit5 int
}

// add counts a question, and returns the mean of its recall at 2, 4 and 10 %.
func (s *score) add(c *conversation, q *question, ranked []int) (mean float64) {
	s.questions++
	for i, share := range budgets {
		x := recallOf(q, pack(c, ranked, share*float64(c.tokens)))
		s.recall[i] += x
		if i >= 1 && i <= 3 {
			mean += x / 3
		}
	}
	for i, k := range depths {
		taken := make(map[int]bool)
		for _, t := range ranked[:min(k, len(ranked))] {
			taken[t] = true
		}
		s.depth[i] += recallOf(q, taken)
	}
	if hits(q, ranked, 1) {
		s.hit1++
	}
	if hits(q, ranked, 5) {
		s.hit5++
	}
	return mean
}

// pack takes whole turns in order of their rank, leaving out those that don't fit.
func pack(c *conversation, ranked []int, tokens float64) map[int]bool {
	taken := make(map[int]bool)
	used := 0
	for _, i := range ranked {
		if float64(used+c.turns[i].tokens) <= tokens {
			used += c.turns[i].tokens
			taken[i] = true
		}
	}
	return taken
}

func recallOf(q *question, taken map[int]bool) float64 {
	found := 0
	for _, e := range q.evidence {
		if taken[e] {
			found++
		}
	}
	return float64(found) / float64(len(q.evidence))
}

func hits(q *question, ranked []int, k int) bool {
	for _, i := range ranked[:min(k, len(ranked))] {
		for _, e := range q.evidence {
			if e == i {
				return true
			}
		}
	}
	return false
}

// result is a setting's scores: of all questions, and by category.
type result struct {
	name     string
	all      score
	category [5]score
	each     []float64 // by question: the mean of recall at 2, 4 and 10 %
}

func (r *result) add(c *conversation, q *question, ranked []int) {
	r.each = append(r.each, r.all.add(c, q, ranked))
	r.category[q.category].add(c, q, ranked)
}

// setting is one way to rank.
type setting struct {
	name    string
	model   rank.Model
	text    func(t *turn) string // what of a turn is indexed
	recency bool                 // no index: the newest first
}

// measure ranks every question's conversation.
func measure(s setting, conversations []conversation) (result, error) {
	r := result{name: s.name}
	a := new(lex.Analyzer)
	parts := []rank.Part{index(s, conversations, a).View()}
	first := 0
	for i := range conversations {
		c := &conversations[i]
		for j := range c.questions {
			q := &c.questions[j]
			ranked, err := order(s, c, q, parts, first, a)
			if err != nil {
				return r, err
			}
			r.add(c, q, ranked)
		}
		first += len(c.turns)
	}
	return r, nil
}

// index puts all conversations into one, a thread each.
func index(s setting, conversations []conversation, a *lex.Analyzer) *rank.Memory {
	m := rank.NewMemory()
	for i := range conversations {
		c := &conversations[i]
		for j := range c.turns {
			t := &c.turns[j]
			doc := a.Turn(nil, lex.Input{Content: []byte(s.text(t))})
			m.Add(rank.Turn{Thread: c.id, Role: t.speaker, Time: t.time, Doc: doc})
		}
	}
	return m
}

// order lists all turns of a conversation: the ranked ones, then the others,
// newest first.
func order(s setting, c *conversation, q *question, parts []rank.Part, first int, a *lex.Analyzer) ([]int, error) {
	var ranked []int
	if !s.recency {
		query := lex.Parse(q.text, a)
		hits, err := s.model.Search(parts, query, rank.Filter{Thread: c.id}, len(c.turns))
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			ranked = append(ranked, int(h.Ordinal)-first)
		}
	}
	return withRest(c, ranked), nil
}

// withRest adds the turns that were not ranked, newest first.
func withRest(c *conversation, ranked []int) []int {
	seen := make([]bool, len(c.turns))
	for _, i := range ranked {
		seen[i] = true
	}
	for i := len(c.turns) - 1; i >= 0; i-- {
		if !seen[i] {
			ranked = append(ranked, i)
		}
	}
	return ranked
}
