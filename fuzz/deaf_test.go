package fuzz

import (
	"errors"

	"ctxdb/format/disk"
)

// A sync that is only left out is made up for by the next one of the file. One
// that fails is not: what it should have kept is lost, and the system says so
// once. A deaf player does not hear it for syncs of some names, so that each of
// them is found out alone.

var errUnheard = errors.New("a failure that nobody hears")

// deafFS hands out files that do not report errUnheard.
type deafFS struct{ disk.FS }

type deafFile struct{ disk.File }

func (d deafFS) Open(path string, write bool) (disk.File, error) {
	f, err := d.FS.Open(path, write)
	if err != nil {
		return nil, err
	}
	return deafFile{f}, nil
}

func (f deafFile) Sync() error {
	err := f.File.Sync()
	if errors.Is(err, errUnheard) {
		return nil
	}
	return err
}

// deaf makes the syncs of these names fail without a word.
func (p *player) deaf(names ...string) {
	w := &watcher{}
	p.fs = deafFS{p.mem}
	p.unheard = func(op disk.Op) error {
		name := w.see(op)
		for _, n := range names {
			if n == name && op.Kind == disk.OpSync {
				return &disk.FailedSync{Err: errUnheard, Reached: disk.Variant{Mode: disk.KeepNone}}
			}
		}
		return nil
	}
}
