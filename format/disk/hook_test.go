package disk

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"testing"
)

func TestHookSeesOperations(t *testing.T) {
	m := NewMem(1)
	var seen []string
	m.SetHook(func(op Op) error {
		line := op.String()
		if op.Kind == OpWrite {
			line += " " + string(op.Data)
		}
		seen = append(seen, line)
		m.Crash(Variant{Mode: Mixed, Seed: uint64(op.N)}) // a hook may use the file system
		return nil
	})
	must(t, m.Put("f", nil)) // no operation
	f := openMem(t, m, "f")
	must(t, f.TryLock())
	must(t, WriteFull(f, []byte("abc"), 5))
	must(t, f.Sync())
	must(t, f.Truncate(6))
	must(t, ReadFull(f, make([]byte, 2), 4))
	must(t, f.Check())
	must(t, m.Link("f", "g"))
	must(t, m.Remove("f"))
	must(t, m.SyncDir("f"))
	want := []string{
		"op 1: open f off=0 len=0", "op 2: lock f off=0 len=0", "op 3: write f off=5 len=3 abc",
		"op 4: sync f off=0 len=0", "op 5: truncate f off=6 len=0", "op 6: read f off=4 len=2",
		"op 7: stat f off=0 len=0", "op 8: link g off=0 len=0", "op 9: remove f off=0 len=0",
		"op 10: syncdir f off=0 len=0",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
	if m.Ops() != int64(len(want)) {
		t.Errorf("%d operations counted", m.Ops())
	}
}

// TestHookStopsOperations lets each kind fail, and then skips each.
func TestHookStopsOperations(t *testing.T) {
	m := NewMem(1)
	must(t, m.Put("f", []byte("abc")))
	f := openMem(t, m, "f")
	must(t, WriteFull(f, []byte("X"), 0)) // pending, so that a sync would show
	calls := []struct {
		kind Kind
		call func() error
	}{
		{OpOpen, func() error { _, err := m.Open("f", true); return err }},
		{OpCreateTemp, func() error { _, _, err := m.CreateTemp("f"); return err }},
		{OpLink, func() error { return m.Link("f", "g") }},
		{OpRemove, func() error { return m.Remove("f") }},
		{OpSyncDir, func() error { return m.SyncDir("f") }},
		{OpRead, func() error { _, err := f.ReadAt(make([]byte, 1), 0); return err }},
		{OpWrite, func() error { _, err := f.WriteAt([]byte("Y"), 1); return err }},
		{OpSync, f.Sync},
		{OpTruncate, func() error { return f.Truncate(1) }},
		{OpStat, f.Check},
		{OpLock, f.TryLock},
	}
	if len(calls) != int(kindEnd)-1 {
		t.Fatalf("%d kinds tried of %d", len(calls), kindEnd-1)
	}
	for _, verdict := range []error{syscall.EIO, SkipOp} {
		for _, c := range calls {
			m.SetHook(func(op Op) error {
				if op.Kind != c.kind {
					t.Errorf("%v came as %v", c.kind, op.Kind)
				}
				return verdict
			})
			skips := verdict == SkipOp && c.kind.Changes() && c.kind != OpCreateTemp
			if err := c.call(); skips && err != nil || !skips && !errors.Is(err, verdict) {
				t.Errorf("%v with %v: %v", c.kind, verdict, err)
			}
		}
	}
	m.SetHook(nil)
	if got := string(m.Bytes("f")); got != "Xbc" {
		t.Errorf("something happened: %q", got)
	}
	if got := string(m.DurableBytes("f")); got != "abc" {
		t.Errorf("a sync happened: %q", got)
	}
	if names := m.Names(); !slices.Equal(names, []string{"f"}) {
		t.Errorf("names %q", names)
	}
	must(t, f.Sync())
	if got := string(m.DurableBytes("f")); got != "Xbc" {
		t.Errorf("a sync after a skipped one left %q", got)
	}
}

func TestShortWrite(t *testing.T) {
	m := NewMem(1)
	must(t, m.Put("f", []byte("......")))
	f := openMem(t, m, "f")
	for _, c := range []struct {
		short *ShortWrite
		n     int
		err   error
		want  string
	}{
		{&ShortWrite{N: 2}, 2, io.ErrShortWrite, "ab...."},
		{&ShortWrite{N: 3, Err: syscall.ENOSPC}, 3, syscall.ENOSPC, "abc..."},
		{&ShortWrite{N: -1}, 0, io.ErrShortWrite, "abc..."},
		{&ShortWrite{N: 9}, 4, io.ErrShortWrite, "abcd.."},
	} {
		m.SetHook(func(Op) error { return c.short })
		n, err := f.WriteAt([]byte("abcd"), 0)
		if n != c.n || !errors.Is(err, c.err) || string(m.Bytes("f")) != c.want {
			t.Errorf("%v: %d, %v, file %q", c.short, n, err, m.Bytes("f"))
		}
	}
}

func TestMemLimits(t *testing.T) {
	m := NewMem(1)
	must(t, m.Put("f", nil))
	f := openMem(t, m, "f")
	if _, err := f.WriteAt([]byte("x"), MaxMemFile); err == nil {
		t.Error("wrote behind the largest size")
	}
	if err := f.Truncate(1 << 62); err == nil {
		t.Error("grew behind the largest size")
	}
	must(t, WriteFull(f, []byte("x"), MaxMemFile-1))
	if got := m.Crash(Variant{Mode: TornSectors, Seed: 1}).Names(); !slices.Equal(got, []string{"f"}) {
		t.Errorf("names %q", got)
	}
}

// TestMemConcurrently is for the race detector; it checks what must hold anyway.
func TestMemConcurrently(t *testing.T) {
	m := NewMem(1)
	must(t, m.Put("f", make([]byte, 64<<10)))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			f, err := m.Open("f", true)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			p := make([]byte, 8<<10)
			for j := range 50 {
				for k := range p {
					p[k] = byte(i + 1)
				}
				if err := WriteFull(f, p, int64(i)*8<<10); err != nil {
					t.Error(err)
				}
				if err := f.Sync(); err != nil {
					t.Error(err)
				}
				left := m.Crash(Variant{Mode: Mixed, Seed: uint64(j)})
				if err := checkOwnBytes(left, i, p); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// checkOwnBytes writes to a crash image and compares what goroutine i had synced.
func checkOwnBytes(left *Mem, i int, want []byte) error {
	g, err := left.Open("f", true)
	if err != nil {
		return err
	}
	got := make([]byte, len(want))
	if err := ReadFull(g, got, int64(i)*8<<10); err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("goroutine %d: synced bytes are not in the image", i)
	}
	return WriteFull(g, make([]byte, 64<<10), 0)
}
