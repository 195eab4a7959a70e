package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func injectors(t *testing.T) map[string]struct {
	in   *Inject
	path string
} {
	m := NewMem(1)
	must(t, m.Put("/d/f", []byte("......")))
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, []byte("......"), 0o600))
	return map[string]struct {
		in   *Inject
		path string
	}{"mem": {NewInject(m), "/d/f"}, "os": {NewInject(OS), path}}
}

func TestInjectOnceAndForGood(t *testing.T) {
	for name, w := range injectors(t) {
		t.Run(name, func(t *testing.T) {
			f, err := w.in.Open(w.path, true)
			must(t, err)
			defer f.Close()
			w.in.Add(Rule{Kinds: []Kind{OpWrite}, N: 2, Err: syscall.EIO})
			w.in.Add(Rule{Kinds: []Kind{OpWrite, OpTruncate}, N: 4, Until: Forever, Err: syscall.ENOSPC})
			w.in.Add(Rule{Name: "another", Err: syscall.EPERM})
			want := []error{nil, syscall.EIO, nil, syscall.ENOSPC, syscall.ENOSPC}
			for i, want := range want {
				_, err := f.WriteAt([]byte{'0' + byte(i)}, int64(i))
				if !errors.Is(err, want) {
					t.Errorf("write %d: %v, want %v", i+1, err, want)
				}
			}
			mustBe(t, f.Truncate(0), syscall.ENOSPC)
			must(t, f.Sync())
			if fired := w.in.Fired(); fired != 4 {
				t.Errorf("%d failures, want 4", fired)
			}
			w.in.Heal()
			_, err = f.WriteAt([]byte("x"), 5)
			must(t, err)
			p := make([]byte, 6)
			must(t, ReadFull(f, p, 0))
			if string(p) != "0.2..x" {
				t.Errorf("file %q", p)
			}
			if w, s, all := w.in.Count(OpWrite), w.in.Count(OpWrite, OpSync), w.in.Count(); w != 6 || s != 7 || all != 10 {
				t.Errorf("counted %d writes, %d writes and syncs, %d in all", w, s, all)
			}
		})
	}
}

func TestInjectShortWriteAndSkip(t *testing.T) {
	for name, w := range injectors(t) {
		t.Run(name, func(t *testing.T) {
			f, err := w.in.Open(w.path, true)
			must(t, err)
			defer f.Close()
			w.in.Add(Rule{Kinds: []Kind{OpWrite}, Err: &ShortWrite{N: 2, Err: syscall.ENOSPC}})
			w.in.Add(Rule{Kinds: []Kind{OpWrite}, N: 2, Err: SkipOp})
			n, err := f.WriteAt([]byte("abc"), 0)
			if n != 2 || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("short write: %d, %v", n, err)
			}
			n, err = f.WriteAt([]byte("xyz"), 3)
			if n != 3 || err != nil {
				t.Errorf("skipped write: %d, %v", n, err)
			}
			p := make([]byte, 6)
			must(t, ReadFull(f, p, 0))
			if string(p) != "ab...." {
				t.Errorf("file %q", p)
			}
		})
	}
}

// TestInjectEveryKind fails each kind of operation in turn, over both worlds.
func TestInjectEveryKind(t *testing.T) {
	for name, w := range injectors(t) {
		t.Run(name, func(t *testing.T) {
			in, path := w.in, w.path
			f, err := in.Open(path, true)
			must(t, err)
			defer f.Close()
			for kind, call := range map[Kind]func() error{
				OpOpen:       func() error { _, err := in.Open(path, true); return err },
				OpCreateTemp: func() error { _, _, err := in.CreateTemp(path); return err },
				OpLink:       func() error { return in.Link(path, path+"2") },
				OpRemove:     func() error { return in.Remove(path) },
				OpSyncDir:    func() error { return in.SyncDir(path) },
				OpRead:       func() error { _, err := f.ReadAt(make([]byte, 1), 0); return err },
				OpWrite:      func() error { _, err := f.WriteAt([]byte("Y"), 0); return err },
				OpSync:       f.Sync,
				OpTruncate:   func() error { return f.Truncate(1) },
				OpStat:       func() error { _, err := f.Size(); return err },
				OpLock:       func() error { _, err := f.LockedByOther(); return err },
			} {
				in.Add(Rule{Kinds: []Kind{kind}, Err: syscall.EIO})
				if err := call(); !errors.Is(err, syscall.EIO) {
					t.Errorf("%v: %v", kind, err)
				}
				in.Heal()
			}
			must(t, f.Check())
			p := make([]byte, 6)
			must(t, ReadFull(f, p, 0))
			if string(p) != "......" {
				t.Errorf("file %q", p)
			}
			if _, err := in.Open(path+"2", false); err == nil {
				t.Error("a failed link happened")
			}
		})
	}
}

func TestInjectFailedSync(t *testing.T) {
	m := NewMem(1)
	must(t, m.Put("f", sectorsOf("AA")))
	in := NewInject(m)
	f, err := in.Open("f", true)
	must(t, err)
	must(t, WriteFull(f, sectorsOf("BB"), 0))
	in.Add(Rule{Kinds: []Kind{OpSync}, Err: &FailedSync{Err: syscall.EIO}})
	mustBe(t, f.Sync(), syscall.EIO)
	must(t, f.Sync())
	if now, left := lettersOf(m.Bytes("f")), lettersOf(m.Crash(Variant{Mode: KeepAll}).Bytes("f")); now != "BB" || left != "AA" {
		t.Errorf("reads see %s, a crash leaves %s", now, left)
	}
}

func TestForbidMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, nil, 0o600))
	in := NewInject(OS)
	f, err := in.Open(path, true)
	must(t, err)
	defer f.Close()
	if m, ok := f.(Mapper); !ok || m.OSFile() == nil {
		t.Error("no mapping offered over the machine's files")
	}
	in.ForbidMapping()
	g, err := in.Open(path, true)
	must(t, err)
	defer g.Close()
	if _, ok := g.(Mapper); ok {
		t.Error("mapping offered though forbidden")
	}
	m := NewMem(1)
	must(t, m.Put("f", nil))
	h, err := NewInject(m).Open("f", true)
	must(t, err)
	if _, ok := h.(Mapper); ok {
		t.Error("mapping offered in memory")
	}
}
