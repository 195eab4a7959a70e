package engine

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// TestPiecewiseCopies: a copy is made of pieces of the file, each as it was at
// a later moment than the one before it, while the log is recycled at once.
// Whatever the moments are, it opens with everything that was acknowledged
// before the first of them, or is refused.
func TestPiecewiseCopies(t *testing.T) {
	const seed = 12
	copies := 20000
	if trial.Brief() {
		copies = 3000
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	moments := recordMoments(t, rng)
	opened, refused := 0, 0
	for range copies {
		first := rng.IntN(len(moments))
		at := first
		var file []byte
		for from := 0; from < len(moments[at].file); {
			end := min(from+4096<<rng.IntN(6), len(moments[at].file))
			file = append(file, moments[at].file[from:end]...)
			from = end
			if rng.IntN(3) == 0 {
				at = min(at+rng.IntN(40), len(moments)-1)
			}
		}
		mem := disk.NewMem(1)
		if err := mem.Put("/a", file); err != nil {
			t.Fatal(err)
		}
		if pieceCopyOpens(t, mem, moments[first].acknowledged) {
			opened++
		} else {
			refused++
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d moments, %d copies opened, %d refused", len(moments), opened, refused)
	if opened == 0 || refused == 0 {
		t.Error("the copies were all of one sort")
	}
}

// moment is the file in the page cache before an operation.
type moment struct {
	file         []byte
	acknowledged int
}

func recordMoments(t *testing.T, rng *rand.Rand) (moments []moment) {
	t.Helper()
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, Inline: true, LogBytes: 16 << 10, ReuseDelay: -1, Sync: SyncNever})
	acknowledged := 0
	mem.SetHook(func(op disk.Op) error {
		if op.Kind != disk.OpWrite && op.Kind != disk.OpTruncate {
			return nil
		}
		file := mem.Bytes("/a")
		moments = append(moments, moment{file, acknowledged})
		// A write is not atomic to who reads beside it: it comes page by page.
		for n := 4096; n < len(op.Data); n += 4096 {
			partly := append(bytes.Clone(file), make([]byte, max(0, int(op.Off)+n-len(file)))...)
			copy(partly[op.Off:], op.Data[:n])
			moments = append(moments, moment{partly, acknowledged})
		}
		return nil
	})
	for i := range 250 {
		appendTurns(t, db, Turn{Role: "user", Content: bytes.Repeat([]byte("piece "), 1+rng.IntN(400))})
		acknowledged = i + 1
	}
	mem.SetHook(nil)
	wellFormed(t, db)
	return moments
}

func pieceCopyOpens(t *testing.T, mem *disk.Mem, acknowledged int) bool {
	t.Helper()
	db, err := Open("/a", &Options{FS: mem, ReadOnly: true})
	if err != nil {
		if !isDamage(err) {
			t.Errorf("refused as %v", err)
		}
		return false
	}
	defer db.Close()
	if n := db.Stats().Turns; n < uint64(acknowledged) {
		t.Errorf("a copy with %d turns, %d were acknowledged before it began", n, acknowledged)
	}
	return true
}
