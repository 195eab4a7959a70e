package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/klauspost/compress/zstd"

	"ctxdb/bench/internal/measure"
	"ctxdb/engine"
)

// The floors: what the work costs when only the system calls, or only the
// decoding, that it needs at least are done.

// syncFloor overwrites zero-filled space and syncs, as a log does.
type syncFloor struct {
	f  *os.File
	at int64
}

const syncFloorBytes = 4 << 20

func newSyncFloor(dir string) (*syncFloor, error) {
	f, err := openFile(dir, "floor")
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(make([]byte, syncFloorBytes), 0); err != nil {
		return nil, err
	}
	return &syncFloor{f: f}, f.Sync()
}

func (s *syncFloor) append(p []byte) error {
	p = p[:min(len(p), syncFloorBytes)]
	if s.at+int64(len(p)) > syncFloorBytes {
		s.at = 0
	}
	if _, err := s.f.WriteAt(p, s.at); err != nil {
		return err
	}
	s.at += int64(len(p)+7) &^ 7
	return measure.SyncData(s.f)
}

func (s *syncFloor) Close() error { return s.f.Close() }

// importFloors are imports that keep nothing one could find again.
var importFloors = []peer{
	{name: "floor-write", note: "the contents one behind the other, fdatasync after each batch", open: func(dir string, _ int) (store, error) {
		f, err := openFile(dir, "floor")
		return &bareImport{f: f}, err
	}},
	{name: "floor-zstd", note: "the same, compressed by one goroutine in blocks of 4 KiB, level default, with a dictionary of 112 KiB of each batch", open: func(dir string, _ int) (store, error) {
		f, err := openFile(dir, "floor")
		return &bareImport{f: f, compress: true}, err
	}},
	{name: "floor-whole", note: "one zstd stream over everything, its best level, a window of 4 MiB: how small it can get where nothing has to be found", open: openWhole},
}

var errFloor = errors.New("a floor keeps nothing that can be read")

type bareImport struct {
	f        *os.File
	compress bool
	at       int64
	buf      []byte
	packed   []byte
}

func (s *bareImport) Append(turns []engine.Turn) error {
	s.buf = s.buf[:0]
	for i := range turns {
		s.buf = appendRecord(s.buf, &turns[i])
	}
	out := s.buf
	if s.compress {
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithEncoderDictRaw(1, s.buf[:min(len(s.buf), 112<<10)]))
		if err != nil {
			return fmt.Errorf("encoder: %w", err)
		}
		s.packed = s.packed[:0]
		for rest := s.buf; len(rest) > 0; {
			n := min(len(rest), 4096)
			s.packed = enc.EncodeAll(rest[:n], s.packed)
			rest = rest[n:]
		}
		out = s.packed
	}
	if _, err := s.f.WriteAt(out, s.at); err != nil {
		return err
	}
	s.at += int64(len(out))
	return measure.SyncData(s.f)
}

func (s *bareImport) Content(dst []byte, _ uint64) ([]byte, error) { return dst, errFloor }
func (s *bareImport) Lookup(string) (uint64, error)                { return 0, errFloor }
func (s *bareImport) Scan(func([]byte)) error                      { return errFloor }
func (s *bareImport) Close() error                                 { return s.f.Close() }

// wholeImport is one zstd stream.
type wholeImport struct {
	bareImport
	enc *zstd.Encoder
}

func openWhole(dir string, _ int) (store, error) {
	f, err := openFile(dir, "floor")
	if err != nil {
		return nil, err
	}
	enc, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(4<<20), zstd.WithEncoderConcurrency(1))
	return &wholeImport{bareImport: bareImport{f: f}, enc: enc}, err
}

func (s *wholeImport) Append(turns []engine.Turn) error {
	s.buf = s.buf[:0]
	for i := range turns {
		s.buf = appendRecord(s.buf, &turns[i])
	}
	_, err := s.enc.Write(s.buf)
	return err
}

func (s *wholeImport) Close() error {
	if err := s.enc.Close(); err != nil {
		return err
	}
	if err := measure.SyncData(s.f); err != nil {
		return err
	}
	return s.f.Close()
}
