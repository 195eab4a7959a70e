package disk

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// Crash returns what a power cut now could leave: the durable bytes and names,
// and of everything since then what the variant keeps. The image has no locks,
// no handles, no hook and a counter of 0; it and m share nothing that either
// could change. m itself goes on as if nothing had happened.
//
// Bytes lost by a failed sync (FailedSync) are not in the image under any
// variant, unless they were written again.
func (m *Mem) Crash(v Variant) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	rng := m.rng(v)
	left := NewMem(m.seed)
	left.lastInode, left.lastTemp = m.lastInode, m.lastTemp
	nodes := make(map[*inode]*inode, len(m.now))
	for _, name := range m.names() {
		e, ok := m.survivor(name, v.Mode, rng)
		if !ok {
			continue
		}
		if e.node != nil {
			node := nodes[e.node]
			if node == nil {
				node = e.node.crash(v.Mode, rng)
				nodes[e.node] = node
			}
			node.links++
			e.node = node
		}
		left.now[name], left.durable[name] = e, e
	}
	return left
}

// rng makes all draws of one variant. Equal calls give equal draws.
func (m *Mem) rng(v Variant) *rand.Rand {
	return rand.New(rand.NewPCG(m.seed, v.Seed<<8|uint64(v.Mode)))
}

// names returns current and durable names in a fixed order. REQUIRES: m.mu.
func (m *Mem) names() []string {
	names := make([]string, 0, len(m.now)+1)
	for name := range m.now {
		names = append(names, name)
	}
	for name := range m.durable {
		if _, ok := m.now[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// survivor returns where name leads after the crash. Each name whose directory
// was not synced since it changed is the old or the new one, on its own.
func (m *Mem) survivor(name string, mode Mode, rng *rand.Rand) (entry, bool) {
	old, hadOld := m.durable[name]
	now, hasNow := m.now[name]
	switch {
	case old == now && hadOld == hasNow, mode == KeepNone:
		return old, hadOld
	case mode == KeepAll || rng.IntN(2) == 0:
		return now, hasNow
	}
	return old, hadOld
}

func (n *inode) crash(mode Mode, rng *rand.Rand) *inode {
	left := &inode{num: n.num}
	if mode == KeepAll && !n.lied {
		left.durable = n.now.clone()
	} else {
		left.durable = tear(&n.durable, n.pending, mode, rng)
	}
	left.now = left.durable.clone()
	return left
}

// Restart ends the process and starts it again on the same machine: handles
// return ErrCrashed, locks are gone, files without a name too; the page cache
// and what is not durable in it stay as they are.
func (m *Mem) Restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.process++
	for _, entries := range []map[string]entry{m.now, m.durable} {
		for _, e := range entries {
			if e.node != nil {
				e.node.holder = nil
			}
		}
	}
}

// FailSync treats path as if a sync of it had failed now, and no operation was
// counted: its unsynced changes stay visible and are marked clean, and only
// what reached draws of them became durable. See FailedSync.
func (m *Mem) FailSync(path string, reached Variant) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(filepath.Clean(path))
	if err != nil {
		return pathError("sync", path, err)
	}
	n.loseCache(reached, m.rng(reached))
	return nil
}
