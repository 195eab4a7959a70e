package rank

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"ctxdb/engine/lex"
)

// samePart compares everything that two parts say.
func samePart(t *testing.T, got, want Part) {
	t.Helper()
	a, err := got.Columns()
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Ordinals {
		if a.Speakers[a.Who[i]].Name != b.Speakers[b.Who[i]].Name {
			t.Fatalf("seat %d: another speaker", i)
		}
	}
	if !reflect.DeepEqual([]any{a.Runs, a.Ordinals, a.Lengths, a.Times, a.Cues}, []any{b.Runs, b.Ordinals, b.Lengths, b.Times, b.Cues}) {
		t.Fatal("columns differ")
	}
	terms := func(p Part) (terms []lex.Term) {
		for term, err := range p.Terms() {
			if err != nil {
				t.Fatal(err)
			}
			terms = append(terms, term)
		}
		return terms
	}
	list := terms(want)
	if !reflect.DeepEqual(terms(got), list) {
		t.Fatal("terms differ")
	}
	for _, term := range append(list, 0, 1<<lex.TermBits-1, lex.WordTerm("absent")) {
		x, err := got.Postings(nil, term)
		if err != nil {
			t.Fatal(err)
		}
		y, err := want.Postings(nil, term)
		n, errCount := got.Count(term)
		if err != nil || errCount != nil || n != len(x) || !reflect.DeepEqual(x, y) {
			t.Fatalf("term %x: %v, want %v (count %d)", term, x, y, n)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(20) {
		r := seeded(t, seed)
		m := memoryOf(someTurns(r, r.IntN(int(1+seed*seed))))
		b, p := encoded(t, Source{Part: m.View()})
		samePart(t, p, m.View())
		again, _ := encoded(t, Source{Part: p})
		if !bytes.Equal(b, again) {
			t.Fatal("encoding the encoded part gives other bytes")
		}
	}
}

func TestMergedIsBuiltAtOnce(t *testing.T) {
	for seed := range uint64(10) {
		r := seeded(t, seed)
		turns := someTurns(r, 150)
		whole, _ := encoded(t, Source{Part: memoryOf(turns).View()})
		var sources []Source
		for from := 0; from < len(turns); {
			to := min(len(turns), from+1+r.IntN(60))
			_, p := encoded(t, Source{Part: memoryOf(turns[from:to]).View()})
			sources = append(sources, Source{Part: p, Base: uint32(from)})
			from = to
		}
		merged, _ := encoded(t, sources...)
		if !bytes.Equal(merged, whole) {
			t.Fatalf("%d parts merge to other bytes", len(sources))
		}
	}
}

func TestDroppedTurnsLeaveNothing(t *testing.T) {
	r := seeded(t, 6)
	turns := someTurns(r, 80)
	turns[33].counts[lex.WordTerm("secret")] = 1
	drop := func(ordinal uint32) bool { return ordinal == 33 || ordinal%10 == 0 }
	_, p := encoded(t, Source{Part: memoryOf(turns).View(), Drop: drop})
	if n, err := p.Count(lex.WordTerm("secret")); n != 0 || err != nil {
		t.Fatalf("a dropped turn's term counts %d, err %v", n, err)
	}
	c, _ := p.Columns()
	if c.Turns() != 80-9 {
		t.Fatalf("%d turns are left", c.Turns())
	}
	kept := make(map[uint32]bool)
	for _, o := range c.Ordinals {
		if drop(o) {
			t.Fatalf("turn %d is still there", o)
		}
		kept[o] = true
	}
	for seat, o := range c.Ordinals {
		for term := range turns[o].counts {
			list, err := p.Postings(nil, term)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, posting := range list {
				found = found || int(posting.Seat) == seat
			}
			if !found {
				t.Fatalf("turn %d lost a term", o)
			}
		}
	}
}

// walk reads all that a part says, and returns the first error.
func walk(b []byte) error {
	p, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	var list []Posting
	for term, err := range p.Terms() {
		if err != nil {
			return err
		}
		if list, err = p.Postings(list[:0], term); err != nil {
			return err
		}
	}
	_, err = Default.Search([]Part{p}, lex.Query{Terms: []lex.QueryTerm{{Term: lex.WordTerm("w0"), Weight: 1}}}, Filter{}, 5)
	return err
}

func TestDamage(t *testing.T) {
	r := seeded(t, 7)
	good, _ := encoded(t, Source{Part: memoryOf(someTurns(r, 40)).View()})
	if err := walk(good); err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if err := walk(good[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	noticed := 0
	for bit := range len(good) * 8 {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		err := walk(bad)
		if version := bit/8 >= 8 && bit/8 < 12; errors.Is(err, ErrVersion) != version {
			t.Fatalf("bit %d: %v", bit, err)
		}
		if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrVersion) {
			noticed++
		} else if err != nil {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
	t.Logf("%d of %d flipped bits are noticed without a checksum", noticed, len(good)*8)
	if noticed < 64*8/2 {
		t.Error("hardly any damage is noticed")
	}
}

// failing fails its n-th read.
type failing struct {
	io.ReaderAt
	n int
}

var errDisk = errors.New("the disk failed")

func (f *failing) ReadAt(b []byte, at int64) (int, error) {
	if f.n--; f.n == 0 {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(b, at)
}

func TestReadErrorsComeThrough(t *testing.T) {
	r := seeded(t, 8)
	good, _ := encoded(t, Source{Part: memoryOf(someTurns(r, 40)).View()})
	q := lex.Query{Terms: []lex.QueryTerm{{Term: lex.WordTerm("w0"), Weight: 1}}}
	for n := 1; ; n++ {
		f := &failing{bytes.NewReader(good), n}
		p, err := Open(f, int64(len(good)))
		if err == nil {
			_, err = Default.Search([]Part{p}, q, Filter{}, 5)
		}
		if f.n > 0 && err == nil {
			if n < 5 {
				t.Fatalf("only %d reads", n)
			}
			break
		}
		if !errors.Is(err, errDisk) {
			t.Fatalf("read %d: %v", n, err)
		}
	}
	hits, err := Default.Search([]Part{memoryOf(someTurns(r, 40)).View()}, q, Filter{}, 5)
	if err != nil || len(hits) == 0 {
		t.Fatalf("a search after a failed one: %v, %v", hits, err)
	}
}

func FuzzOpen(f *testing.F) {
	for seed := range uint64(4) {
		r := seeded(f, seed)
		b, _ := encoded(f, Source{Part: memoryOf(someTurns(r, int(seed)*20)).View()})
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := walk(b)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		p, _ := Open(bytes.NewReader(b), int64(len(b)))
		again, err := Build(Source{Part: p})
		if err == nil {
			err = walk(again)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) { // runs of one thread may repeat ordinals
			t.Fatal(err)
		}
	})
}
