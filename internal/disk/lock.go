package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// LockedError says that somebody else holds a lock.
type LockedError struct {
	// Path is the file that is locked.
	Path string
	// Holder says who, as "process 7 on hostname"; "" if that could not be read.
	Holder string
	// Stays is set where the system has no locks that end with a process: if the holder
	// has ended, somebody has to remove Path.
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

// Lock takes the lock that path names, for one owner in this process and all others, and
// writes into it who that is. release gives it back; so does the end of the process, but
// see LockedError.Stays. It does not wait: the error is a *LockedError if somebody has it.
func Lock(path string) (release func() error, err error) {
	release, err = lockBySystem(path)
	if errors.Is(err, errors.ErrUnsupported) {
		return lockByOwner(path + ".owner")
	}
	return release, err
}

// OpenLocked is Open, then Lock of a file with a name in the directory, then open, with whose error it gives the lock
// back. The error has taken in its chain if another owner has the lock.
func OpenLocked(path, name string, taken error, open func(Folder) error) (release func() error, err error) {
	d, err := Open(path)
	if err != nil {
		return nil, err
	}
	release, err = Lock(filepath.Join(path, name))
	if errors.As(err, new(*LockedError)) {
		err = fmt.Errorf("%w: %w", taken, err)
	}
	if err == nil {
		if err = open(d); err == nil {
			return release, nil
		}
		err = errors.Join(err, release())
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// lockByOwner is for systems and network file systems without locks: whoever
// creates the file has the lock. A crash leaves it behind, and nothing can tell
// that from a process that lives, perhaps on another machine; so somebody has to
// remove it, and the error says so.
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

// self is how a holder names itself.
func self() string {
	host, _ := os.Hostname() // a name for people: the process is named without it too
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

// sign writes the name of the holder into its lock. It is for the error of others only, so
// that a full disk does not keep anybody from the lock.
func sign(f *os.File) {
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(self()), 0) // the lock holds without it
	}
}

// holderIn reads what sign has written. It is a guess: a holder signs after it has the lock.
func holderIn(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	holder, _ := io.ReadAll(io.LimitReader(f, 1024)) // part of a name is better than none
	return string(bytes.ToValidUTF8(holder, nil))
}
