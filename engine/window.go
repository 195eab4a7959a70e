package engine

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"ctxdb/cache"
)

// WindowOptions configure a window. At least one budget is set; both hold at
// every instant.
type WindowOptions struct {
	BudgetTokens int          // 0: none
	BudgetBytes  int64        // of content; 0: none
	Policy       cache.Policy // "": cache.IdleSize
	PageTokens   int          // long turns are resident by parts of about this; 0: 1,024; at least 16; negative: whole turns
	LowWatermark float64      // 0: evict down to 0.6 of the budget in one batch; 1: one page at a time
	KeepRecent   int          // so many of the file's newest turns leave last; 0: 4; negative: none
	IndexTokens  int          // cap of the scoped index that Assemble puts inside the budget
	PinOnFault   bool         // a page that faults back stays for a while; see Window

	HandleBytes int           // a handle's line in the index; 0: 160
	ShortTurns  int           // below so many turns Assemble keeps everything resident; 0: 12; negative: never
	ShortTokens int           // or below so many tokens; 0: 6,000; negative: never
	Selector    Selector      // picks what Assemble fetches; nil: the best of the search
	SelectWait  time.Duration // how long the Selector may take; 0: 30 s

	KeepSuperseded bool // an older copy of a file that was read again or overwritten leaves no sooner than others
	CallsApart     bool // a tool result may be resident without its call
}

// What the zero value of an option stands for.
const (
	defaultPageTokens = 1024
	minPageTokens     = 16
	defaultWatermark  = 0.6 // each eviction invalidates a model's prompt cache: few large ones cost less than many small ones
	defaultRecent     = 4
)

// Window is a set of resident pages under a strict budget: what the model sees.
// Its methods may be called by many goroutines.
//
// A page is a turn, or a part of a long one. The pages of a turn cost together
// what the turn costs. With the default of 1,024 tokens they are the parts that
// the file stores (SPEC.md, section 8), so that a fault of one reads one block;
// larger pages are whole numbers of those parts, smaller ones are cut from each
// by the same rule at four bytes a token.
//
// Who leaves when room is needed: first the superseded copies (a result of a
// tool that reads or writes a file, once a newer result of such a tool has the
// same origin, which is the first of its Entities), then what the policy says,
// in one batch down to the low watermark; last, and only as far as the budget
// asks for it, the newest turns of the file. Pinned turns never leave.
//
// A tool result is not kept without its call: the first page of the call comes
// along with the result if both fit, is referenced with it, and takes the
// result along when it leaves, unless that is pinned.
//
// With PinOnFault a page that faults back is pinned for 128 references; each
// further pin of the page lasts half as long. Such pins are taken while all
// pins together hold at most half of each budget, and they are dropped, oldest
// first, before anything is refused for want of room.
//
// A window with a name survives Close and crashes; see DB.Window.
//
// invariant: the cost of what is resident, and of what is being loaded, is at
// most the budget at every instant.
type Window struct {
	db    *DB
	name  string
	opts  WindowOptions // defaults filled in
	cut   cutter
	limit cache.Cost // the budgets; where there is none, the largest number
	cache *cache.Cache[pageKey, struct{}]
	trace *traceLog // nil: off

	// faults serialises all that changes who is resident, so that a turn of
	// many pages comes as a whole and the same references give the same
	// residents. Hits don't take it. Taken before mu.
	faults  sync.Mutex
	known   knowledge
	holds   []hold // fault pins, oldest first
	pins    map[TurnID]bool
	pinned  cache.Cost // of the turns in pins
	orphans []TurnID   // results whose call left since they were last looked at
	stale   []pageKey  // calls of which a result has left, and with it a reason to be guarded
	torn    []TurnID   // turns that were whole and lost a page since they were last looked at
	cascade bool       // what is dropped now counts as evicted

	// mu guards what hits read and write. The file is never read under it.
	mu      sync.Mutex
	turns   map[TurnID]*resident
	results map[pageKey][]TurnID // resident results by the first page of their call
	layouts layoutTable
	gone    goneTable
	local   locality
	counts  counts
	steps   uint64 // references in all its lives
	events  []traceRecord
}

