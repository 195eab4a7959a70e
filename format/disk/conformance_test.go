package disk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// world is a file system under the shared conformance test, with the means to
// do from outside what FS does not offer.
type world struct {
	fs      FS
	dir     string
	put     func(path string, data []byte) error
	symlink func(target, path string) error
	rename  func(from, to string) error
}

func worlds(t *testing.T) map[string]world {
	mem, inner := NewMem(1), NewMem(2)
	ofOS := func(f FS) world {
		put := func(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return world{f, dir, put, os.Symlink, os.Rename}
	}
	return map[string]world{
		"os":         ofOS(OS),
		"inject-os":  ofOS(NewInject(OS)),
		"mem":        {mem, "/d", mem.Put, mem.Symlink, mem.Rename},
		"inject-mem": {NewInject(inner), "/d", inner.Put, inner.Symlink, inner.Rename},
	}
}

func TestConformance(t *testing.T) {
	tests := map[string]func(t *testing.T, w world){
		"Open": testOpen, "ReadWrite": testReadWrite, "Truncate": testTruncate, "Create": testCreate,
		"Lock": testLock, "LockThroughNames": testLockThroughNames, "Check": testCheck,
		"Resolve": testResolve, "Closed": testClosed, "ReadOnly": testReadOnly, "WriteZeros": testWriteZeros,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for kind, w := range worlds(t) {
				t.Run(kind, func(t *testing.T) { test(t, w) })
			}
		})
	}
}

func (w world) path(name string) string { return filepath.Join(w.dir, name) }

func (w world) mustPut(t *testing.T, name, data string) string {
	t.Helper()
	must(t, w.put(w.path(name), []byte(data)))
	return w.path(name)
}

