package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"ctxdb/format/disk"
)

// ErrNothingSalvaged: no turn could be read from the wreck; nothing was written.
var ErrNothingSalvaged = errors.New("nothing could be salvaged")

// SalvageOptions of SalvageWith. The zero value of each field is its default.
type SalvageOptions struct {
	Logger *slog.Logger // nil: silent
	// Progress is told how far a stage, "scan" or "copy", has come, in bytes of
	// the wreck and in ids. It is called from the goroutine of SalvageWith.
	Progress func(stage string, done, total int64)

	// For tests, as in Options.
	FS      disk.FS
	Entropy io.Reader
	Now     func() time.Time
}

// SalvageReport says what Salvage found, kept and lost. Offsets are absolute in
// the wreck, in bytes.
type SalvageReport struct {
	Src  string `json:"src"`
	Dst  string `json:"dst"`
	UUID string `json:"uuid"` // of the wreck; the new file has one of its own
	Live bool   `json:"live"` // a writer held the wreck meanwhile: copy the file when it is closed

	Kept       uint64      `json:"kept"` // turns
	LostTurns  uint64      `json:"lost_turns"`
	NextID     TurnID      `json:"next_id"` // ids below it were given, or may have been
	KeptRanges []IDRange   `json:"kept_ranges"`
	Lost       []LostTurns `json:"lost"`

	Unconfirmed     []IDRange   `json:"unconfirmed"`       // kept, whole, but above every promise: perhaps never acknowledged
	FromOlderCopies []IDRange   `json:"from_older_copies"` // kept, their newest copy is damaged
	SourcesLost     []LostTurns `json:"sources_lost"`      // kept, without the record they came in
	Conflicts       []Conflict  `json:"conflicts"`

	Superblocks  int   `json:"superblocks"`      // valid, of two
	Segments     int   `json:"segments"`         // in the catalog or found by their headers
	OldSegments  int   `json:"old_segments"`     // of these: named by no superblock
	Frames       int   `json:"frames"`           // whole headers of log frames with turns
	Foreign      int   `json:"foreign"`          // structures of another file, ignored
	ShiftedBytes int64 `json:"shifted_bytes"`    // the file began here, not at 0
	Unreadable   int64 `json:"unreadable_bytes"` // where the disk failed
	FileBytes    int64 `json:"file_bytes"`
	ScannedBytes int64 `json:"scanned_bytes"` // of the file's, each counted once
	// UnknownFeatures of the wreck are bits that no feature of this program has, in hex: what
	// they stand for is not in the new file. "": none.
	UnknownFeatures string        `json:"unknown_features,omitempty"`
	Took            time.Duration `json:"took_ns"`
}

// IDRange is Count ids from First on.
type IDRange struct {
	First TurnID `json:"first"`
	Count uint64 `json:"count"`
}

// LostTurns is a range of ids and why it is lost.
type LostTurns struct {
	IDRange
	Reason string `json:"reason"`
	Offset int64  `json:"offset"` // of the damage, where there is one
}

// Conflict is a turn of which two whole copies differ, and nothing says which
// one was acknowledged.
type Conflict struct {
	ID    TurnID `json:"id"`
	Kept  string `json:"kept"`
	Other string `json:"other"`
}

// Salvage copies every turn that can still be read and proves itself from the
// file src into a new file dst. It works without superblocks, catalog, indexes
// or headers, finds segments and log frames by their structure, and never
// writes to src. dst must not exist, and appears only once it is whole and
// durable. Turns keep their ids; ids of lost turns answer ErrCorrupt.
//
// The error is ErrNothingSalvaged or ErrNotCtxdb where there is no turn,
// ErrVersion for a newer program's file, fs.ErrExist for a dst that is there,
// or one of the file system; dst does not exist then.
func Salvage(ctx context.Context, dst, src string) (SalvageReport, error) {
	return SalvageWith(ctx, dst, src, SalvageOptions{})
}

// SalvageWith is Salvage with options.
func SalvageWith(ctx context.Context, dst, src string, o SalvageOptions) (SalvageReport, error) {
	start := time.Now()
	opts := (&Options{FS: o.FS, Logger: o.Logger, Entropy: o.Entropy, Now: o.Now, ReuseDelay: -1}).withDefaults()
	r := SalvageReport{
		Src: src, Dst: dst, KeptRanges: []IDRange{}, Lost: []LostTurns{}, Unconfirmed: []IDRange{},
		FromOlderCopies: []IDRange{}, SourcesLost: []LostTurns{}, Conflicts: []Conflict{},
	}
	err := salvage(ctx, &r, &opts, o.Progress)
	r.Took = time.Since(start)
	if err != nil {
		return r, fmt.Errorf("salvage %s: %w", src, err)
	}
	opts.Logger.Info("salvage", "src", src, "dst", dst, "kept", r.Kept, "lost", r.LostTurns, "took", r.Took)
	return r, nil
}

func salvage(ctx context.Context, r *SalvageReport, o *Options, progress func(string, int64, int64)) error {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	dst, err := freeName(o.FS, r.Dst)
	if err != nil {
		return err
	}
	f, err := o.FS.Open(r.Src, false)
	if err != nil {
		return err
	}
	defer f.Close()
	r.Live, _ = f.LockedByOther() // without locks nobody can tell
	w, err := newWreck(f, r.Src)
	if err != nil {
		return err
	}
	w.progress = func(done, total int64) { progress("scan", done, total) }
	found, err := explore(ctx, w, r)
	if err != nil {
		return err
	}
	m := newMerge(found, r)
	m.progress = func(done, total int64) { progress("copy", done, total) }
	err = writeSalvaged(ctx, o, dst, m)
	r.Unreadable = w.unreadable
	return err
}

// freeName resolves dst, where no file may be yet.
func freeName(fsys disk.FS, dst string) (string, error) {
	path, err := fsys.Resolve(dst)
	if err != nil {
		return "", err
	}
	f, err := fsys.Open(path, false)
	if err == nil {
		_ = f.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w; salvage writes a new file only", dst, fs.ErrExist)
	}
	return path, nil
}

// addID extends the last range by an id, or begins a new one.
func addID(all []IDRange, id uint64) []IDRange {
	if n := len(all); n > 0 && uint64(all[n-1].First)+all[n-1].Count == id {
		all[n-1].Count++
		return all
	}
	return append(all, IDRange{First: TurnID(id), Count: 1})
}

// addLost extends the last range where it has the same reason.
func addLost(all []LostTurns, first, count uint64, reason string, offset int64) []LostTurns {
	if n := len(all); n > 0 && uint64(all[n-1].First)+all[n-1].Count == first && all[n-1].Offset == offset && all[n-1].Reason == reason {
		all[n-1].Count += count
		return all
	}
	return append(all, LostTurns{IDRange: IDRange{First: TurnID(first), Count: count}, Reason: reason, Offset: offset})
}
