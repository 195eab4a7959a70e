package measure

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

// Allocated is what a file takes on disk: blocks, not its length, since some stores
// allocate lengths that they never write.
func Allocated(path string) (int64, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, fmt.Errorf("stat %s: %w", path, err)
	}
	return st.Blocks * 512, nil
}

// Usage is what this process has used up to now.
type Usage struct {
	CPU        time.Duration
	PeakBytes  int64 // resident, pages of mapped files included
	MajorFault int64
}

// Used tells what this process has used up to now.
func Used() Usage {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return Usage{}
	}
	return Usage{time.Duration(r.Utime.Nano() + r.Stime.Nano()), int64(r.Maxrss) << 10, int64(r.Majflt)}
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

// AnonBytes is memory that is the process's own: no page of any file.
func AnonBytes() int64 { return procField("status", "RssAnon") << 10 }

// DiskReadBytes is what this process has caused to be fetched from disks.
func DiskReadBytes() int64 { return procField("io", "read_bytes") }

// DropCache asks the kernel to forget the pages of a file, or of a folder's
// files. Those not yet written to disk stay, and those that are mapped and in use.
func DropCache(dir string) error {
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

// SyncData is fdatasync.
func SyncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != syscall.EINTR {
			return err
		}
	}
}

// CanDropCache says whether DropCache works here.
const CanDropCache = true
