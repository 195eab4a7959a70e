//go:build !linux

package measure

import (
	"errors"
	"os"
	"time"
)

func Allocated(path string) (int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

type Usage struct {
	CPU        time.Duration
	PeakBytes  int64
	MajorFault int64
}

// Elsewhere these are unknown and reported as 0.
func Used() Usage          { return Usage{} }
func AnonBytes() int64     { return 0 }
func DiskReadBytes() int64 { return 0 }

func DropCache(string) error { return errCold }

var errCold = errors.New("the page cache can be dropped on Linux only")

func SyncData(f *os.File) error { return f.Sync() }

const CanDropCache = false
