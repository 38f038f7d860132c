package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// LockedError reports that another owner holds a lock.
type LockedError struct {
	// Path is the lock file.
	Path string
	// Holder is the name of the owner, as "process 7 on hostname"; "" if it could not be read.
	Holder string
	// Stays is set if the system has no locks that end with a process: if the holder has ended, an operator must remove
	// Path.
	Stays bool
}

func (e *LockedError) Error() string {
	switch {
	case e.Stays:
		return fmt.Sprintf("this system has no locks that end with a process; if %q has ended, remove %s", e.Holder, e.Path)
	case e.Holder == "":
		return "it is locked"
	}
	return "it is locked by " + e.Holder
}

// Lock takes the lock of the file path, for one owner in this and all other processes, and writes the owner's name into
// the file. release gives the lock back, and so does the end of the process, but see LockedError.Stays. It does not
// wait: if another owner holds the lock, the error is a *LockedError.
func Lock(path string) (release func() error, err error) {
	release, err = lockBySystem(path)
	if errors.Is(err, errors.ErrUnsupported) {
		return lockByOwner(path + ".owner")
	}
	return release, err
}

// LockFolder is Lock of a file name in a directory. Where the system can, it also locks the directory itself, in case
// the file is removed. The Folder is the locked directory, also if that is renamed; if it is removed, no more files can
// be created. release closes the Folder.
func LockFolder(path, name string) (d Folder, release func() error, err error) {
	h, err := hold(path, name)
	if err != nil {
		return nil, nil, err
	}
	return directory{path, h}, h.release, nil
}

// OpenLocked calls Open, then LockFolder, then open; if open fails, it gives the lock back and returns the error. If
// another owner holds the lock, the error has taken in its chain. If the directory is removed and made again, creating
// a file locks the new one; the error is a *LockedError if another owner holds it.
func OpenLocked(path, name string, taken error, open func(Folder) error) (release func() error, err error) {
	if _, err := Open(path); err != nil { // makes it
		return nil, err
	}
	h, err := hold(path, name)
	if errors.As(err, new(*LockedError)) {
		err = fmt.Errorf("%w: %w", taken, err)
	}
	if err == nil {
		h.follows = true
		if err = open(directory{path, h}); err == nil {
			return h.release, nil
		}
		err = errors.Join(err, h.release())
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// lockByOwner is for systems and network file systems without locks: the process that creates the file holds the lock.
// A crash leaves the file behind. Such a file cannot be distinguished from that of a living process, perhaps on another
// machine, so an operator must remove it; the error says so.
func lockByOwner(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil, &LockedError{Path: path, Holder: holderIn(path), Stays: true}
	}
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(f, self())
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return func() error { return os.Remove(path) }, nil
}

// self returns the name of this process as a holder.
func self() string {
	host, _ := os.Hostname() // for readers; the process ID is the essential part
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

// sign writes the name of the holder into the lock file. The name is only for error messages of others, so a full disk
// must not prevent locking.
func sign(f *os.File) {
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(self()), 0) // the lock works without a name
	}
}

// holderIn reads the name written by sign. It may be outdated: a holder signs after it has the lock.
func holderIn(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	holder, _ := io.ReadAll(io.LimitReader(f, 1024)) // part of a name is better than none
	return string(bytes.ToValidUTF8(holder, nil))
}
