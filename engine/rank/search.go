package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"ctxdb/engine/lex"
)

// MaxTerms is how many terms of a long question are used: those that tell most.
const MaxTerms = 48

// Filter says which turns may be found. The zero value admits all.
type Filter struct {
	Thread   string                              // "": any
	Except   string                              // a thread whose turns are not found unless Thread names it; "": none
	Must     []lex.Term                          // terms that a turn itself must have, whatever they count
	Roles    []string                            // nil: any
	From, To time.Time                           // both inclusive, to the second
	Keep     func(part int, ordinal uint32) bool // nil: any; asked only of turns that would be among the best
}

// Hit is a turn that was found.
type Hit struct {
	Part    int // index into the parts searched
	Ordinal uint32
	Score   float64
}

// PartError says which of the parts searched could not be read.
type PartError struct {
	Part int // index into the parts
	Err  error
}

func (e *PartError) Error() string { return fmt.Sprintf("part %d: %v", e.Part, e.Err) }

// Unwrap returns what the part said.
func (e *PartError) Unwrap() error { return e.Err }

// Search finds the k best turns of the parts, best first; of equal ones the
// later comes first. Parts are given in the order of their turns. Words count
// by how rare they are over all parts together, so it does not matter how turns
// are spread over parts, but for the neighbours at their edges.
func (m *Model) Search(parts []Part, q lex.Query, f Filter, k int) ([]Hit, error) {
	s := searchers.Get().(*searcher)
	defer searchers.Put(s)
	s.begin(m, q, f, k)
	asked := len(s.terms)
	if err := s.gather(parts); err != nil {
		return nil, err
	}
	if err := s.look(parts, asked); err != nil {
		return nil, err
	}
	for i := range s.outlooks {
		o := &s.outlooks[i]
		if s.hopeless(o.most()) {
			break // and so are those behind it
		}
		if err := s.score(o, parts[o.part], s.found[o.part*asked:(o.part+1)*asked]); err != nil {
			clear(s.scores)
			clear(s.counts)
			return nil, &PartError{o.part, err}
		}
	}
	return s.best.sorted(), nil
}

var searchers = sync.Pool{New: func() any { return new(searcher) }}

// term is a term of the question with what all parts say of it.
type term struct {
	lex.QueryTerm
	at          int // in the question, for what was found
	stump       bool
	turns       int // of all parts that have it
	threadTurns int // of the filter's thread
	weight      float64
}

// searcher is the working memory of one search.
//
// invariant: counts is zero between terms, scores between parts.
type searcher struct {
	model  *Model
	query  lex.Query
	filter Filter
	thread uint64
	except uint64
	kernel kernel
	lends  []float32 // what a neighbour's word counts, by distance
	terms  []term    // those that tell most first
	found  []entry   // by part and term; count 0: none; where it lies only of Readers

	turns, threadTurns int
	norm, slope        float32 // length norm of BM25: norm + slope * length in context

	outlooks   []outlook // of the parts, the best first
	runs       []Run     // of the part at hand, those that the filter admits
	postings   []Posting
	counts     []float32 // by seat, of the term at hand, neighbours included
	scores     []float32 // by seat
	candidates []uint32  // seats
	best       best
}

func (s *searcher) begin(m *Model, q lex.Query, f Filter, k int) {
	s.model, s.query, s.filter = m, q, f
	s.thread, s.except = ThreadHash(f.Thread), ThreadHash(f.Except)
	s.kernel = kernel{m.Reach, float32(m.Near), float32(m.Decay), float32(m.Tool)}
	s.lends = s.kernel.weights()
	s.terms = s.terms[:0]
	for _, t := range q.Terms {
		s.terms = append(s.terms, term{QueryTerm: t, at: len(s.terms)})
	}
	if m.Stump > 0 {
		for _, t := range q.Stumps {
			t.Weight *= m.Stump
			s.terms = append(s.terms, term{QueryTerm: t, at: len(s.terms), stump: true})
		}
	}
	if m.Joined > 0 {
		for _, t := range q.Joined {
			t.Weight *= m.Joined
			s.terms = append(s.terms, term{QueryTerm: t, at: len(s.terms)})
		}
	}
	s.best.reset(k)
}

// gather counts turns and terms over all parts, and weighs the terms.
func (s *searcher) gather(parts []Part) error {
	s.turns, s.threadTurns = 0, 0
	asked := len(s.terms)
	s.found = slices.Grow(s.found[:0], len(parts)*asked)[:len(parts)*asked]
	words := 0.0
	for at, part := range parts {
		c, err := part.Columns()
		if err != nil {
			return &PartError{at, err}
		}
		words += c.around(s.kernel).sum
		s.turns += c.Turns()
		s.admit(c)
		if s.filter.Thread != "" {
			for _, run := range s.runs {
				s.threadTurns += int(run.To - run.From)
			}
		}
		for i := range s.terms {
			if err := s.count(part, &s.terms[i], &s.found[at*asked+i]); err != nil {
				return &PartError{at, err}
			}
		}
	}
	average := max(1, words/float64(max(1, s.turns)))
	s.norm, s.slope = float32(s.model.K1*(1-s.model.B)), float32(s.model.K1*s.model.B/average)
	s.weigh()
	return nil
}

// count looks a term up in a part, and remembers the place.
func (s *searcher) count(part Part, t *term, e *entry) (err error) {
	*e = entry{}
	if r, encoded := part.(*Reader); encoded {
		var ok bool
		if *e, ok, err = r.find(t.Term); !ok || err != nil {
			*e = entry{}
			return err
		}
	} else if e.count, err = part.Count(t.Term); err != nil {
		return err
	}
	t.turns += e.count
	if s.filter.Thread == "" || s.model.ThreadShare == 0 || len(s.runs) == 0 {
		return nil
	}
	if err := s.read(part, t, e); err != nil {
		return err
	}
	for _, run := range s.runs {
		t.threadTurns += len(within(s.postings, run))
	}
	return nil
}

// read gets a term's postings of a part.
func (s *searcher) read(part Part, t *term, e *entry) (err error) {
	if r, encoded := part.(*Reader); !encoded {
		s.postings, err = part.Postings(s.postings[:0], t.Term)
	} else if s.postings = s.postings[:0]; e.count > 0 {
		s.postings, err = r.postingsOf(s.postings, e)
	}
	return err
}

// commonStump: the beginning of words that every twentieth turn has is no evidence.
const commonStump = 20

// weigh gives each term its weight and keeps those that can tell anything.
func (s *searcher) weigh() {
	m := s.model
	for i := range s.terms {
		t := &s.terms[i]
		if t.turns == 0 || t.stump && t.turns > max(10, s.turns/commonStump) {
			continue
		}
		rare := idf(s.turns, t.turns)
		if s.filter.Thread != "" {
			rare += m.ThreadShare * (idf(s.threadTurns, t.threadTurns) - rare)
		}
		t.weight = t.Weight * math.Pow(rare, m.Sharpness)
	}
	s.terms = slices.DeleteFunc(s.terms, func(t term) bool { return t.weight == 0 })
	slices.SortStableFunc(s.terms, func(a, b term) int { return cmp.Compare(b.weight, a.weight) })
	s.terms = s.terms[:min(len(s.terms), MaxTerms)]
}

// idf is the inverse document frequency of BM25 (Robertson and Zaragoza, The
// Probabilistic Relevance Framework, 2009), kept positive.
func idf(turns, have int) float64 {
	return math.Log(1 + (float64(turns-have)+0.5)/(float64(have)+0.5))
}