// resident is a turn of which at least one page is in the window.
//
// invariant: parts[i] != nil where page i is resident; count of them is here.
// invariant: whole != nil only if all are, and then each is a part of its Content.
type resident struct {
	lay   *layout
	parts [][]byte
	here  int
	whole *Turn
}

// counts are since the window was opened.
type counts struct {
	refs, hits, faults     int64
	refSize, hitSize       int64
	faultTokens, callPages int64
	cascaded, doomed       int64
}

// Window opens the window of a name: as it was left, with the same residents,
// pins and state of its policy, if the file remembers one of the same policy
// and page size; else an empty one. It is the same Window for all who open the
// name with the same options; who opens it with others takes it over, and the
// earlier Window is remembered no more. A window without a name is nobody
// else's and is never remembered.
//
// What is remembered is written along with each sealing and Checkpoint, and by
// Close; a crash goes back to the last of these. It costs no reference a sync.
// A window lives as long as its DB. Errors: ErrClosed, bad options.
func (db *DB) Window(name string, opts WindowOptions) (*Window, error) {
	if db.closed.Load() {
		return nil, fmt.Errorf("window: %w", ErrClosed)
	}
	w, err := db.newWindow(name, opts)
	if err != nil {
		return nil, fmt.Errorf("window %q: %w", name, err)
	}
	if name == "" {
		return w, nil
	}
	return db.aside.open(db, w), nil
}

func (db *DB) newWindow(name string, opts WindowOptions) (*Window, error) {
	if err := opts.complete(name); err != nil {
		return nil, err
	}
	w := &Window{
		db: db, name: name, opts: opts, cut: newCutter(opts.PageTokens), limit: opts.limit(), trace: db.aside.traceOf(name),
		pins: map[TurnID]bool{}, turns: map[TurnID]*resident{}, results: map[pageKey][]TurnID{},
		layouts: layoutTable{m: map[TurnID]*layout{}}, gone: goneTable{m: map[pageKey]departure{}},
		known: newKnowledge(max(opts.KeepRecent, 0)),
	}
	w.local.init(w.limit)
	if w.trace != nil {
		w.events = make([]traceRecord, 0, traceBatch)
	}
	var err error
	w.cache, err = cache.New(cache.Options[pageKey, struct{}]{
		BudgetTokens: int64(opts.BudgetTokens), BudgetBytes: opts.BudgetBytes, Policy: opts.Policy,
		LowWatermark: opts.LowWatermark, ManualTick: true, OnEvict: w.left,
	})
	return w, err
}

// complete fills in the defaults.
func (o *WindowOptions) complete(name string) (err error) {
	if o.BudgetTokens < 0 || o.BudgetBytes < 0 || o.BudgetTokens == 0 && o.BudgetBytes == 0 {
		return errors.New("set a budget in tokens or in bytes, above 0")
	}
	if o.IndexTokens < 0 {
		return fmt.Errorf("an index of %d tokens", o.IndexTokens)
	}
	if len(name) > maxWindowName {
		return fmt.Errorf("%w: a name of %d bytes, the limit is %d", ErrTooLarge, len(name), maxWindowName)
	}
	if o.Policy, err = cache.ParsePolicy(string(o.Policy)); err != nil {
		return err
	}
	setDefault(&o.PageTokens, defaultPageTokens)
	setDefault(&o.LowWatermark, defaultWatermark)
	setDefault(&o.KeepRecent, defaultRecent)
	if o.PageTokens < 0 {
		o.PageTokens = -1
	} else {
		o.PageTokens = max(o.PageTokens, minPageTokens)
	}
	o.KeepRecent = min(max(o.KeepRecent, -1), maxRecent)
	return nil
}

// limit is the budgets, the largest number where there is none.
func (o *WindowOptions) limit() cache.Cost {
	c := cache.Cost{Tokens: int64(o.BudgetTokens), Bytes: o.BudgetBytes}
	setDefault(&c.Tokens, math.MaxInt64)
	setDefault(&c.Bytes, math.MaxInt64)
	return c
}

// Name is what the window was opened under.
func (w *Window) Name() string { return w.name }

// Options are those of the window, defaults filled in.
func (w *Window) Options() WindowOptions { return w.opts }
