// Package disk is the small file interface through which the log, the
// segments and the engine reach the disk. It knows nothing about the ctxdb
// format: bytes at offsets, one lock, one sync, and names in directories.
//
// # What it is
//
// [FS] opens, creates, links and removes names; [File] reads and writes at
// offsets and says when bytes are durable. There are three of each:
//
//   - [OS] is the machine's own file system. Sync is fdatasync on Linux and
//     [os.File.Sync] elsewhere (F_FULLFSYNC on macOS).
//   - [Mem] is its twin in memory. It keeps what is durable apart from what
//     is only in the page cache, and [Mem.Crash] makes the image that a power
//     cut at this instant could leave.
//   - [Inject] wraps either and makes chosen operations fail.
//
// # The nouns
//
//   - durable bytes: what the last successful sync promised. They survive.
//   - page cache: what reads see now. It survives a restart of the process
//     ([Mem.Restart]) and is lost, kept or torn by a power cut.
//   - sector: 512 bytes, the unit in which unsynced bytes reach the medium. A
//     sector shows one of the versions it had since the last sync.
//   - entry: a name in a directory. It is durable after SyncDir, not before.
//   - hook: a function called before each operation, which may let it pass,
//     fail it, cut it short, or skip it while reporting success.
//
// # What bites
//
//   - The page cache lies after a failed sync: the bytes stay readable, a
//     later sync returns nil, and they are still not durable. Only bytes
//     written again are. [FailedSync] models this; no caller may sync again
//     and hope.
//   - The lock is advisory and belongs to one open file. Within one process
//     the second TryLock on an inode fails through whatever name it came. On
//     network file systems that emulate it with byte range locks, closing any
//     other handle of the same file may release it.
//   - LockedByOther holds a shared lock for an instant, so a TryLock in that
//     instant sees ErrWouldBlock once. Whoever locks waits a little and retries.
//   - Reads through a mapping pass by every hook and injector. [Mem] offers no
//     mapping, and [Inject.ForbidMapping] hides that of [OS].
package disk
