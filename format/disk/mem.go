package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// MaxMemFile is the largest size, in bytes, of a file of Mem.
const MaxMemFile = 1 << 32

// Mem is a file system in memory that can lose power. It keeps the durable
// state of each file and directory apart from what reads see, and remembers
// each unsynced change, so that Crash can keep any part of them.
//
// Directories exist as soon as a name in them is used. Names may be symbolic
// links (Symlink), in their last element only. Safe for concurrent use.
type Mem struct {
	mu      sync.Mutex
	seed    uint64
	ops     int64
	hook    Hook
	process int64 // counts restarts: handles of an older process are dead

	// invariant: inode.links is the number of entries in now that lead to it.
	now       map[string]entry // what Open sees, by clean path
	durable   map[string]entry // what a crash leaves at least
	lastInode uint64
	lastTemp  uint64
}

var _ FS = (*Mem)(nil)

// entry is a name in a directory: of a file, or of a symbolic link.
type entry struct {
	node   *inode // nil for a symbolic link
	target string
}

// inode is a file, apart from its names.
type inode struct {
	num     uint64
	links   int
	now     image    // the page cache
	durable image    // the medium
	pending []change // since the last sync, oldest first
	lied    bool     // a sync failed: now is not durable plus pending any more
	holder  *memFile // who has the lock
}

// NewMem returns an empty file system. The seed is mixed into every draw of
// Crash and into the names of temporaries.
func NewMem(seed uint64) *Mem {
	return &Mem{seed: seed, now: make(map[string]entry), durable: make(map[string]entry)}
}

// SetHook sets the function called before each operation; nil removes it.
func (m *Mem) SetHook(h func(op Op) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hook = h
}

// Ops returns how many operations there were.
func (m *Mem) Ops() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ops
}

// before counts the operation and asks the hook. REQUIRES: m.mu not held, so
// that the hook may use m.
func (m *Mem) before(op Op) error {
	m.mu.Lock()
	m.ops++
	op.N = m.ops
	hook := m.hook
	m.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(op)
}

// Open implements FS.
func (m *Mem) Open(path string, write bool) (File, error) {
	if err := m.before(Op{Kind: OpOpen, Name: path}); err != nil {
		return nil, pathError("open", path, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	node, err := m.lookup(path)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return &memFile{mem: m, node: node, path: path, write: write, process: m.process}, nil
}

// CreateTemp implements FS.
func (m *Mem) CreateTemp(path string) (File, string, error) {
	if err := m.before(Op{Kind: OpCreateTemp, Name: path}); err != nil {
		return nil, "", pathError("createtemp", path, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name := m.tempName(filepath.Clean(path))
	node := m.create(name)
	return &memFile{mem: m, node: node, path: name, write: true, process: m.process}, name, nil
}

// tempName draws the next free name. REQUIRES: m.mu.
func (m *Mem) tempName(path string) string {
	for {
		m.lastTemp++
		random := fmt.Sprintf("%x-%d", m.seed, m.lastTemp)
		name := filepath.Join(filepath.Dir(path), strings.Replace(tempPattern(path), "*", random, 1))
		if _, taken := m.now[name]; !taken {
			return name
		}
	}
}

// create makes an empty file under a name that is free. REQUIRES: m.mu.
func (m *Mem) create(name string) *inode {
	m.lastInode++
	node := &inode{num: m.lastInode, now: newImage(), durable: newImage()}
	m.bind(name, entry{node: node})
	return node
}

// bind makes name lead to e in the current state. REQUIRES: m.mu.
func (m *Mem) bind(name string, e entry) {
	m.unbind(name)
	m.now[name] = e
	if e.node != nil {
		e.node.links++
	}
}

func (m *Mem) unbind(name string) {
	if old, ok := m.now[name]; ok && old.node != nil {
		old.node.links--
	}
	delete(m.now, name)
}

// Link implements FS.
func (m *Mem) Link(tmp, path string) error {
	if err := m.before(Op{Kind: OpLink, Name: path}); err != nil {
		return skipped(linkError(tmp, path, err))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	from, ok := m.now[filepath.Clean(tmp)]
	if !ok {
		return linkError(tmp, path, fs.ErrNotExist)
	}
	to := filepath.Clean(path)
	if _, taken := m.now[to]; taken || m.isDir(to) {
		return linkError(tmp, path, fs.ErrExist)
	}
	m.bind(to, from)
	return nil
}

// Remove implements FS.
func (m *Mem) Remove(path string) error {
	if err := m.before(Op{Kind: OpRemove, Name: path}); err != nil {
		return skipped(pathError("remove", path, err))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name := filepath.Clean(path)
	if _, ok := m.now[name]; !ok {
		return pathError("remove", path, fs.ErrNotExist)
	}
	m.unbind(name)
	return nil
}

// SyncDir implements FS. As a real directory sync does, it makes all entries of
// path's directory durable.
func (m *Mem) SyncDir(path string) error {
	if err := m.before(Op{Kind: OpSyncDir, Name: path}); err != nil {
		return skipped(pathError("syncdir", path, err))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := filepath.Dir(filepath.Clean(path))
	for name := range m.durable {
		if filepath.Dir(name) == dir {
			delete(m.durable, name)
		}
	}
	for name, e := range m.now {
		if filepath.Dir(name) == dir {
			m.durable[name] = e
		}
	}
	return nil
}

// skipped turns the hook's SkipOp into success.
func skipped(err error) error {
	if errors.Is(err, SkipOp) {
		return nil
	}
	return err
}

func pathError(op, path string, err error) error {
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// isDir reports whether some name lies below this one. REQUIRES: m.mu.
func (m *Mem) isDir(name string) bool {
	if name == "." || name == string(filepath.Separator) {
		return true
	}
	for other := range m.now {
		if strings.HasPrefix(other, name+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// lookup finds the file of a path through symbolic links. REQUIRES: m.mu.
func (m *Mem) lookup(path string) (*inode, error) {
	name, err := m.follow(path)
	if err != nil {
		return nil, err
	}
	if e, ok := m.now[name]; ok {
		return e.node, nil
	}
	if m.isDir(name) {
		return nil, syscall.EISDIR
	}
	return nil, fs.ErrNotExist
}
