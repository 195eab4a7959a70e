//go:build !unix && !windows

package disk

import "errors"

func statHandle(fd uintptr) (identity, error) { return identity{}, errors.ErrUnsupported }

func statPath(path string) (identity, error) { return identity{}, errors.ErrUnsupported }
