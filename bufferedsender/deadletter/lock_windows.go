package deadletter

import (
	"errors"
	"os"
	"syscall"
)

// errSharingViolation is ERROR_SHARING_VIOLATION, which package syscall lacks.
const errSharingViolation = syscall.Errno(32)

// lockBySystem opens a file that it shares with nobody.
func lockBySystem(path string) (release func() error, err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const shareNothing = 0
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, shareNothing, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case errors.Is(err, errSharingViolation):
		return nil, ErrLocked
	case err != nil:
		return nil, &os.PathError{Op: "CreateFile", Path: path, Err: err}
	}
	return func() error { return syscall.CloseHandle(h) }, nil
}
