package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
	"ctxdb/segment"
)

// history is a file with many lives, each of which ends in a power cut within
// an append, so that the file is full of turns that were never acknowledged and
// whose ids have other turns now.
type history struct {
	mem   *disk.Mem
	turns []Turn          // of each id, as the last recovery found them
	tried map[string]bool // the content of every turn that was ever tried
	rng   *rand.Rand
}

var errPower = errors.New("power cut")

// live opens the file, appends, and loses power in a write or sync, or after it.
func (h *history) live(t *testing.T) {
	o := Options{FS: h.mem, Inline: true, LogBytes: 32 << 10, LockWait: -1, ReuseDelay: -1}
	db := open(t, "/a", &o)
	h.turns = nil
	for got, err := range db.Turns(1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		h.turns = append(h.turns, got)
	}
	n := 1 + h.rng.IntN(60)
	for i := 0; ; i++ {
		batch := make([]Turn, 1+h.rng.IntN(3))
		for j := range batch {
			batch[j] = makeTurn(h.rng, len(h.turns)+j+1)
			batch[j].Source, batch[j].ReplyKey, batch[j].Key = nil, "", fmt.Sprintf("%x", h.rng.Uint64())
			h.tried[string(batch[j].Content)] = true
		}
		if i == n {
			// The group is written, some of it reaches the disk, and the sync never returns.
			cut := disk.Variant{Mode: disk.Mode(h.rng.IntN(int(disk.Mixed) + 1)), Seed: h.rng.Uint64()}
			var image *disk.Mem
			h.mem.SetHook(func(op disk.Op) error {
				if op.Kind == disk.OpSync && image == nil {
					image = h.mem.Crash(cut)
				}
				return nil
			})
			appendTurns(t, db, batch...)
			h.mem.SetHook(nil)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			h.mem = image
			return
		}
		appendTurns(t, db, batch...)
		h.turns = append(h.turns, batch...)
	}
}

