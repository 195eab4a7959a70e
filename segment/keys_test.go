package segment_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxdb/format"
	"ctxdb/segment"
)

func run(t testing.TB, entries []format.KeyEntry) *segment.Run {
	t.Helper()
	b := segment.BuildRun(testUUID, 99, slices.Clone(entries))
	e := format.RunEntry{Offset: 8192, Length: int64(len(b)), FirstID: 1, EndID: 1 << 40, Nonce: 99, Keys: uint64(len(entries)), Level: 1}
	f, path := onDisk(t, b, 8192)
	r := segment.OpenRun(f, path, testUUID, e, segment.OpenOptions{})
	t.Cleanup(r.Close)
	return r
}

func TestFindKeyAmongCollisions(t *testing.T) {
	var entries []format.KeyEntry
	want := map[uint64][]uint64{}
	id := uint64(0)
	add := func(hash uint64, n int) {
		for range n {
			id++
			entries = append(entries, format.KeyEntry{Hash: hash, ID: id})
			want[hash] = append(want[hash], id)
		}
	}
	add(0, 300) // more than a page of one hash, at both ends and in the middle
	add(^uint64(0), 600)
	add(1<<63, 511)
	add(1<<63+1, 1)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		add(rng.Uint64(), 1)
	}
	for i := range uint64(3000) { // crowded: interpolation is misled
		add(1<<62+i*7, 1)
	}
	r := run(t, entries)
	for hash, ids := range want {
		got, err := r.FindKey(hash, nil)
		if err != nil || !slices.Equal(got, ids) {
			t.Fatalf("hash %x: %d ids, want %d: %v", hash, len(got), len(ids), err)
		}
		if _, there := want[hash+3]; !there {
			if got, err := r.FindKey(hash+3, nil); err != nil || len(got) != 0 {
				t.Fatalf("absent hash: %v, %v", got, err)
			}
		}
	}
	n := 0
	for _, err := range r.Keys() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != len(entries) {
		t.Fatalf("%d of %d entries", n, len(entries))
	}
	if err := r.Verify(context.Background(), func(f segment.Finding) bool { t.Errorf("%+v", f); return true }); err != nil {
		t.Fatal(err)
	}
}

func TestRunSizes(t *testing.T) {
	for _, n := range []int{0, 1, 254, 255, 256, 510, 511} {
		var entries []format.KeyEntry
		for i := range n {
			entries = append(entries, format.KeyEntry{Hash: format.HashKey(fmt.Sprint(i)), ID: uint64(i) + 1})
		}
		r := run(t, entries)
		for _, e := range entries {
			if got, err := r.FindKey(e.Hash, nil); err != nil || !slices.Equal(got, []uint64{e.ID}) {
				t.Fatalf("%d entries: %v, %v", n, got, err)
			}
		}
		if got, err := r.FindKey(12345, nil); err != nil || len(got) > 0 {
			t.Fatalf("%d entries: absent key: %v, %v", n, got, err)
		}
	}
}

func TestRunDamage(t *testing.T) {
	var entries []format.KeyEntry
	for i := range 600 {
		entries = append(entries, format.KeyEntry{Hash: format.HashKey(fmt.Sprint(i)), ID: uint64(i) + 1})
	}
	whole := segment.BuildRun(testUUID, 99, slices.Clone(entries))
	e := format.RunEntry{Length: int64(len(whole)), FirstID: 1, EndID: 601, Nonce: 99, Keys: 600, Level: 1}
	for at := 0; at < len(whole); at += 97 {
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x10
		r := segment.OpenRun(memory(t, damaged), "m", testUUID, e, segment.OpenOptions{})
		for _, entry := range entries {
			if got, err := r.FindKey(entry.Hash, nil); err == nil && !slices.Equal(got, []uint64{entry.ID}) {
				t.Fatalf("damage at %d: wrong answer %v", at, got)
			}
		}
		found := 0
		_ = r.Verify(context.Background(), func(segment.Finding) bool { found++; return true })
		if found == 0 {
			t.Fatalf("damage at %d: nothing found", at)
		}
	}
}
