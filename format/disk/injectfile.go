package disk

import (
	"errors"
	"os"
)

// injectFile embeds File for what no rule applies to: Unlock, ID, Close.
type injectFile struct {
	File
	in   *Inject
	path string
}

type mappedInjectFile struct {
	*injectFile
	mapper Mapper
}

// OSFile implements Mapper.
func (f *mappedInjectFile) OSFile() *os.File { return f.mapper.OSFile() }

func (f *injectFile) before(k Kind) error {
	if err := f.in.before(k, f.path); err != nil {
		return pathError(k.String(), f.path, err)
	}
	return nil
}

func (f *injectFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.before(OpRead); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *injectFile) WriteAt(p []byte, off int64) (int, error) {
	part, skip, result := allowedWrite(p, f.before(OpWrite))
	if skip {
		return len(p), nil
	}
	if result == nil {
		return f.File.WriteAt(p, off)
	}
	if len(part) == 0 {
		return 0, result
	}
	n, err := f.File.WriteAt(part, off)
	return n, errors.Join(result, err)
}

func (f *injectFile) Sync() error {
	err := f.before(OpSync)
	var lost *FailedSync
	if errors.As(err, &lost) {
		if liar, ok := f.File.(interface{ failSync(Variant) error }); ok {
			return errors.Join(err, liar.failSync(lost.Reached))
		}
		return err
	}
	if err != nil {
		return skipped(err)
	}
	return f.File.Sync()
}

func (f *injectFile) Truncate(size int64) error {
	if err := f.before(OpTruncate); err != nil {
		return skipped(err)
	}
	return f.File.Truncate(size)
}

func (f *injectFile) Size() (int64, error) {
	if err := f.before(OpStat); err != nil {
		return 0, err
	}
	return f.File.Size()
}

func (f *injectFile) Check() error {
	if err := f.before(OpStat); err != nil {
		return err
	}
	return f.File.Check()
}

func (f *injectFile) TryLock() error {
	if err := f.before(OpLock); err != nil {
		return err
	}
	return f.File.TryLock()
}

func (f *injectFile) LockedByOther() (bool, error) {
	if err := f.before(OpLock); err != nil {
		return false, err
	}
	return f.File.LockedByOther()
}
