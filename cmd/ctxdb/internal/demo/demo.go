package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ctxdb/engine"
)

// Defaults of Options. Budget and references are those of the published run.
// Among the first 2,000 seeds the window by lru has exactly the published number
// of faults with 15. Of these the default is one as the mean of all has it:
// idle-size makes 4.4 % fewer faults than lru there, and 4.9 % fewer over the
// 2,000. The mean over MeanSeeds seeds stands beside it.
const (
	DefaultSeed       = 603
	DefaultBudget     = 8000
	DefaultReferences = 1500
	MeanSeeds         = 20
)

// ErrExists: there is something at the path to keep the file at. It is left as
// it is.
var ErrExists = errors.New("exists already and is not overwritten")

// ErrLost: a turn came back differing from what was appended, or not at all, or
// the file did not verify. The report says how many.
var ErrLost = errors.New("the file does not hold what was appended")

// Options of a demo. The zero value of each field is its default.
type Options struct {
	Keep       string // where the file is to stay; "": a temporary one, removed at the end
	Seed       uint64 // of the session and of the references; 0: DefaultSeed
	Budget     int    // of the window, in tokens; 0: DefaultBudget
	References int    // 0: DefaultReferences
	JSON       bool   // write the report as JSON, not as text

	clock   func() time.Duration // monotonic; nil: the machine's
	samples int                  // of each kind of fault; 0: faultSamples
	seeds   uint64               // of a mean; 0: MeanSeeds
}

func (o *Options) setDefaults() error {
	if o.Budget < 0 || o.References < 0 {
		return fmt.Errorf("demo: a budget of %d tokens and %d references: neither may be negative", o.Budget, o.References)
	}
	if o.Seed == 0 {
		o.Seed = DefaultSeed
	}
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.References == 0 {
		o.References = DefaultReferences
	}
	if o.samples == 0 {
		o.samples = faultSamples
	}
	if o.seeds == 0 {
		o.seeds = MeanSeeds
	}
	if o.clock == nil {
		start := time.Now()
		o.clock = func() time.Duration { return time.Since(start) }
	}
	return nil
}

// Run runs the demo and writes its report to w. The file at o.Keep, if any, is
// closed when it returns. With an error it is removed again, except after
// ErrLost, and where only writing to w failed.
//
// Errors: ErrExists, ErrLost (after the report was written), those of the
// engine, of w and of ctx.
func Run(ctx context.Context, w io.Writer, o Options) (Report, error) {
	if err := o.setDefaults(); err != nil {
		return Report{}, err
	}
	path, remove, err := place(o.Keep)
	if err != nil {
		return Report{}, err
	}
	r, err := measure(ctx, path, o)
	if err != nil || o.Keep == "" {
		err = errors.Join(err, remove())
	}
	if err != nil {
		return Report{}, fmt.Errorf("demo: %w", err)
	}
	write := r.WriteText
	if o.JSON {
		write = r.WriteJSON
	}
	if err := write(w); err != nil {
		return r, fmt.Errorf("demo: writing the report: %w", err)
	}
	if r.lost() > 0 {
		return r, fmt.Errorf("demo: %w", ErrLost)
	}
	return r, nil
}

// place says where the file is to be made, and how to remove it again.
func place(keep string) (path string, remove func() error, err error) {
	if keep == "" {
		dir, err := os.MkdirTemp("", "ctxdb-demo-")
		if err != nil {
			return "", nil, fmt.Errorf("demo: %w", err)
		}
		return filepath.Join(dir, "demo.ctxdb"), func() error { return os.RemoveAll(dir) }, nil
	}
	// Whoever makes the empty file owns it: nothing that was there before can be
	// written to or removed, not even when two demos begin at once.
	f, err := os.OpenFile(keep, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", nil, fmt.Errorf("demo: %s %w", keep, ErrExists)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return "", nil, fmt.Errorf("demo: %w", err)
	}
	return keep, func() error { return os.Remove(keep) }, nil
}

// measure makes the file at path and runs everything over it.
func measure(ctx context.Context, path string, o Options) (r Report, err error) {
	turns := newSession(o.Seed)
	r = Report{Seed: o.Seed, BudgetTokens: o.Budget, References: o.References, Published: published}
	if r.Session, err = describe(turns); err != nil {
		return r, err
	}
	if r.Session.LargestTokens > o.Budget {
		return r, fmt.Errorf("a budget of %d tokens is too small: the largest turn has %d", o.Budget, r.Session.LargestTokens)
	}
	p := &pager{turns: turns, seeds: o.seeds, clock: o.clock}
	if err := p.whileOpen(path, nil, func() error { return r.over(ctx, p, o.samples) }); err != nil {
		return r, err
	}
	if o.Keep != "" {
		r.File.Kept = path
	}
	return r, p.whileOpen(path, &engine.Options{ReadOnly: true}, func() error { return r.File.readAgain(ctx, p, &r.Session) })
}

// whileOpen opens the file for do, and closes it whatever do says.
func (p *pager) whileOpen(path string, opts *engine.Options, do func() error) (err error) {
	if p.db, err = engine.Open(path, opts); err != nil {
		return err
	}
	err = do()
	return errors.Join(err, p.db.Close())
}

// over fills an empty file with the session and measures on it.
func (r *Report) over(ctx context.Context, p *pager, samples int) (err error) {
	if r.Latency.Append, err = p.fill(ctx); err != nil {
		return err
	}
	if err = r.page(ctx, p); err != nil {
		return err
	}
	return p.latency(ctx, r.BudgetTokens, samples, &r.Latency)
}

// readAgain reads the closed file in full.
func (f *File) readAgain(ctx context.Context, p *pager, session *Session) error {
	stats := p.db.Stats()
	f.Bytes, f.FreeBytes = stats.FileBytes, stats.FreeBytes
	f.OfJSONL = float64(f.Bytes) / float64(session.JSONLBytes)
	f.UsedOfJSONL = float64(f.Bytes-f.FreeBytes) / float64(session.JSONLBytes)
	f.TurnsLost = p.lostInFile()
	for finding, err := range p.db.Verify(ctx) {
		if err != nil {
			return err
		}
		f.Findings = append(f.Findings, fmt.Sprintf("%s at offset %d: %v", finding.Region, finding.Offset, finding.Err))
	}
	return nil
}
