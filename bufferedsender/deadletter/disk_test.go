package deadletter

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"
)

// memDisk is a folder that can crash. It keeps what POSIX promises and nothing
// more: what was written is durable after Sync of the file, a name after
// SyncNames, and of everything else any part may be there after a crash.
type memDisk struct {
	mu      sync.Mutex
	names   map[string]*inode
	durable map[string]*inode
	pending []nameChange
	// fail, if set, is asked before each change of the disk, without a lock.
	fail func(op, name string) error
}

type inode struct{ data, synced []byte }

// nameChange removes one name and gives another, as a rename does at once.
type nameChange struct {
	remove, add string
	file        *inode
}

func newDisk() *memDisk {
	return &memDisk{names: map[string]*inode{}, durable: map[string]*inode{}}
}

var errDisk = errors.New("the disk has failed")

func (d *memDisk) ask(op, name string) error {
	if d.fail == nil {
		return nil
	}
	return d.fail(op, name)
}

func (d *memDisk) change(c nameChange) {
	c.apply(d.names)
	d.pending = append(d.pending, c)
}

func (c nameChange) apply(names map[string]*inode) {
	if c.remove != "" {
		delete(names, c.remove)
	}
	if c.add != "" {
		names[c.add] = c.file
	}
}

// crash leaves what choose says: it returns a number below n.
func (d *memDisk) crash(choose func(what string, n int) int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := maps.Clone(d.durable)
	for i, c := range d.pending {
		if choose(fmt.Sprintf("name change %d of %s%s survives", i, c.remove, c.add), 2) == 1 {
			c.apply(names)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := names[name]
		if tail, ok := bytes.CutPrefix(f.data, f.synced); ok {
			f.data = f.data[:len(f.synced)+choose(name+" keeps more bytes", len(tail)+1)]
		} else if choose(name+" keeps its old content", 2) == 1 {
			f.data = f.synced
		}
		f.synced = f.data
	}
	d.names, d.durable, d.pending, d.fail = names, maps.Clone(names), nil, nil
}

func (d *memDisk) Create(name string) (handle, error) {
	if err := d.ask("create", name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.names[name]; ok {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	f := new(inode)
	d.change(nameChange{add: name, file: f})
	return &memHandle{d, name, f}, nil
}

func (d *memDisk) Append(name string) (handle, error) {
	d.mu.Lock()
	f, ok := d.names[name]
	d.mu.Unlock()
	if !ok {
		return d.Create(name)
	}
	return &memHandle{d, name, f}, nil
}

func (d *memDisk) Cut(name string, size int64) error {
	if err := d.ask("cut", name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[name]
	f.data = slices.Clone(f.data[:size])
	f.synced = f.data
	return nil
}

func (d *memDisk) Rename(from, to string) error {
	if err := d.ask("rename", from); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.names[from]
	if !ok {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	d.change(nameChange{remove: from, add: to, file: f})
	return nil
}

func (d *memDisk) Remove(name string) error {
	if err := d.ask("remove", name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.names[name]; !ok {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	d.change(nameChange{remove: name})
	return nil
}

func (d *memDisk) SyncNames() error {
	if err := d.ask("sync names", "."); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.pending {
		c.apply(d.durable)
	}
	d.pending = nil
	return nil
}

func (d *memDisk) Open(name string) (fs.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.names[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memReader{bytes.NewReader(f.data), memInfo{name, int64(len(f.data))}}, nil
}

func (d *memDisk) ReadDir(string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var entries []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		entries = append(entries, fs.FileInfoToDirEntry(memInfo{name, int64(len(d.names[name].data))}))
	}
	return entries, nil
}

// files returns the contents by name.
func (d *memDisk) files() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make(map[string]string)
	for name, f := range d.names {
		all[name] = string(f.data)
	}
	return all
}

// put makes a durable file.
func (d *memDisk) put(name, content string) {
	f := &inode{data: []byte(content), synced: []byte(content)}
	d.names[name], d.durable[name] = f, f
}

type memHandle struct {
	d    *memDisk
	name string
	f    *inode
}

// Write writes a half if it fails.
func (h *memHandle) Write(p []byte) (int, error) {
	err := h.d.ask("write", h.name)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if err != nil {
		p = p[:len(p)/2]
	}
	h.f.data = append(slices.Clip(h.f.data), p...)
	return len(p), err
}

func (h *memHandle) Sync() error {
	if err := h.d.ask("sync", h.name); err != nil {
		return err
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	h.f.synced = h.f.data
	return nil
}

func (h *memHandle) Close() error { return nil }

type memReader struct {
	*bytes.Reader
	info memInfo
}

func (r *memReader) Stat() (fs.FileInfo, error) { return r.info, nil }
func (r *memReader) Close() error               { return nil }

type memInfo struct {
	name string
	size int64
}

func (i memInfo) Name() string     { return i.name }
func (i memInfo) Size() int64      { return i.size }
func (memInfo) Mode() fs.FileMode  { return fileMode }
func (memInfo) ModTime() time.Time { return time.Time{} }
func (memInfo) IsDir() bool        { return false }
func (memInfo) Sys() any           { return nil }
