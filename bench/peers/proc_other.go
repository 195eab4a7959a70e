//go:build !linux

package main

import (
	"errors"
	"os"
	"time"
)

func allocated(path string) (int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

type usage struct {
	cpu        time.Duration
	peakBytes  int64
	majorFault int64
}

// Elsewhere these are unknown and reported as 0.
func used() usage          { return usage{} }
func anonBytes() int64     { return 0 }
func diskReadBytes() int64 { return 0 }

func dropCache(string) error { return errCold }

var errCold = errors.New("the page cache can be dropped on Linux only")

func syncData(f *os.File) error { return f.Sync() }

const canDropCache = false
