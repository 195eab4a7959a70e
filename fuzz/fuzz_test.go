package fuzz

import (
	"encoding/binary"
	"runtime/metrics"
	"testing"

	"ctxdb/engine"
	"ctxdb/format"
	"ctxdb/format/disk"
)

// FuzzHistory plays histories drawn from bytes, with crashes, under each of the
// deterministic option sets.
func FuzzHistory(f *testing.F) {
	for seed := range uint64(6) {
		b := make([]byte, 200)
		randomBytes(seed).Read(b)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 2 || len(b) > 2000 {
			return
		}
		p := newPlayer(uint64(b[0]), &optionSets[b[1]%4])
		if err := p.play(history(&tape{b[2:]}, min(60, len(b)/4), true)); err != nil {
			t.Error(err)
		}
	})
}

// FuzzOpen reads files of any bytes. Superblocks get a right checksum, so that
// what they say is looked at. Memory is bounded.
func FuzzOpen(f *testing.F) {
	for _, turns := range []int{3, 20} {
		b, err := closedFile(turns)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, true)
	}
	v, err := makeVictim(14, false) // has a log
	if err != nil {
		f.Fatal(err)
	}
	f.Add(v.bytes, true) // whole: one that is shorter than its superblock says is refused
	f.Add([]byte{}, false)
	f.Add(make([]byte, 12288), true)
	f.Fuzz(func(t *testing.T, b []byte, reseal bool) {
		if len(b) > 1<<20 {
			return
		}
		b = append([]byte(nil), b...)
		if reseal {
			resealSlots(b)
		}
		before := allocated()
		readHostile(t, b)
		if n := allocated() - before; n > hostileBytes {
			t.Errorf("%d bytes were allocated for a file of %d", n, len(b))
		}
	})
}

// closedFile is a small file without a log.
func closedFile(turns int) ([]byte, error) {
	p := newPlayer(3, &optionSets[0])
	var ops []operation
	for i := range turns {
		ops = append(ops, appendOp{{size: small, kind: drawKind(seeded(uint64(i))), pick: i}})
	}
	if err := p.play(ops); err != nil {
		return nil, err
	}
	err := p.db.Close()
	return p.mem.Bytes(path), err
}

// hostileBytes bounds what is allocated, all in all, to read a file of any bytes
// in every way and to append to it: no length that a file claims is believed.
// Nearly all of it are the tables of compressors and the log's zeros.
const hostileBytes = 256 << 20

// allocated is what this process has allocated so far, in bytes.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// readHostile opens a file, reads all it claims to have, within bounds, and
// opens it for writing. What comes is a turn or an error, never a panic.
func readHostile(t *testing.T, b []byte) {
	mem := disk.NewMem(1)
	if err := mem.Put(path, b); err != nil {
		t.Fatal(err)
	}
	if loads(mem) == nil {
		db, err := engine.Open(path, reading(mem))
		if err == nil {
			readSome(t, db)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	db, err := engine.Open(path, optionSets[0].options(mem, 1, 1))
	if err != nil {
		return
	}
	readSome(t, db)
	before := db.Stats().NextID
	ids, err := db.Append(ctx, engine.Turn{Role: "user", Content: []byte("one more")})
	if err == nil && ids[0] != before {
		t.Errorf("id %d where %d is next", ids[0], before)
	}
	if err == nil {
		if got, err := db.Get(ids[0]); err != nil || string(got.Content) != "one more" {
			t.Errorf("appended and read: %q, %v", got.Content, err)
		}
	}
	_ = db.Close() // a damaged file may be refused here too
}

func readSome(t *testing.T, db *engine.DB) {
	n := 0
	for turn, err := range db.Turns(1, 0) {
		if err == nil {
			_, _ = db.Source(turn.ID)
			_, _ = db.Lookup(turn.Key)
		} else if !proper(err) {
			t.Errorf("turn %d: %v", turn.ID, err)
		}
		if n++; n > 500 {
			break
		}
	}
	n = 0
	for finding, err := range db.Verify(ctx) {
		if err != nil || finding.Err == nil {
			t.Errorf("verify: %+v, %v", finding, err)
		}
		if n++; n > 500 {
			break
		}
	}
}

// resealSlots gives both slots the checksum of what they hold.
func resealSlots(b []byte) {
	for _, slot := range []int{format.SlotA, format.SlotB} {
		if len(b) < slot+format.SuperblockSize {
			return
		}
		s := b[slot : slot+format.SuperblockSize]
		sum := format.Bind(format.UUID(s[40:56]), format.KindSuperblock, binary.LittleEndian.Uint64(s[56:]), uint64(slot), format.Hash(s[:4088]))
		binary.LittleEndian.PutUint64(s[4088:], sum)
	}
}
