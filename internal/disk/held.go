package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// held is a locked directory, whatever happens to its path. The owner of a directory that was renamed continues in it.
// The owner of one that was removed creates nothing in the next directory of that path without its lock, because that
// may belong to another owner.
type held struct {
	path, lock string
	follows    bool // creating a file in a removed directory locks the next one, if there is one, and creates it there

	mu     sync.RWMutex // read-locked while dir is in use
	dir    *os.Root
	unlock func() error
	ended  bool
}

var errNoFolder = fmt.Errorf("directory was removed while in use: %w", fs.ErrNotExist)

// hold locks a directory, by its lock file and, where the system can, itself.
func hold(path, lock string) (*held, error) {
	dir, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	h := &held{path: path, lock: lock, dir: dir, unlock: func() error { return nil }}
	file, err := Lock(filepath.Join(path, lock))
	if err == nil {
		h.unlock = file
		var folder func() error
		if folder, err = lockDirectory(path); err == nil {
			h.unlock = func() error { return errors.Join(folder(), file()) }
			err = h.isNamed() // the locks are those of the path
		}
	}
	if err != nil {
		return nil, errors.Join(err, h.release())
	}
	return h, nil
}

// isNamed returns an error if the path is another directory's by now.
func (h *held) isNamed() error {
	here, err := h.dir.Stat(".")
	if err != nil {
		return err
	}
	if there, err := os.Stat(h.path); err != nil || !os.SameFile(here, there) {
		return &os.PathError{Op: "lock", Path: h.path, Err: errNoFolder}
	}
	return nil
}

// use calls op with the directory, which is not closed meanwhile.
func (h *held) use(op func(*os.Root) error) error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return op(h.dir)
}

// open opens a file of the directory.
func (h *held) open(name string, flag int) (*os.File, error) {
	var dir *os.Root
	var f *os.File
	try := func(d *os.Root) (err error) {
		dir = d
		f, err = d.OpenFile(name, flag, fileMode)
		return err
	}
	err := h.use(try)
	if flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := h.follow(dir); err != nil {
		return nil, &os.PathError{Op: "create", Path: filepath.Join(h.path, name), Err: err}
	}
	err = h.use(try)
	return f, err
}

// follow locks the directory that the path names now, instead of the removed one. If another goroutine has done so
// meanwhile, it does nothing: a second lock would meet the first.
func (h *held) follow(removed *os.Root) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.follows || h.ended {
		return errNoFolder
	}
	if h.dir != removed {
		return nil
	}
	next, err := hold(h.path, h.lock)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoFolder
	}
	if err != nil {
		return err
	}
	old, unlock := h.dir, h.unlock
	h.dir, h.unlock = next.dir, next.unlock
	_ = errors.Join(unlock(), old.Close()) // of files that are gone
	return nil
}

func (h *held) release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	return errors.Join(h.unlock(), h.dir.Close())
}
