// Package disktest has a simulated directory that can crash, for tests of packages that keep files.
package disktest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// Disk is a disk.Folder that can crash. It guarantees what POSIX guarantees and nothing more: written data is durable
// after Sync of the file, names are durable after SyncNames, and of everything else a crash may keep any part. It also
// refuses what a real folder refuses: all methods of a file that was closed, or opened before a crash, return
// fs.ErrClosed, and a missing name is fs.ErrNotExist.
type Disk struct {
	// Fail, if set, is called before each change of the disk, without a lock. op is create, allocate, write, cut,
	// rename, remove, sync or "sync names". If it returns an error, the operation returns it; a write is then done by
	// half, and a sync may be done. Fail may also block, to simulate a slow disk, or return syscall.ENOSPC.
	Fail func(op, name string) error
	// FailRead, if set, is called before each file is opened for reading, and before each read, without a lock, in the
	// same way.
	FailRead func(name string) error

	mu      sync.Mutex
	life    int // crashes so far
	names   map[string]*inode
	durable map[string]*inode
	pending []nameChange
	syncs   int
}

var _ disk.Folder = (*Disk)(nil)

// inode is the content of a file. Sync copies it for an area; the file of a Handle only grows, so its content is
// shared.
type inode struct {
	data, synced []byte
	area         bool
	dirty        map[int64]struct{} // unsynced sectors of an area
}

// sector is the size that a disk writes atomically, in bytes.
const sector = 512

// nameChange removes one name and adds another, atomically as in a rename.
type nameChange struct {
	remove, add string
	file        *inode
}

// New returns an empty disk.
func New() *Disk {
	return &Disk{names: map[string]*inode{}, durable: map[string]*inode{}}
}

// ErrDisk is an error for Fail to return.
var ErrDisk = errors.New("disk has failed")

func (d *Disk) ask(op, name string) error {
	if d.Fail == nil {
		return nil
	}
	return d.Fail(op, name)
}

func (d *Disk) askRead(name string) error {
	if d.FailRead == nil {
		return nil
	}
	return d.FailRead(name)
}

