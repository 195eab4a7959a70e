//go:build !linux && !darwin && !windows

package disk

import "errors"

// renameNoReplace has no safe form here: rename replaces without asking.
func renameNoReplace(from, to string) error { return errors.ErrUnsupported }
