//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"syscall"
)

// nameless reports whether a file was removed.
func nameless(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}

// flock takes an exclusive lock without waiting.
func flock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// lockDirectory locks a directory itself. That lock survives the removal of a lock file. Without support of the file
// system it locks nothing.
func lockDirectory(path string) (release func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return func() error { return nil }, nil //nolint:nilerr // who may not read it has the lock of the file
	}
	switch err = flock(f); {
	case err == nil:
		return func() error { return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close()) }, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(&LockedError{Path: path}, f.Close())
	}
	return f.Close, nil // of NFS, for example
}

// lockBySystem takes an advisory lock, which belongs to the open file: a second open in the same process does not get
// it either. The file is never removed. Otherwise a third process could lock a new file while a second one holds the
// old file.
func lockBySystem(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	switch err = flock(f); {
	case err == nil:
		sign(f)
		return func() error {
			// Closing f is not enough: a child process that another goroutine is starting shares the open file until
			// its exec.
			return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
		}, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = &LockedError{Path: path, Holder: holderIn(path)}
	default:
		err = &os.PathError{Op: "flock", Path: path, Err: err}
	}
	return nil, errors.Join(err, f.Close())
}
