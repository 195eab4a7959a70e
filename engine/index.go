package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"ctxdb/engine/hot"
	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
	"ctxdb/engine/vec"
	"ctxdb/format"
	"ctxdb/segment"
)

// metaThread keeps records that are no conversation out of the way of the
// threads: they are nobody's neighbours, and found only where they are asked for.
const metaThread = "\x00meta"

// indexed is a turn as the index wants it. Its terms are in dst's memory where it
// has room.
func indexed(a *lex.Analyzer, dst []lex.TermCount, t *format.Turn, content []byte) rank.Turn {
	thread := t.Thread
	if t.Role == RoleMeta {
		thread = metaThread
	}
	return rank.Turn{
		Thread: thread, Role: t.Role, Time: t.Time,
		Doc: a.Turn(dst, lex.Input{Content: content, Summary: t.Summary, Entities: t.Entities, Tags: t.Tags}),
	}
}

// analyzers keep what they know of words from one segment to the next.
var analyzers = sync.Pool{New: func() any { return new(lex.Analyzer) }}

// extras makes the sections that search needs of a segment's turns.
func extras(turns []segment.Turn) ([]segment.Extra, error) {
	a := analyzers.Get().(*lex.Analyzer)
	defer analyzers.Put(a)
	var batch rank.Batch
	var terms []lex.TermCount
	entries := make([]hot.Entry, len(turns))
	var vectors []vec.Vector
	for i := range turns {
		t := &turns[i]
		if len(t.Record.Embedding) > 0 {
			vectors = append(vectors, vec.Vector{Ordinal: uint32(i), Model: t.Record.Model, Values: t.Record.Embedding})
		}
		x := indexed(a, terms, &t.Record.Turn, t.Content)
		batch.Add(x)
		terms = x.Doc.Terms
		entries[i] = hotEntry(&t.Record.Turn, t.Content)
	}
	lines, err := hot.Encode(entries)
	if err != nil {
		return nil, fmt.Errorf("hot entries: %w", err)
	}
	words, err := rank.Build(rank.Source{Part: batch.Part()})
	if err != nil {
		return nil, fmt.Errorf("terms: %w", err)
	}
	return []segment.Extra{
		{Type: format.SectionHot, Data: lines},
		{Type: format.SectionTerms, Data: words},
		{Type: format.SectionVectors, Data: vec.Encode(vectors)},
	}, nil
}

func hotEntry(t *format.Turn, content []byte) hot.Entry {
	e := hot.Entry{
		Tokens: t.Tokens, Bytes: uint64(len(content)), Parts: uint64(format.Parts(content)), Decision: t.Decision,
		Role: t.Role, Summary: t.Summary, Entities: t.Entities,
	}
	if e.Summary == "" && t.Role != RoleMeta {
		e.Summary = extract(content)
	}
	return e
}

// segmentIndex is what is open of a segment's index.
type segmentIndex struct {
	once    sync.Once
	terms   *rank.Reader // nil: none
	lines   *hot.Reader  // nil: none
	vectors *vec.Reader  // nil: none
	err     error

	foreign map[format.SectionType]error // sections of another version, which are as good as none
}

// indexes keeps the open indexes of segments, and those of the log's turns,
// which are made when somebody searches.
type indexes struct {
	mu       sync.Mutex
	seen     *view // that forget saw last
	segments map[*segment.Segment]*segmentIndex
	logs     map[uint64]*logIndex // by first id of the run

	doubting atomic.Int32 // reads that want every page verified: see DB.doSettled

	make func([]segment.Turn) ([]segment.Extra, error) // for tests; nil: extras
}

func (x *indexes) doubt() bool { return x.doubting.Load() > 0 }

// logIndex indexes the turns of a run of the log, as far as somebody asked.
type logIndex struct {
	mu     sync.Mutex
	memory *rank.Memory
	lex    lex.Analyzer
	turns  int
}

// of opens the index of a segment, once. A segment without one is found by
// nothing.
func (x *indexes) of(s *segment.Segment) (*segmentIndex, error) {
	x.mu.Lock()
	if x.segments == nil {
		x.segments = map[*segment.Segment]*segmentIndex{}
	}
	i := x.segments[s]
	if i == nil {
		i = &segmentIndex{foreign: map[format.SectionType]error{}}
		x.segments[s] = i
	}
	x.mu.Unlock()
	i.once.Do(func() { i.err = i.open(s, x.doubt) })
	if i.err != nil { // the moment's, perhaps: the next search tries again
		x.mu.Lock()
		delete(x.segments, s)
		x.mu.Unlock()
	}
	return i, i.err
}

func (i *segmentIndex) open(s *segment.Segment, doubt func() bool) error {
	for _, section := range []struct {
		of   format.SectionType
		what string
		open func(d *segment.Data) error
	}{
		{format.SectionTerms, "terms", func(d *segment.Data) (err error) {
			d.Once(doubt)
			i.terms, err = rank.Open(d, d.Size())
			return err
		}},
		{format.SectionHot, "hot entries", func(d *segment.Data) (err error) { i.lines, err = hot.Open(d, d.Size()); return err }},
		{format.SectionVectors, "vectors", func(d *segment.Data) (err error) { i.vectors, err = vec.Open(d, d.Size(), s.Entry().Turns); return err }},
	} {
		d, ok, err := s.Data(section.of)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		err = section.open(d)
		if errors.Is(indexError(err), ErrVersion) {
			i.foreign[section.of] = err
			continue
		}
		if err != nil {
			return fmt.Errorf("%s of segment %d: %w", section.what, s.Entry().Number, indexError(err))
		}
	}
	return nil
}

// IndexBytes is how many bytes of the file what Search and handles read takes:
// hot entries, terms and vectors of the sealed turns.
//
// Errors: ErrCorrupt, ErrTruncated, ErrClosed.
func (db *DB) IndexBytes() (n int64, err error) {
	err = db.do(func(v *view) error {
		n = 0
		for _, s := range v.segs {
			for _, t := range []format.SectionType{format.SectionHot, format.SectionTerms, format.SectionVectors} {
				d, ok, err := s.Data(t)
				if err != nil {
					return err
				}
				if ok {
					n += int64(format.DataPages(int(d.Size()))) * format.IndexPageSize
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("index: %w", err)
	}
	return n, nil
}

// part brings the index of a run of the log up to date.
func (x *indexes) part(r *run) (rank.Part, error) {
	x.mu.Lock()
	if x.logs == nil {
		x.logs = map[uint64]*logIndex{}
	}
	l := x.logs[r.first]
	if l == nil {
		l = &logIndex{memory: rank.NewMemory()}
		x.logs[r.first] = l
	}
	x.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for ; l.turns < len(r.turns); l.turns++ {
		t := &r.turns[l.turns]
		rec, _, err := format.DecodeMeta(t.record, t.at)
		if err != nil {
			return nil, err
		}
		l.memory.Add(indexed(&l.lex, nil, &rec.Turn, t.content()))
	}
	return l.memory.View(), nil
}

// forget drops what belongs to no segment or run of the view.
func (x *indexes) forget(v *view) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.seen == v {
		return
	}
	x.seen = v
	segs := make(map[*segment.Segment]bool, len(v.segs))
	for _, s := range v.segs {
		segs[s] = true
	}
	maps.DeleteFunc(x.segments, func(s *segment.Segment, _ *segmentIndex) bool { return !segs[s] })
	maps.DeleteFunc(x.logs, func(first uint64, _ *logIndex) bool {
		return !slices.ContainsFunc(v.logs, func(r run) bool { return r.first == first })
	})
}
