package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func allocated(path string) (int64, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, fmt.Errorf("stat %s: %w", path, err)
	}
	return st.Blocks * 512, nil
}

// usage is what this process has used up to now.
type usage struct {
	cpu        time.Duration
	peakBytes  int64 // resident, pages of mapped files included
	majorFault int64
}

func used() usage {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return usage{}
	}
	return usage{time.Duration(r.Utime.Nano() + r.Stime.Nano()), r.Maxrss << 10, r.Majflt}
}

// procField reads a number of a file under /proc/self; 0: not there.
func procField(file, field string) int64 {
	data, err := os.ReadFile("/proc/self/" + file)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(field+":")); ok {
			n, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return n
		}
	}
	return 0
}

// anonBytes is memory that is the process's own: no page of any file.
func anonBytes() int64 { return procField("status", "RssAnon") << 10 }

// diskReadBytes is what this process has caused to be fetched from disks.
func diskReadBytes() int64 { return procField("io", "read_bytes") }

// dropCache asks the kernel to forget the pages of a folder's files. Pages that
// are mapped and were touched stay.
func dropCache(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}

func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != syscall.EINTR {
			return err
		}
	}
}

const canDropCache = true
