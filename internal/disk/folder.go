package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Folder is one directory. What was written is durable after Sync of the file, names are
// after SyncNames; until then a crash may keep any of it.
type Folder interface {
	fs.ReadDirFS // the files that it opens are io.ReaderAts

	// Create makes a file that does not exist.
	Create(name string) (Handle, error)
	// Append opens a file to write at its end, and makes it if it does not exist.
	Append(name string) (Handle, error)
	// Cut shortens a file, durably.
	Cut(name string, size int64) error
	// Allocate makes a file of a size, filled with zeros, with room on the disk for all
	// of it where the system can promise that.
	Allocate(name string, size int64) (Area, error)
	// Reopen opens a file of Allocate, and makes it larger, up to size, if it is not.
	Reopen(name string, size int64) (Area, error)
	// Rename replaces a file of the new name.
	Rename(from, to string) error
	Remove(name string) error
	SyncNames() error
}

// Handle is a file that is open for writing at its end.
type Handle interface {
	io.WriteCloser
	Sync() error
}

// Area is a file that is read and written anywhere, as a rule within its size.
type Area interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync makes durable what was written, and the size of the file. It says nothing
	// about when the file was changed.
	Sync() error
}

// directory is a Folder of the operating system.
type directory struct {
	fs.ReadDirFS
	path string
}

// The files hold documents: they are nobody else's business.
const (
	fileMode      = 0o600
	directoryMode = 0o700
)

// Open returns the directory of a path, which it makes if need be.
func Open(path string) (Folder, error) {
	if err := os.MkdirAll(path, directoryMode); err != nil {
		return nil, err
	}
	return View(path), nil
}

// View is Open for a directory that is there, or whose first use is to fail.
func View(path string) Folder { return directory{os.DirFS(path).(fs.ReadDirFS), path} }

func (d directory) Create(name string) (Handle, error) {
	f, err := d.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return f, nil
}

func (d directory) Append(name string) (Handle, error) {
	f, err := d.open(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d directory) Cut(name string, size int64) error {
	// Not a handle of Append: Windows does not cut what may only grow.
	f, err := d.open(name, os.O_WRONLY)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (d directory) Allocate(name string, size int64) (Area, error) {
	f, err := d.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err := reserve(f, size); err != nil {
		return nil, errors.Join(err, f.Close(), d.Remove(name))
	}
	return area{f}, nil
}

func (d directory) Reopen(name string, size int64) (Area, error) {
	f, err := d.open(name, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < size {
		err = reserve(f, size)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return area{f}, nil
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

func (d directory) open(name string, flag int) (*os.File, error) {
	return os.OpenFile(filepath.Join(d.path, name), flag, fileMode)
}

// area is a file of Allocate.
type area struct{ *os.File }

func (a area) Sync() error { return syncData(a.File) }
