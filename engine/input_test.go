package engine

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// TestBadFiles: what is no ctxdb file, or a newer one, is refused by name and
// left as it is.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	db := open(t, good, nil)
	appendTurns(t, db, Turn{Role: "user", Content: []byte("x")})
	wellFormed(t, db)
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		bytes  []byte
		write  error
		reader error
	}{
		{"text", []byte("{\"role\":\"user\"}\n"), ErrNotCtxdb, ErrNotCtxdb},
		{"zeros", make([]byte, 20000), ErrNotCtxdb, ErrNotCtxdb},
		{"spaces", []byte("   "), ErrNotCtxdb, ErrNotCtxdb},
		{"short", whole[:5000], ErrTruncated, ErrTruncated},
		{"cut", whole[:len(whole)-1], ErrTruncated, ErrTruncated},
		{"newline damage", bytes.ReplaceAll(whole, []byte("\r\n"), []byte("\n")), ErrNotCtxdb, ErrNotCtxdb},
		{"newer", changed(whole, func(s *format.Superblock) { s.Major = 2 }), ErrVersion, ErrVersion},
		{"required feature", changed(whole, func(s *format.Superblock) { s.RequiredFeatures = 4 }), ErrVersion, ErrVersion},
		{"write feature", changed(whole, func(s *format.Superblock) { s.WriteFeatures = 4 }), ErrVersion, nil},
		{"optional feature", changed(whole, func(s *format.Superblock) { s.OptionalFeatures = 4 }), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name)
			if err := os.WriteFile(path, c.bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, ro := range []bool{true, false} {
				want := c.write
				if ro {
					want = c.reader
				}
				db, err := Open(path, &Options{ReadOnly: ro})
				if !errors.Is(err, want) || (err == nil) != (want == nil) {
					t.Errorf("read-only %v: %v, want %v", ro, err, want)
				}
				var u *UnwritableError
				if readable := !ro && want != nil && c.reader == nil; errors.As(err, &u) != readable {
					t.Errorf("%v does not say that the file can be read: %v", err, readable)
				}
				if db != nil {
					wellFormed(t, db)
				}
				if now, _ := os.ReadFile(path); err != nil && !bytes.Equal(now, c.bytes) {
					t.Errorf("read-only %v: refused, and changed", ro)
				}
			}
		})
	}
}

// changed rewrites both superblocks.
func changed(file []byte, change func(s *format.Superblock)) []byte {
	out := bytes.Clone(file)
	for _, slot := range []int64{format.SlotA, format.SlotB} {
		s, err := format.DecodeSuperblock(out[slot:slot+format.SuperblockSize], slot)
		if err != nil {
			panic(err)
		}
		change(&s)
		copy(out[slot:], s.Encode(slot))
	}
	return out
}

func TestMissingAndForbidden(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "absent"), &Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, err := Open(dir, nil); err == nil {
		t.Error("a directory was opened")
	}
	if _, err := Open(filepath.Join(dir, "no", "such", "folder"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "x"), &Options{Sync: "sometimes"}); err == nil {
		t.Error("unknown policy")
	}
}

// TestEmptyFileBecomesOne: only a file of no bytes at all.
func TestEmptyFileBecomesOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, &Options{ReadOnly: true}); !errors.Is(err, ErrNotCtxdb) || !errors.Is(err, ErrEmpty) {
		t.Errorf("read-only: %v", err)
	}
	db := open(t, path, nil)
	appendTurns(t, db, Turn{Role: "user", Content: []byte("x")})
	wellFormed(t, db)
}

// TestInterruptedClaim: whatever a crash leaves of turning an empty file into a
// ctxdb file can be opened again.
func TestInterruptedClaim(t *testing.T) {
	count := disk.NewMem(1)
	put(t, count)
	wellFormed(t, open(t, "/a", &Options{FS: count}))
	images := 0
	for n := int64(1); n <= count.Ops(); n++ {
		mem := disk.NewMem(1)
		put(t, mem)
		stop := errors.New("stop")
		mem.SetHook(func(op disk.Op) error {
			if op.N >= n {
				return stop
			}
			return nil
		})
		if db, err := Open("/a", &Options{FS: mem}); err == nil {
			db.Close()
		}
		mem.SetHook(nil)
		for seed := range uint64(trial.Size(8, 1)) {
			for _, v := range disk.Variants(seed) {
				images++
				after := mem.Crash(v)
				db, err := Open("/a", &Options{FS: after})
				if err != nil {
					t.Fatalf("cut before operation %d, %+v: %v", n, v, err)
				}
				appendTurns(t, db, Turn{Role: "user", Content: []byte("x")})
				wellFormed(t, db)
			}
		}
	}
	t.Logf("%d images", images)
}

func put(t *testing.T, m *disk.Mem) {
	t.Helper()
	if err := m.Put("/a", nil); err != nil {
		t.Fatal(err)
	}
}

// TestContextIsObeyed: until the commit, and not after.
func TestContextIsObeyed(t *testing.T) {
	db := open(t, "/a", &Options{FS: disk.NewMem(1)})
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := db.Append(cancelled, Turn{Role: "user"}); !errors.Is(err, context.Canceled) {
		t.Errorf("append: %v", err)
	}
	if s := db.Stats(); s.Turns != 0 {
		t.Errorf("%d turns", s.Turns)
	}
	wellFormed(t, db)
	if _, err := db.Append(ctx, Turn{}); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	if _, err := db.Get(1); !errors.Is(err, ErrClosed) {
		t.Errorf("get after close: %v", err)
	}
	if err := db.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second close: %v", err)
	}
}

func TestLimitsAreNamed(t *testing.T) {
	db := open(t, "/a", &Options{FS: disk.NewMem(1)})
	for _, turn := range []Turn{
		{Key: string(make([]byte, 1<<10+1))},
		{Summary: string(make([]byte, 4<<10+1))},
		{Embedding: make([]float32, 8193)},
	} {
		if _, err := db.Append(ctx, Turn{Content: []byte("fine")}, turn); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v", err)
		}
	}
	if s := db.Stats(); s.Turns != 0 {
		t.Errorf("%d turns", s.Turns)
	}
	wellFormed(t, db)
}

// TestNegativeTokens: fewer than no tokens are refused, whoever counted them;
// they became 0, and such a turn was free in every window.
func TestNegativeTokens(t *testing.T) {
	for name, turn := range map[string]Turn{
		"given":   {Content: []byte("x"), Tokens: -1},
		"empty":   {Tokens: math.MinInt},
		"counted": {Content: []byte("counted as minus two")},
	} {
		o := memOptions(disk.NewMem(1))
		o.Tokenizer = func([]byte) int { return -2 }
		db := open(t, "/a", o)
		_, err := db.Append(ctx, Turn{Content: []byte("fine"), Tokens: 1}, turn)
		var of *BatchError
		if !errors.As(err, &of) || of.Index != 1 {
			t.Errorf("%s: %v", name, err)
		}
		if end, err := db.end(); end != 1 || err != nil {
			t.Errorf("%s: the next turn is %d, %v", name, end, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