// TestSalvageAfterCrashes: what a crash left over never takes the place of what
// was acknowledged, whatever is damaged.
func TestSalvageAfterCrashes(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	files, wrecks := 10, 8
	if trial.Brief() {
		files, wrecks = 3, 4
	}
	var kept, unconfirmed, older, conflicts int
	for i := range files {
		h := &history{mem: disk.NewMem(uint64(i)), tried: map[string]bool{}, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
		for range 2 + h.rng.IntN(6) {
			h.live(t)
		}
		whole := h.mem.Bytes("/a")
		for j := range wrecks {
			b := bytes.Clone(whole)
			switch j {
			case 0:
			case 1:
				clear(b[:8192])
			case 2:
				zeroMagic(b, "ctxleaf\n", 4096)
			case 3, 4:
				h.cutSegments(t, b)
			default:
				for range h.rng.IntN(20) {
					damage(h.rng, b)
				}
			}
			r := h.salvage(t, b, j < 3)
			kept += int(r.Kept)
			conflicts += len(r.Conflicts)
			each(r.Unconfirmed, func(TurnID) { unconfirmed++ })
			each(r.FromOlderCopies, func(TurnID) { older++ })
		}
	}
	t.Logf("%d kept, %d unconfirmed, %d from older copies, %d conflicts", kept, unconfirmed, older, conflicts)
}

// cutSegments clears live segments from some block on.
func (h *history) cutSegments(t *testing.T, b []byte) {
	db := open(t, "/a", &Options{FS: h.mem, ReadOnly: true})
	defer db.Close()
	for _, s := range db.Stats().Segments {
		if at := s.Offset + h.rng.Int64N(s.Length); h.rng.IntN(2) == 0 {
			clear(b[at : s.Offset+s.Length])
		}
	}
}

func (h *history) salvage(t *testing.T, b []byte, all bool) SalvageReport {
	t.Helper()
	mem := disk.NewMem(1)
	if err := mem.Put("/wreck", b); err != nil {
		t.Fatal(err)
	}
	r, err := SalvageWith(ctx, "/new", "/wreck", SalvageOptions{FS: mem})
	if err != nil {
		if all && len(h.turns) > 0 {
			t.Fatal(err)
		}
		return r
	}
	db := open(t, "/new", &Options{FS: mem})
	defer db.Close()
	doubtful := map[TurnID]bool{}
	each(r.Unconfirmed, func(id TurnID) { doubtful[id] = true })
	for _, c := range r.Conflicts {
		doubtful[c.ID] = true
	}
	n := 0
	for got, err := range db.Turns(1, 0) {
		if err != nil {
			continue
		}
		if !h.tried[string(got.Content)] {
			t.Fatalf("turn %d was invented", got.ID)
		}
		if int(got.ID) <= len(h.turns) && sameTurn(h.turns[got.ID-1], got) == nil {
			n++
			continue
		}
		if doubtful[got.ID] {
			continue
		}
		if int(got.ID) > len(h.turns) {
			t.Fatalf("turn %d of %d was never acknowledged: %+v", got.ID, len(h.turns), r)
		}
		t.Fatalf("turn %d is another one\n%+v", got.ID, r)
	}
	if all && n != len(h.turns) {
		t.Fatalf("%d of %d turns: %+v", n, len(h.turns), r)
	}
	return r
}

// TestSalvageBesideAnotherStory: a segment that a crash left unpublished agrees
// with the live ones up to some turn and differs from there on. It fills holes
// before that, and none behind.
func TestSalvageBesideAnotherStory(t *testing.T) {
	for _, zeroed := range []int{0, 8192} {
		w := makeOriginal(t, 17, 2, 40, 0)
		n := len(w.turns)
		const same = 30 // turns before the stories part
		turns := w.sealed(t)
		other := slices.Clone(turns[:n-5])
		for i := same; i < len(other); i++ {
			s := other[i].Record.Turn
			s.Content = fmt.Appendf(nil, "turn %d, never acknowledged", i+1)
			meta := format.AppendMeta(nil, &s)
			rec, _, err := format.DecodeMeta(meta, 0)
			if err != nil {
				t.Fatal(err)
			}
			other[i] = segment.Turn{Meta: meta, Record: rec, Content: s.Content}
		}
		built, err := segment.Build(segment.Identity{UUID: w.super.UUID, Number: w.segs[0].Number, Nonce: 77, FirstID: 1}, other, segment.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b := append(bytes.Clone(w.bytes), make([]byte, 4096-len(w.bytes)%4096)...)
		b = append(b, built.Bytes...)
		for _, id := range []int{11, same + 20} {
			s := w.blocks[id-1][len(w.blocks[id-1])-1]
			b[s.off+s.len-1] ^= 4
		}
		clear(b[:zeroed])
		r, _ := w.salvageWreck(t, b)
		filled := map[TurnID]bool{}
		each(r.FromOlderCopies, func(id TurnID) { filled[id] = true })
		if !filled[11] || filled[same+20] || r.LostTurns == 0 {
			t.Errorf("%d bytes zeroed: lost %+v, from older copies %+v", zeroed, r.Lost, r.FromOlderCopies)
		}
	}
}

// sealed reads the turns of the file as package segment has them.
func (w *original) sealed(t *testing.T) (turns []segment.Turn) {
	mem := disk.NewMem(1)
	if err := mem.Put("/a", w.bytes); err != nil {
		t.Fatal(err)
	}
	db := open(t, "/a", &Options{FS: mem, ReadOnly: true})
	defer db.Close()
	for _, s := range db.view.Load().segs {
		for turn, err := range s.All(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			turns = append(turns, turn)
		}
	}
	return turns
}

// TestSalvageReadErrors: where the disk fails to read, the rest is kept.
func TestSalvageReadErrors(t *testing.T) {
	w := makeOriginal(t, 21, 3, 40, 20)
	mem := disk.NewMem(2)
	if err := mem.Put("/wreck", w.bytes); err != nil {
		t.Fatal(err)
	}
	b := bytes.Clone(w.bytes)
	bad := [][2]int64{{20480, 24576}, {40960, 45056}}
	for _, s := range bad {
		clear(b[s[0]:s[1]])
	}
	mem.SetHook(func(op disk.Op) error {
		for _, s := range bad {
			if op.Kind == disk.OpRead && op.Name == "/wreck" && op.Off < s[1] && op.Off+int64(op.Len) > s[0] {
				return errPower
			}
		}
		return nil
	})
	r, err := SalvageWith(ctx, "/new", "/wreck", SalvageOptions{FS: mem})
	mem.SetHook(nil)
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, "/new", &Options{FS: mem})
	defer db.Close()
	w.compare(t, db, b, &r)
	if r.Unreadable == 0 || r.LostTurns == 0 {
		t.Errorf("%d bytes unreadable, %d lost", r.Unreadable, r.LostTurns)
	}
}

// TestSalvageWriteErrors: whatever write, sync or link fails, nothing is left.
func TestSalvageWriteErrors(t *testing.T) {
	w := makeOriginal(t, 3, 2, 20, 0)
	for n := int64(1); ; n++ {
		mem := disk.NewMem(3)
		if err := mem.Put("/wreck", w.bytes); err != nil {
			t.Fatal(err)
		}
		in := disk.NewInject(mem)
		in.Add(disk.Rule{Kinds: []disk.Kind{disk.OpWrite, disk.OpSync, disk.OpLink, disk.OpCreateTemp, disk.OpTruncate}, N: n, Err: errPower})
		_, err := SalvageWith(ctx, "/new", "/wreck", SalvageOptions{FS: in})
		if in.Fired() == 0 {
			t.Logf("%d failures", n-1)
			if err != nil || n < 5 {
				t.Fatalf("after %d failures: %v", n-1, err)
			}
			return
		}
		if names := mem.Names(); err != nil && len(names) != 1 {
			t.Fatalf("failure %d: %v, and there are %q", n, err, names)
		} else if err == nil && len(names) != 2 {
			t.Fatalf("failure %d: there are %q", n, names)
		}
	}
}

// FuzzSalvage wrecks a small file as the input says: what is kept is exact.
func FuzzSalvage(f *testing.F) {
	closed, logged := makeOriginal(f, 31, 3, 8, 0), makeOriginal(f, 32, 3, 8, 6)
	f.Add([]byte{})
	f.Add([]byte{1, 0, 0, 0, 255, 0})
	f.Add([]byte{0, 2, 3, 17, 4, 9, 1, 3, 0, 2, 200, 11})
	f.Add([]byte{1, 5, 3, 17, 4, 9, 4, 3, 0, 2, 200, 11, 3, 3, 3, 3, 3})
	f.Fuzz(func(t *testing.T, in []byte) {
		w := closed
		if len(in) > 0 && in[0]&1 == 1 {
			w = logged
		}
		w.salvageWreck(t, mutate(bytes.Clone(w.bytes), in))
	})
}

// mutate changes a file, five bytes of input a change.
func mutate(b, in []byte) []byte {
	for in = in[min(1, len(in)):]; len(in) >= 5 && len(b) > 0; in = in[5:] {
		at := (int(in[1])<<16 | int(in[2])<<8 | int(in[3])) % len(b)
		switch n := min(1<<(in[4]%13), len(b)-at); in[0] % 6 {
		case 0:
			clear(b[at : at+n])
		case 1:
			b[at] ^= 1 << (in[4] % 8)
		case 2:
			for i := at; i < at+n; i++ {
				b[i] = byte(i*7) ^ in[4]
			}
		case 3:
			b = b[:at]
		case 4:
			to := int(in[4]) * 512 % len(b)
			if from := at &^ 511; !isHeader(b[from:]) && !isHeader(b[to:]) {
				copy(b[to:min(to+512, len(b))], bytes.Clone(b[from:]))
			}
		case 5:
			copy(b[at:], "ctxsegm\n")
		}
	}
	return b
}
