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
	Keep     func(part int, ordinal uint32) bool // nil: any; asked only of turns that would be among the best, by several goroutines
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
	defer s.rest()
	s.begin(m, q, f, k)
	asked := len(s.terms)
	if err := s.gather(parts); err != nil {
		return nil, err
	}
	if err := s.look(parts, asked); err != nil {
		return nil, err
	}
	at, err := s.each(len(s.outlooks), func(s *searcher, i int) (more bool, err error) {
		o := &s.outlooks[i]
		if s.hopeless(o.most()) {
			return false, nil // and so are those behind it
		}
		return true, s.score(o, parts[o.part], s.found[o.part*asked:(o.part+1)*asked])
	})
	if err != nil {
		return nil, &PartError{s.outlooks[at].part, err}
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

// question is what all searchers of one search share. It changes only while one
// of them is at work.
type question struct {
	model    *Model
	query    lex.Query
	filter   Filter
	thread   uint64
	except   uint64
	kernel   kernel
	lends    []float32 // what a neighbour's word counts, by distance
	terms    []term    // those that tell most first
	found    []entry   // by part and term; count 0: none; where it lies only of Readers
	outlooks []outlook // of the parts, the best first

	called             []lex.Term // words of the question that name speakers
	turns, threadTurns int
	norm, slope        float32 // length norm of BM25: norm + slope * length in context

	floor floor // what the worst of the best scores at least
}

// searcher is the working memory of a goroutine of one search.
//
// invariant: counts is zero between terms, scores between parts.
type searcher struct {
	*question
	own question // of the searcher that leads

	runs       []Run // of the part at hand, those that the filter admits
	postings   []Posting
	counts     []float32 // by seat, of the term at hand, neighbours included
	scores     []float32 // by seat
	candidates []uint32  // seats
	best       best
}

func (s *searcher) begin(m *Model, q lex.Query, f Filter, k int) {
	s.question = &s.own
	s.model, s.query, s.filter = m, q, f
	s.floor.reset()
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

// rest puts the searcher by for another search, without what the caller owns: Keep
// holds on to the caller's whole state.
func (s *searcher) rest() {
	s.model, s.query, s.filter = nil, lex.Query{}, Filter{}
	clear(s.terms)
	s.question = nil
	searchers.Put(s)
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
	s.boundNames()
	s.terms = slices.DeleteFunc(s.terms, func(t term) bool { return t.weight == 0 })
	slices.SortStableFunc(s.terms, func(a, b term) int { return cmp.Compare(b.weight, a.weight) })
	s.terms = s.terms[:min(len(s.terms), MaxTerms)]
}

// boundNames keeps the names of speakers from outweighing what is asked about
// them: who speaks counts already, and turns that only address somebody tell
// little of them.
func (s *searcher) boundNames() {
	heaviest := 0.0
	for i := range s.terms {
		if t := &s.terms[i]; !t.stump && !slices.Contains(s.called, t.Term) {
			heaviest = max(heaviest, t.weight)
		}
	}
	if s.model.NameOnly == 0 || heaviest == 0 {
		return
	}
	for i := range s.terms {
		if t := &s.terms[i]; slices.Contains(s.called, t.Term) {
			t.weight = min(t.weight, s.model.NameOnly*heaviest)
		}
	}
}

// call notes the words of the question that name speakers of a part.
func (s *searcher) call(c *Columns) {
	for _, speaker := range c.Speakers {
		for _, word := range speaker.Words {
			if slices.Contains(s.query.Names, word) && !slices.Contains(s.called, word) {
				s.called = append(s.called, word)
			}
		}
	}
}

// idf is the inverse document frequency of BM25 (Robertson and Zaragoza, The
// Probabilistic Relevance Framework, 2009), kept positive.
func idf(turns, have int) float64 {
	return math.Log(1 + (float64(turns-have)+0.5)/(float64(have)+0.5))
}
