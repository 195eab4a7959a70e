package disk

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Resolve implements FS. It is no operation: no hook sees it.
func (m *Mem) Resolve(path string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, err := m.follow(path)
	if err != nil {
		return "", pathError("resolve", path, err)
	}
	return name, nil
}

// follow returns the first name that is not a symbolic link. REQUIRES: m.mu.
func (m *Mem) follow(path string) (string, error) {
	if path == "" {
		return "", fs.ErrNotExist
	}
	name := filepath.Clean(path)
	for range maxLinks {
		e, ok := m.now[name]
		if !ok || e.node != nil {
			return name, nil
		}
		if filepath.IsAbs(e.target) {
			name = filepath.Clean(e.target)
		} else {
			name = filepath.Join(filepath.Dir(name), e.target)
		}
	}
	return "", errTooManyLinks
}

// Symlink makes path a symbolic link to target, durable at once.
func (m *Mem) Symlink(target, path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := filepath.Clean(path)
	if _, taken := m.now[name]; taken {
		return linkError(target, path, fs.ErrExist)
	}
	m.bind(name, entry{target: target})
	m.durable[name] = entry{target: target}
	return nil
}

// Rename moves a name over another, durable at once: what a foreign program
// does to a file under an open handle.
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to = filepath.Clean(from), filepath.Clean(to)
	e, ok := m.now[from]
	if !ok {
		return linkError(from, to, fs.ErrNotExist)
	}
	if from == to {
		return nil
	}
	m.bind(to, e)
	m.unbind(from)
	m.durable[to] = e
	delete(m.durable, from)
	return nil
}

// Put makes data the durable content of path, and path a durable name. A file
// that is there keeps its inode, so open handles see the new bytes.
func (m *Mem) Put(path string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, err := m.follow(path)
	if err != nil {
		return pathError("put", path, err)
	}
	if int64(len(data)) > MaxMemFile {
		return pathError("put", path, errFileTooLarge)
	}
	e, ok := m.now[name]
	if !ok {
		e = entry{node: m.create(name)}
	}
	m.durable[name] = e
	n := e.node
	n.now.resize(0)
	n.now.writeAt(slices.Clone(data), 0)
	n.durable, n.pending, n.lied = n.now.clone(), nil, false
	return nil
}

// Bytes returns a copy of what reads of path see now; nil when there is no such
// file.
func (m *Mem) Bytes(path string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(path)
	if err != nil {
		return nil
	}
	return n.now.bytes()
}

// DurableBytes returns a copy of the bytes of path that no crash can take; nil
// when there is no such file.
func (m *Mem) DurableBytes(path string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(path)
	if err != nil {
		return nil
	}
	return n.durable.bytes()
}

// Names returns all current names, sorted.
func (m *Mem) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.now))
}

func linkError(from, to string, err error) error {
	return &os.LinkError{Op: "link", Old: from, New: to, Err: err}
}