func (d *Disk) change(c nameChange) {
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

// Crash keeps what choose decides; choose returns a number below n. Fail and FailRead are reset, and open files are
// closed.
func (d *Disk) Crash(choose func(what string, n int) int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := maps.Clone(d.durable)
	for i, c := range d.pending {
		if choose(fmt.Sprintf("name change %d of %s%s survives", i, c.remove, c.add), 2) == 1 {
			c.apply(names)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		names[name].crash(name, choose)
	}
	d.names, d.durable, d.pending, d.Fail, d.FailRead = names, maps.Clone(names), nil, nil, nil
	d.life++
}

func (f *inode) crash(name string, choose func(what string, n int) int) {
	if f.area {
		f.crashArea(name, choose)
		return
	}
	if tail, ok := bytes.CutPrefix(f.data, f.synced); ok {
		f.data = f.data[:len(f.synced)+choose(name+" keeps more bytes", len(tail)+1)]
	} else if choose(name+" keeps its old content", 2) == 1 {
		f.data = f.synced
	}
	f.synced = f.data
}

// crashArea keeps some of the written sectors, in any order.
func (f *inode) crashArea(name string, choose func(what string, n int) int) {
	data := f.data
	f.data = make([]byte, len(f.synced)) // open files keep the old slice
	copy(f.data, f.synced)
	for _, s := range slices.Sorted(maps.Keys(f.dirty)) {
		if choose(fmt.Sprintf("%s keeps sector %d", name, s), 2) == 0 {
			continue
		}
		begin, end := s*sector, min((s+1)*sector, int64(len(data)))
		if end > int64(len(f.data)) {
			f.data = append(f.data, make([]byte, end-int64(len(f.data)))...)
		}
		copy(f.data[begin:end], data[begin:end])
	}
	f.synced = bytes.Clone(f.data)
	f.dirty = map[int64]struct{}{}
}

// Create implements disk.Folder.
func (d *Disk) Create(name string) (disk.Handle, error) {
	f, err := d.create("create", name, new(inode))
	if err != nil {
		return nil, err
	}
	return &handle{d.open(name), f}, nil
}

func (d *Disk) create(op, name string, f *inode) (*inode, error) {
	if err := d.ask(op, name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.names[name]; ok {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrExist}
	}
	d.change(nameChange{add: name, file: f})
	return f, nil
}

// Append implements disk.Folder.
func (d *Disk) Append(name string) (disk.Handle, error) {
	f, ok := d.find(name)
	if !ok {
		return d.Create(name)
	}
	return &handle{d.open(name), f}, nil
}

// Allocate implements disk.Folder.
func (d *Disk) Allocate(name string, size int64) (disk.Area, error) {
	f := &inode{data: make([]byte, size), area: true, dirty: map[int64]struct{}{}}
	if _, err := d.create("allocate", name, f); err != nil {
		return nil, err
	}
	return &area{d.open(name), f}, nil
}

// Reopen implements disk.Folder.
func (d *Disk) Reopen(name string, size int64) (disk.Area, error) {
	f, ok := d.find(name)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if int64(len(f.data)) < size {
		if err := d.ask("allocate", name); err != nil {
			return nil, err
		}
	}
	opened := d.open(name)
	d.mu.Lock()
	defer d.mu.Unlock()
	if !f.area {
		f.area, f.dirty, f.synced = true, map[int64]struct{}{}, bytes.Clone(f.synced)
	}
	if missing := size - int64(len(f.data)); missing > 0 {
		f.data = append(slices.Clip(f.data), make([]byte, missing)...)
	}
	return &area{opened, f}, nil
}

func (d *Disk) find(name string) (*inode, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.names[name]
	return f, ok
}

// Cut implements disk.Folder.
func (d *Disk) Cut(name string, size int64) error {
	if err := d.ask("cut", name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.names[name]
	if !ok {
		return &fs.PathError{Op: "truncate", Path: name, Err: fs.ErrNotExist}
	}
	f.data = append(slices.Clone(f.data[:min(size, int64(len(f.data)))]), make([]byte, max(0, size-int64(len(f.data))))...)
	f.synced = f.data
	if f.area {
		f.synced, f.dirty = bytes.Clone(f.data), map[int64]struct{}{}
	}
	return nil
}

// Rename implements disk.Folder.
func (d *Disk) Rename(from, to string) error {
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

// Remove implements disk.Folder.
func (d *Disk) Remove(name string) error {
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

// SyncNames implements disk.Folder.
func (d *Disk) SyncNames() error {
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

// Open implements fs.FS.
func (d *Disk) Open(name string) (fs.File, error) {
	if err := d.askRead(name); err != nil {
		return nil, err
	}
	opened := d.open(name)
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.names[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	data := f.data
	if f.area { // an area is overwritten in place
		data = bytes.Clone(data)
	}
	return &reader{opened, bytes.NewReader(data), info{name, int64(len(data))}}, nil
}

// ReadDir implements fs.ReadDirFS. There is only one directory.
func (d *Disk) ReadDir(string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var entries []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		entries = append(entries, fs.FileInfoToDirEntry(info{name, int64(len(d.names[name].data))}))
	}
	return entries, nil
}

// Files returns the contents by name.
func (d *Disk) Files() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make(map[string]string)
	for name, f := range d.names {
		all[name] = string(f.data)
	}
	return all
}

// Put makes or replaces a durable file.
func (d *Disk) Put(name, content string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := &inode{data: []byte(content), synced: []byte(content)}
	d.names[name], d.durable[name] = f, f
}

// Syncs returns how many syncs of files have succeeded.
func (d *Disk) Syncs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncs
}

// Forget marks a file as clean although it is not synced, as Linux does with pages that a failed fsync could not write.
// They can be read until a crash.
func (d *Disk) Forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.names[name]; f != nil {
		f.dirty = map[int64]struct{}{}
	}
}
