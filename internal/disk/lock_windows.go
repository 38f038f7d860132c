package disk

import (
	"errors"
	"os"
	"syscall"
)

// errSharingViolation is ERROR_SHARING_VIOLATION, which package syscall lacks.
const errSharingViolation = syscall.Errno(32)

// lockBySystem opens the file so that other processes may read it, for the name of the holder, but not write it.
func lockBySystem(path string) (release func() error, err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case errors.Is(err, errSharingViolation):
		return nil, &LockedError{Path: path, Holder: holderIn(path)}
	case err != nil:
		return nil, &os.PathError{Op: "CreateFile", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(h), path)
	sign(f)
	return f.Close, nil
}

// nameless: what is open has a name.
func nameless(*os.File) bool { return false }

// lockDirectory: directories have no lock of their own.
func lockDirectory(string) (release func() error, err error) { return func() error { return nil }, nil }
