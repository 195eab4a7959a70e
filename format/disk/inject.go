package disk

import (
	"slices"
	"sync"
)

// Rule makes operations of an Inject fail.
type Rule struct {
	Kinds []Kind // nil: all kinds
	Name  string // only operations on this path, as Open was given it; "": any
	N     int64  // the N-th operation that matches, counted from when the rule was added; 0 is 1
	Until int64  // and all after it up to the Until-th; 0: that one only; Forever: for good
	// Err is the outcome, as of a Hook: an error of the system such as
	// syscall.EIO or syscall.ENOSPC, SkipOp, *ShortWrite, or *FailedSync.
	Err error
}

// Forever is the value of Rule.Until for a failure that stays.
const Forever = 1<<63 - 1

// Inject wraps a file system and makes chosen operations fail. What fails does
// not reach the wrapped one, save the first bytes of a *ShortWrite, and the
// effect of a *FailedSync on a file of Mem. Safe for concurrent use.
type Inject struct {
	inner FS

	mu     sync.Mutex
	noMap  bool
	counts [kindEnd]int64
	total  int64
	fired  int64
	rules  []*countedRule
}

var _ FS = (*Inject)(nil)

type countedRule struct {
	Rule
	seen int64
}

// NewInject returns inner with no failures yet.
func NewInject(inner FS) *Inject { return &Inject{inner: inner} }

// Add adds a rule. The first one that applies to an operation decides it; all
// that match count it.
func (in *Inject) Add(r Rule) {
	r.N = max(r.N, 1)
	r.Until = max(r.Until, r.N)
	r.Kinds = slices.Clone(r.Kinds)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.rules = append(in.rules, &countedRule{Rule: r})
}

// Heal removes all rules. Counters go on.
func (in *Inject) Heal() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.rules = nil
}

// ForbidMapping makes files that are opened from now on offer no Mapper.
func (in *Inject) ForbidMapping() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.noMap = true
}

// Count returns how many operations of these kinds were tried; of none: of all.
func (in *Inject) Count(kinds ...Kind) int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(kinds) == 0 {
		return in.total
	}
	var n int64
	for _, k := range kinds {
		n += in.counts[k]
	}
	return n
}

// Fired returns how many operations a rule decided.
func (in *Inject) Fired() int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.fired
}

// before counts the operation and returns the verdict of the rules.
func (in *Inject) before(k Kind, name string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.total++
	in.counts[k]++
	var verdict error
	for _, r := range in.rules {
		if r.Name != "" && r.Name != name || r.Kinds != nil && !slices.Contains(r.Kinds, k) {
			continue
		}
		r.seen++
		if verdict == nil && r.seen >= r.N && r.seen <= r.Until {
			verdict = r.Err
		}
	}
	if verdict != nil {
		in.fired++
	}
	return verdict
}

// Open implements FS.
func (in *Inject) Open(path string, write bool) (File, error) {
	if err := in.before(OpOpen, path); err != nil {
		return nil, pathError("open", path, err)
	}
	f, err := in.inner.Open(path, write)
	if err != nil {
		return nil, err
	}
	return in.wrap(f, path), nil
}

// CreateTemp implements FS.
func (in *Inject) CreateTemp(path string) (File, string, error) {
	if err := in.before(OpCreateTemp, path); err != nil {
		return nil, "", pathError("createtemp", path, err)
	}
	f, name, err := in.inner.CreateTemp(path)
	if err != nil {
		return nil, "", err
	}
	return in.wrap(f, name), name, nil
}

func (in *Inject) wrap(f File, path string) File {
	in.mu.Lock()
	defer in.mu.Unlock()
	wrapped := &injectFile{File: f, in: in, path: path}
	if m, ok := f.(Mapper); ok && !in.noMap {
		return &mappedInjectFile{injectFile: wrapped, mapper: m}
	}
	return wrapped
}

// Link implements FS.
func (in *Inject) Link(tmp, path string) error {
	if err := in.before(OpLink, path); err != nil {
		return skipped(linkError(tmp, path, err))
	}
	return in.inner.Link(tmp, path)
}

// Remove implements FS.
func (in *Inject) Remove(path string) error {
	if err := in.before(OpRemove, path); err != nil {
		return skipped(pathError("remove", path, err))
	}
	return in.inner.Remove(path)
}

// SyncDir implements FS.
func (in *Inject) SyncDir(path string) error {
	if err := in.before(OpSyncDir, path); err != nil {
		return skipped(pathError("syncdir", path, err))
	}
	return in.inner.SyncDir(path)
}

// Resolve implements FS. No rule applies to it.
func (in *Inject) Resolve(path string) (string, error) { return in.inner.Resolve(path) }
