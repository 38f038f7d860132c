package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Folder is one directory. Written data is durable after Sync of the file, names are durable after SyncNames; until
// then a crash may keep any part.
type Folder interface {
	fs.ReadDirFS // its open files are io.ReaderAts

	// Create makes a file that does not exist.
	Create(name string) (Handle, error)
	// Append opens a file for writing at its end, and makes it if it does not exist.
	Append(name string) (Handle, error)
	// Cut shortens a file, durably.
	Cut(name string, size int64) error
	// Allocate makes a file of the given size, filled with zeros. If the system supports it, all of its room on the
	// disk is allocated.
	Allocate(name string, size int64) (Area, error)
	// Reopen opens a file made by Allocate, and extends it to size if it is smaller.
	Reopen(name string, size int64) (Area, error)
	// Rename replaces an existing file of the new name.
	Rename(from, to string) error
	Remove(name string) error
	SyncNames() error
}

// Handle is a file open for writing at its end.
type Handle interface {
	io.WriteCloser
	Sync() error
}

// Area is a file for random reads and writes, usually within its size.
type Area interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync makes written data and the file size durable, but not the modification time. It fails if the file was removed.
	Sync() error
}

// directory is a Folder of the operating system.
type directory struct {
	path string
	held *held // nil: the path names the directory at each call
}

// The files contain documents, so only their owner may read them.
const (
	fileMode      = 0o600
	directoryMode = 0o700
)

// Open returns the directory of a path, and makes it if necessary. Its name is durable, and so are those of parents
// that Open makes: otherwise a crash could remove the directory with its durable content.
func Open(path string) (Folder, error) {
	if err := makeFolder(path, func(dir string) error { return View(dir).SyncNames() }); err != nil {
		return nil, err
	}
	return View(path), nil
}

// makeFolder makes a directory and its parents, and calls sync with each directory that may have a new name.
func makeFolder(path string, sync func(dir string) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if exists(path) {
		// The process that made it may have died before this sync. This one may lack permission to read the parent.
		if err := sync(filepath.Dir(path)); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	}
	there := filepath.Dir(path)
	for !exists(there) && there != filepath.Dir(there) {
		there = filepath.Dir(there)
	}
	err = os.MkdirAll(path, directoryMode)
	for at := filepath.Dir(path); err == nil; at = filepath.Dir(at) {
		if err = sync(at); at == there {
			break
		}
	}
	return err
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// View is Open without making the directory: its first use fails if it does not exist.
func View(path string) Folder { return directory{path: path} }

func (d directory) names(op func(fs.ReadDirFS) error) error {
	if d.held != nil {
		return d.held.use(func(r *os.Root) error { return op(r.FS().(fs.ReadDirFS)) })
	}
	return op(os.DirFS(d.path).(fs.ReadDirFS))
}

// Open implements fs.FS.
func (d directory) Open(name string) (f fs.File, err error) {
	err = d.names(func(names fs.ReadDirFS) error {
		f, err = names.Open(name)
		return err
	})
	return f, err
}

// ReadDir implements fs.ReadDirFS.
func (d directory) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = d.names(func(names fs.ReadDirFS) error {
		entries, err = names.ReadDir(name)
		return err
	})
	return entries, err
}

func (d directory) Create(name string) (Handle, error) {
	f, err := d.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err // a nil *os.File must not become a non-nil interface
	}
	return handle{f}, nil
}

func (d directory) Append(name string) (Handle, error) {
	f, err := d.open(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	return handle{f}, nil
}

func (d directory) Cut(name string, size int64) error {
	// Not a handle of Append, because Windows cannot truncate a file opened for appending.
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
	if d.held != nil {
		return d.held.use(func(r *os.Root) error { return r.Rename(from, to) })
	}
	return os.Rename(filepath.Join(d.path, from), filepath.Join(d.path, to))
}

func (d directory) Remove(name string) error {
	if d.held != nil {
		return d.held.use(func(r *os.Root) error { return r.Remove(name) })
	}
	return os.Remove(filepath.Join(d.path, name))
}

// SyncNames does nothing on Windows, which has no such call, and on file systems that refuse it; the durability of
// names is then up to the file system.
func (d directory) SyncNames() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := d.open(".", os.O_RDONLY)
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
	if d.held != nil {
		return d.held.open(name, flag)
	}
	return os.OpenFile(filepath.Join(d.path, name), flag, fileMode)
}

// area is a file made by Allocate.
type area struct{ *os.File }

func (a area) Sync() error { return named(a.File, syncData(a.File)) }

// handle is a file of Create and Append.
type handle struct{ *os.File }

func (h handle) Sync() error { return named(h.File, h.File.Sync()) }

// named returns the error of a sync, or errRemoved if the file or its directory was removed: its content is lost with
// the last open descriptor.
func named(f *os.File, err error) error {
	if err == nil && nameless(f) {
		err = &os.PathError{Op: "sync", Path: f.Name(), Err: errRemoved}
	}
	return err
}

var errRemoved = fmt.Errorf("file was removed while in use: %w", fs.ErrNotExist)
