package deadletter

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// folder is what a File needs of a directory. What was written is durable after
// Sync, names are after SyncNames; until then a crash may keep any of it.
type folder interface {
	fs.ReadDirFS // the files that it opens are io.ReaderAts

	// Create makes a file that does not exist.
	Create(name string) (handle, error)
	// Append opens a file to write at its end, and makes it if it does not exist.
	Append(name string) (handle, error)
	// Cut shortens a file, durably.
	Cut(name string, size int64) error
	// Rename replaces a file of the new name.
	Rename(from, to string) error
	Remove(name string) error
	SyncNames() error
}

// handle is a file that is open for writing.
type handle interface {
	io.WriteCloser
	Sync() error
}

// directory is a folder of the operating system.
type directory struct {
	fs.ReadDirFS
	path string
}

// Letters hold documents: they are nobody else's business.
const (
	fileMode      = 0o600
	directoryMode = 0o700
)

func openDirectory(path string) (directory, error) {
	if err := os.MkdirAll(path, directoryMode); err != nil {
		return directory{}, err
	}
	return directory{os.DirFS(path).(fs.ReadDirFS), path}, nil
}

func (d directory) Create(name string) (handle, error) {
	return d.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
}

func (d directory) Append(name string) (handle, error) {
	return d.open(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
}

func (d directory) Cut(name string, size int64) error {
	// Not a handle of Append: Windows does not cut what may only grow.
	f, err := os.OpenFile(filepath.Join(d.path, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (d directory) Rename(from, to string) error {
	return os.Rename(filepath.Join(d.path, from), filepath.Join(d.path, to))
}

func (d directory) Remove(name string) error { return os.Remove(filepath.Join(d.path, name)) }

// SyncNames does nothing on Windows, which has no such call, and on file systems
// that refuse it: their names are as durable as they make them.
func (d directory) SyncNames() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

func (d directory) open(name string, flag int) (handle, error) {
	f, err := os.OpenFile(filepath.Join(d.path, name), flag, fileMode)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return f, nil
}
