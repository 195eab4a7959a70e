package disk

import "golang.org/x/sys/windows"

func statHandle(fd uintptr) (identity, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(fd), &info); err != nil {
		return identity{}, err
	}
	return identity{
		id: FileID{
			Device: uint64(info.VolumeSerialNumber),
			Inode:  uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
		},
		links: uint64(info.NumberOfLinks),
	}, nil
}

// statPath opens the path with no access at all, which sharing never forbids.
func statPath(path string) (identity, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return identity{}, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, 0, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return identity{}, err
	}
	defer windows.CloseHandle(h)
	return statHandle(uintptr(h))
}
