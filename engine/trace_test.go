package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxdb/format/disk"
)

func traceOf(t *testing.T, db *DB) (events []TraceEvent) {
	t.Helper()
	for e, err := range db.Trace() {
		if err != nil {
			t.Fatal(err)
		}
		if n := len(events); n > 0 && e.Seq != events[n-1].Seq+1 {
			t.Fatalf("event %d behind event %d", e.Seq, events[n-1].Seq)
		}
		events = append(events, e)
	}
	return events
}

// TestTraceTellsAll: from its trace alone a window's counters, residents and
// pins can be told, across a restart.
func TestTraceTellsAll(t *testing.T) {
	mem := disk.NewMem(1)
	rng := rand.New(rand.NewPCG(8, 5))
	p := &player{db: open(t, "/a", memOptions(mem))}
	for range 40 {
		if err := p.append(rng); err != nil {
			t.Fatal(err)
		}
	}
	var refs, hits, faultTokens, evictions int64
	var w *Window
	for range 2 {
		var err error
		if w, err = p.db.Window("main", WindowOptions{BudgetTokens: 6000}); err != nil {
			t.Fatal(err)
		}
		use(t, w, rng, 40, 1000)
		s := w.Stats()
		refs, hits, faultTokens, evictions = refs+s.Refs, hits+s.Hits, faultTokens+s.FaultTokens, evictions+s.Evictions
		if err := p.db.Close(); err != nil {
			t.Fatal(err)
		}
		p.db = open(t, "/a", memOptions(mem))
	}
	if w, _ = p.db.Window("main", WindowOptions{BudgetTokens: 6000}); w == nil {
		t.Fatal("no window")
	}
	got := map[TraceKind]int64{}
	tokens := int64(0)
	resident, pinned := map[[2]int]bool{}, map[TurnID]bool{}
	events := traceOf(t, p.db)
	for i, e := range events {
		if e.Window != "main" {
			t.Fatalf("event of window %q", e.Window)
		}
		got[e.Kind]++
		page := [2]int{int(e.ID), e.Part}
		switch e.Kind {
		case TraceFault:
			tokens += int64(e.Tokens)
			if resident[page] {
				t.Fatalf("event %d: page %v faults while it is resident", i, page)
			}
			resident[page] = true
		case TraceEvict, TraceRelease:
			if !resident[page] {
				t.Fatalf("event %d: page %v leaves and was not there", i, page)
			}
			delete(resident, page)
		case TracePin:
			pinned[e.ID] = true
		case TraceUnpin:
			delete(pinned, e.ID)
		}
	}
	if got[TraceRef] != refs || got[TraceEvict] != evictions || tokens != faultTokens || hits == 0 {
		t.Errorf("%v with %d tokens; the windows counted %d references, %d evictions, %d tokens", got, tokens, refs, evictions, faultTokens)
	}
	pages := w.Pages()
	for _, pg := range pages {
		if !resident[[2]int{int(pg.ID), pg.Part}] || pinned[pg.ID] != pg.Pinned {
			t.Errorf("page %d.%d: resident in the trace %v, pinned %v", pg.ID, pg.Part, resident[[2]int{int(pg.ID), pg.Part}], pinned[pg.ID])
		}
	}
	if len(pages) != len(resident) || len(pages) == 0 {
		t.Errorf("%d pages, %d by the trace", len(pages), len(resident))
	}
	wellFormed(t, p.db)
}

func TestTraceIsBounded(t *testing.T) {
	mem := disk.NewMem(1)
	o := memOptions(mem)
	o.TraceBytes = 4 << 10
	db := open(t, "/a", o)
	var turns []Turn
	for i := range 300 {
		turns = append(turns, Turn{Tokens: 10, Content: fmt.Appendf(nil, "%d", i)})
	}
	appendTurns(t, db, turns...)
	w, err := db.Window("main", WindowOptions{BudgetTokens: 1000, KeepRecent: -1})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		pass(t, w, 1, 300)
	}
	events, s := traceOf(t, db), db.TraceStats()
	if s.Bytes > s.Limit || s.Limit != o.TraceBytes || s.Dropped == 0 || s.Events != uint64(len(events)) || events[0].Seq != s.Dropped+1 {
		t.Errorf("%+v, %d events from %d", s, len(events), events[0].Seq)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, "/a", o)
	if again := traceOf(t, db); !slices.Equal(events, again) || db.TraceStats() != s {
		t.Errorf("after a restart %d events, %+v; before %d, %+v", len(again), db.TraceStats(), len(events), s)
	}
	wellFormed(t, db)

	o.TraceBytes = -1
	db = open(t, "/a", o)
	if w, err = db.Window("main", WindowOptions{BudgetTokens: 1000, KeepRecent: -1}); err != nil {
		t.Fatal(err)
	}
	pass(t, w, 1, 300)
	if events := traceOf(t, db); len(events) != 0 || db.TraceStats() != (TraceStats{}) {
		t.Errorf("%d events though the trace is off", len(events))
	}
	wellFormed(t, db)
}
