package engine

import (
	"fmt"

	"ctxdb/cache"
)

// WindowInfo is what the file remembers of a window. With this policy and page
// size DB.Window opens it as it was left; the budget is the opener's.
type WindowInfo struct {
	Name       string
	Policy     cache.Policy
	PageTokens int    // as in WindowOptions, defaults filled in; negative: whole turns
	Pages      int    // resident
	Tokens     int64  // of these
	Bytes      int64  // of these
	Pinned     int    // turns, by Pin
	References uint64 // in all its lives
}

// WindowInfo says what is remembered of a window that is not open. ErrNotFound:
// nothing is. It changes nothing.
func (db *DB) WindowInfo(name string) (WindowInfo, error) {
	if db.closed.Load() {
		return WindowInfo{}, fmt.Errorf("window %q: %w", name, ErrClosed)
	}
	a := db.aside
	a.mu.Lock()
	defer a.mu.Unlock()
	a.load(db)
	stored, ok := a.stored[name]
	if !ok {
		return WindowInfo{}, fmt.Errorf("window %q: %w", name, ErrNotFound)
	}
	s, err := decodeState(stored.b)
	if err != nil {
		return WindowInfo{}, fmt.Errorf("window %q: %w", name, err)
	}
	info := WindowInfo{
		Name: name, Policy: s.cache.Policy, PageTokens: s.pageTokens, Pages: len(s.cache.Items), Pinned: len(s.pins), References: s.steps,
	}
	for _, it := range s.cache.Items {
		info.Tokens += it.Cost.Tokens
		info.Bytes += it.Cost.Bytes
	}
	return info, nil
}
