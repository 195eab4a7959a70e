//go:build !linux

package disk

// syncData uses F_FULLFSYNC on macOS, where fsync alone leaves the bytes in the
// drive's cache, and FlushFileBuffers on Windows.
func syncData(o *osFile) error { return o.f.Sync() }
