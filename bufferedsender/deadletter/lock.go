package deadletter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// lock makes sure that nobody else writes into a directory. release gives it
// back; so does the end of the process, but see lockByOwner.
func lock(dir string) (release func() error, err error) {
	path := filepath.Join(dir, lockName)
	release, err = lockBySystem(path)
	if errors.Is(err, errors.ErrUnsupported) {
		return lockByOwner(path + ".owner")
	}
	return release, err
}

// lockByOwner is for systems and network file systems without locks: whoever
// creates the file has the lock. A crash leaves it behind, and nothing can tell
// that from a process that lives, perhaps on another machine; so somebody has to
// remove it, and the error says so.
func lockByOwner(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		owner, _ := os.ReadFile(path)
		return nil, fmt.Errorf("%w: this system has no locks that end with a process; if %q has ended, remove %s", ErrLocked, owner, path)
	}
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	_, err = fmt.Fprintf(f, "process %d on %s", os.Getpid(), host)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return func() error { return os.Remove(path) }, nil
}
