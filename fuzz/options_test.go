package fuzz

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"ctxdb/engine"
	"ctxdb/format/disk"
)

const path = "/dir/a.ctxdb"

// optionSet is one way of running a history.
type optionSet struct {
	Name       string
	LogBytes   int64
	Background bool // seal in the background; not deterministic
	Sync       engine.SyncPolicy
	Rest       time.Duration // 0: freed space is reused at once
	Embedder   engine.Embedder
}

// optionSets: the first is the harshest one that is deterministic.
var optionSets = []optionSet{
	{Name: "log of 16 KiB", LogBytes: 16 << 10},
	{Name: "log of 32 KiB", LogBytes: 32 << 10},
	{Name: "log of 16 KiB, synced on demand", LogBytes: 16 << 10, Sync: engine.SyncNever},
	{Name: "log of 64 KiB, freed space rests", LogBytes: 64 << 10, Rest: time.Hour},
	{Name: "log of 16 KiB, sealed in the background", LogBytes: 16 << 10, Background: true},
}

// options are those of one life. Each life has random numbers of its own.
func (s *optionSet) options(fs disk.FS, seed uint64, life int) *engine.Options {
	o := &engine.Options{
		FS: fs, Embedder: s.Embedder, Inline: !s.Background, LogBytes: s.LogBytes, Sync: s.Sync, ReuseDelay: s.Rest, LockWait: -1,
		Now: func() time.Time { return time.Unix(1_750_000_000, 0) },
	}
	if s.Rest == 0 {
		o.ReuseDelay = -1
	}
	o.Entropy = randomBytes(seed, uint64(life))
	return o
}

func (s *optionSet) durable() bool { return s.Sync != engine.SyncNever }

func randomBytes(words ...uint64) *rand.ChaCha8 {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return rand.NewChaCha8(sha256.Sum256(b))
}

// reading are the options of who only reads.
func reading(fs disk.FS) *engine.Options { return &engine.Options{FS: fs, ReadOnly: true} }