func (w world) mustOpen(t *testing.T, path string, write bool) File {
	t.Helper()
	f, err := w.fs.Open(path, write)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustBe(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func testOpen(t *testing.T, w world) {
	path := w.mustPut(t, "sub.x", "abc")
	for _, write := range []bool{false, true} {
		_, err := w.fs.Open(w.path("absent"), write)
		mustBe(t, err, fs.ErrNotExist)
		if _, err := w.fs.Open(w.dir, write); err == nil {
			t.Fatal("a directory was opened")
		}
		f := w.mustOpen(t, path, write)
		if n, err := f.Size(); n != 3 || err != nil {
			t.Fatalf("size %d, %v", n, err)
		}
	}
	must(t, w.symlink("sub.x", w.path("link")))
	var p [3]byte
	must(t, ReadFull(w.mustOpen(t, w.path("link"), false), p[:], 0))
	if string(p[:]) != "abc" {
		t.Fatalf("read %q through a link", p)
	}
}

func testReadWrite(t *testing.T, w world) {
	path := w.mustPut(t, "f", "0123456789")
	a, b := w.mustOpen(t, path, true), w.mustOpen(t, path, false)
	must(t, WriteFull(a, []byte("xyz"), 9000))
	must(t, a.Sync())
	if n, err := b.Size(); n != 9003 || err != nil {
		t.Fatalf("the second handle sees size %d, %v", n, err)
	}
	p := make([]byte, 9003)
	if n, err := b.ReadAt(p, 0); n != 9003 || (err != nil && err != io.EOF) {
		t.Fatalf("read %d, %v", n, err)
	}
	want := append([]byte("0123456789"), make([]byte, 8990)...)
	if !bytes.Equal(p, append(want, "xyz"...)) {
		t.Fatal("bytes differ, or the hole is not zero")
	}
	if n, err := b.ReadAt(p[:10], 8999); n != 4 || err != io.EOF {
		t.Fatalf("short read at the end: %d, %v; want 4, EOF", n, err)
	}
	if n, err := b.ReadAt(p[:1], 9003); n != 0 || err != io.EOF {
		t.Fatalf("read at the end: %d, %v; want 0, EOF", n, err)
	}
	if n, err := b.ReadAt(nil, 99999); n != 0 || err != nil {
		t.Fatalf("empty read: %d, %v", n, err)
	}
	mustBe(t, ReadFull(b, p[:10], 9000), io.ErrUnexpectedEOF)
	mustBe(t, ReadFull(b, p[:10], 10000), io.ErrUnexpectedEOF)
	if _, err := a.WriteAt(p[:1], -1); err == nil {
		t.Fatal("wrote at a negative offset")
	}
	if _, err := a.ReadAt(p[:1], -1); err == nil || err == io.EOF {
		t.Fatalf("read at a negative offset: %v", err)
	}
}

func testTruncate(t *testing.T, w world) {
	f := w.mustOpen(t, w.mustPut(t, "f", "0123456789"), true)
	must(t, f.Truncate(4))
	must(t, f.Truncate(8))
	p := make([]byte, 8)
	must(t, ReadFull(f, p, 0))
	if string(p) != "0123\x00\x00\x00\x00" {
		t.Fatalf("%q: what was cut off came back", p)
	}
	if err := f.Truncate(-1); err == nil {
		t.Fatal("truncated to a negative size")
	}
	must(t, f.Truncate(0))
	if n, err := f.Size(); n != 0 || err != nil {
		t.Fatalf("size %d, %v", n, err)
	}
}

// testCreate runs the creation protocol twice; the second creator must lose.
func testCreate(t *testing.T, w world) {
	w.mustPut(t, "neighbour", "") // so that the directory is there in both worlds
	path := w.path("new")
	for i := range 2 {
		f, tmp, err := w.fs.CreateTemp(path)
		must(t, err)
		if tmp == path || filepath.Dir(tmp) != w.dir {
			t.Fatalf("temporary %s", tmp)
		}
		must(t, WriteFull(f, []byte{'0' + byte(i)}, 0))
		must(t, f.Sync())
		must(t, f.Check())
		must(t, f.Close())
		err = w.fs.Link(tmp, path)
		if i == 0 {
			must(t, err)
		} else {
			mustBe(t, err, fs.ErrExist)
		}
		must(t, w.fs.Remove(tmp))
		mustBe(t, w.fs.Remove(tmp), fs.ErrNotExist)
		must(t, w.fs.SyncDir(path))
	}
	f := w.mustOpen(t, path, true)
	must(t, f.Check())
	var p [1]byte
	must(t, ReadFull(f, p[:], 0))
	if p[0] != '0' {
		t.Fatalf("the second creator replaced the file: %q", p)
	}
}

func testLock(t *testing.T, w world) {
	path := w.mustPut(t, "f", "")
	a, b := w.mustOpen(t, path, true), w.mustOpen(t, path, true)
	locked := func(f File, want bool) {
		t.Helper()
		if got, err := f.LockedByOther(); got != want || err != nil {
			t.Fatalf("LockedByOther %v, %v; want %v", got, err, want)
		}
	}
	locked(a, false)
	must(t, a.Unlock())
	must(t, a.TryLock())
	must(t, a.TryLock()) // held by this very handle
	locked(a, false)
	locked(b, true)
	mustBe(t, b.TryLock(), ErrWouldBlock)
	must(t, b.Unlock()) // gives nothing of a's away
	mustBe(t, b.TryLock(), ErrWouldBlock)
	must(t, a.Unlock())
	locked(b, false)
	must(t, b.TryLock())
	locked(a, true)
	must(t, b.Close())
	locked(a, false)
	must(t, a.TryLock())
}

func testLockThroughNames(t *testing.T, w world) {
	path := w.mustPut(t, "f", "")
	must(t, w.fs.Link(path, w.path("hard")))
	must(t, w.symlink("f", w.path("soft")))
	a := w.mustOpen(t, path, true)
	must(t, a.TryLock())
	id, err := a.ID()
	must(t, err)
	for _, name := range []string{"hard", "soft"} {
		f := w.mustOpen(t, w.path(name), false)
		mustBe(t, f.TryLock(), ErrWouldBlock)
		if other, err := f.ID(); other != id || err != nil {
			t.Fatalf("%s: id %v, %v; want %v", name, other, err, id)
		}
	}
	other := w.mustOpen(t, w.mustPut(t, "other", ""), true)
	must(t, other.TryLock())
	if got, err := other.ID(); got == id || err != nil {
		t.Fatalf("two files with the id %v, %v", got, err)
	}
}

func testCheck(t *testing.T, w world) {
	path := w.mustPut(t, "f", "")
	f := w.mustOpen(t, path, true)
	must(t, f.Check())
	must(t, w.fs.Link(path, w.path("hard")))
	must(t, f.Check())
	must(t, w.fs.Remove(path)) // a name is left, but not the one it was opened by
	mustBe(t, f.Check(), ErrReplaced)
	must(t, w.fs.Remove(w.path("hard")))
	mustBe(t, f.Check(), ErrReplaced)
	must(t, WriteFull(f, []byte("still writable"), 0))

	path = w.mustPut(t, "g", "old")
	g := w.mustOpen(t, path, true)
	w.mustPut(t, "g2", "new")
	must(t, w.rename(w.path("g2"), path))
	mustBe(t, g.Check(), ErrReplaced)

	target := w.mustPut(t, "target", "")
	must(t, w.symlink("target", w.path("soft")))
	h := w.mustOpen(t, w.path("soft"), true)
	must(t, h.Check())
	must(t, w.fs.Remove(w.path("soft")))
	w.mustPut(t, "elsewhere", "")
	must(t, w.symlink("elsewhere", w.path("soft")))
	mustBe(t, h.Check(), ErrReplaced)
	must(t, w.mustOpen(t, target, false).Check())
}

func testResolve(t *testing.T, w world) {
	w.mustPut(t, "f", "")
	must(t, w.symlink("f", w.path("one")))
	must(t, w.symlink(w.path("one"), w.path("two")))
	must(t, w.symlink("absent", w.path("dangling")))
	must(t, w.symlink("loop", w.path("loop")))
	for name, want := range map[string]string{"f": "f", "one": "f", "two": "f", "dangling": "absent", "absent": "absent"} {
		if got, err := w.fs.Resolve(w.path(name)); got != w.path(want) || err != nil {
			t.Fatalf("%s resolves to %s, %v; want %s", name, got, err, want)
		}
	}
	if got, err := w.fs.Resolve(w.path("loop")); err == nil {
		t.Fatalf("a loop resolves to %s", got)
	}
	_, err := w.fs.Open(w.path("dangling"), false)
	mustBe(t, err, fs.ErrNotExist)
}

func testClosed(t *testing.T, w world) {
	f := w.mustOpen(t, w.mustPut(t, "f", "x"), true)
	must(t, f.TryLock())
	must(t, f.Close())
	p := make([]byte, 1)
	calls := map[string]func() error{
		"ReadAt":        func() error { _, err := f.ReadAt(p, 0); return err },
		"WriteAt":       func() error { _, err := f.WriteAt(p, 0); return err },
		"Size":          func() error { _, err := f.Size(); return err },
		"ID":            func() error { _, err := f.ID(); return err },
		"LockedByOther": func() error { _, err := f.LockedByOther(); return err },
		"Truncate":      func() error { return f.Truncate(0) },
		"Sync":          f.Sync, "TryLock": f.TryLock, "Unlock": f.Unlock, "Check": f.Check, "Close": f.Close,
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

func testReadOnly(t *testing.T, w world) {
	f := w.mustOpen(t, w.mustPut(t, "f", "abc"), false)
	if _, err := f.WriteAt([]byte("x"), 0); err == nil {
		t.Error("wrote through a handle for reading")
	}
	if err := f.Truncate(0); err == nil {
		t.Error("truncated through a handle for reading")
	}
	if n, err := f.Size(); n != 3 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
}

func testWriteZeros(t *testing.T, w world) {
	f := w.mustOpen(t, w.mustPut(t, "f", "abcdef"), true)
	const n = 2*zeroChunk + 5
	must(t, WriteZeros(f, 3, n))
	p := make([]byte, 3+n)
	must(t, ReadFull(f, p, 0))
	if !bytes.Equal(p, append([]byte("abc"), make([]byte, n)...)) {
		t.Fatal("not abc and zeros")
	}
	if size, err := f.Size(); size != 3+n || err != nil {
		t.Fatalf("size %d, %v", size, err)
	}
	if WriteZeros(f, -1, 5) == nil || WriteZeros(f, 0, -1) == nil {
		t.Fatal("negative argument accepted")
	}
}
