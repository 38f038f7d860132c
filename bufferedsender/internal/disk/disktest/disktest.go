// Package disktest has a directory that crashes, for tests of what lives on one.
package disktest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/disk"
)

// Disk is a disk.Folder that can crash. It keeps what POSIX promises and nothing
// more: what was written is durable after Sync of the file, a name after
// SyncNames, and of everything else any part may be there after a crash. It refuses
// what a real one refuses: a file that was closed, or opened before a crash, returns
// fs.ErrClosed from every method, and a name that does not exist fs.ErrNotExist.
type Disk struct {
	// Fail, if set, is asked before each change of the disk, without a lock: create,
	// allocate, write, cut, rename, remove, sync and "sync names". If it fails, so does
	// that; a write is then half done, and a sync may be. It may also wait, as a slow disk
	// does, or return syscall.ENOSPC.
	Fail func(op, name string) error
	// FailRead, if set, is asked before each file is opened for reading, and before each read, without a
	// lock, as Fail is for changes.
	FailRead func(name string) error

	mu      sync.Mutex
	life    int // crashes so far
	names   map[string]*inode
	durable map[string]*inode
	pending []nameChange
	syncs   int
}

var _ disk.Folder = (*Disk)(nil)

// inode is the content of a file. Sync takes a copy for an area, while the file of a
// Handle only grows, and shares it.
type inode struct {
	data, synced []byte
	area         bool
	dirty        map[int64]struct{} // sectors of an area that are not synced
}

// sector is what a disk writes whole or not at all.
const sector = 512

// nameChange removes one name and gives another, as a rename does at once.
type nameChange struct {
	remove, add string
	file        *inode
}

// New returns an empty disk.
func New() *Disk {
	return &Disk{names: map[string]*inode{}, durable: map[string]*inode{}}
}

// ErrDisk is for Fail.
var ErrDisk = errors.New("the disk has failed")

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

// Crash leaves what choose says: it returns a number below n. Fail and FailRead are reset, and what was
// open before is closed.
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

// crashArea keeps some of the sectors that were written, in any order.
func (f *inode) crashArea(name string, choose func(what string, n int) int) {
	data := f.data
	f.data = make([]byte, len(f.synced)) // what was open keeps its own
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
	if f.area { // which is written in place
		data = bytes.Clone(data)
	}
	return &reader{opened, bytes.NewReader(data), info{name, int64(len(data))}}, nil
}

// ReadDir implements fs.ReadDirFS. There is one directory.
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

// Put makes a durable file, or replaces one.
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

// opened is what all open files have in common.
type opened struct {
	d    *Disk
	name string
	life int // of the disk, when the file was opened

	closed bool // guarded by d.mu
}

func (d *Disk) open(name string) opened {
	d.mu.Lock()
	defer d.mu.Unlock()
	return opened{d: d, name: name, life: d.life}
}

// usable is an error for a file that was closed, or opened before a crash.
func (o *opened) usable(op string) error {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	if o.closed || o.life != o.d.life {
		return &fs.PathError{Op: op, Path: o.name, Err: fs.ErrClosed}
	}
	return nil
}

// change is asked before a file is changed.
func (o *opened) change(op string) error {
	if err := o.usable(op); err != nil {
		return err
	}
	return o.d.ask(op, o.name)
}

// read is asked before a file is read.
func (o *opened) read() error {
	if err := o.usable("read"); err != nil {
		return err
	}
	return o.d.askRead(o.name)
}

// Close returns fs.ErrClosed if the file was closed before, as that of the operating system does.
func (o *opened) Close() error {
	if err := o.usable("close"); err != nil {
		return err
	}
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	o.closed = true
	return nil
}

type handle struct {
	opened
	f *inode
}

// Write writes a half if it fails, but nothing into a file that is closed.
func (h *handle) Write(p []byte) (int, error) {
	err := h.change("write")
	if errors.Is(err, fs.ErrClosed) {
		return 0, err
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if err != nil {
		p = p[:len(p)/2]
	}
	h.f.data = append(slices.Clip(h.f.data), p...)
	return len(p), err
}

func (h *handle) Sync() error {
	if err := h.change("sync"); err != nil {
		return err
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	h.f.synced = h.f.data
	h.d.syncs++
	return nil
}

type area struct {
	opened
	f *inode
}

// WriteAt writes a half if it fails, but nothing into a file that is closed.
func (a *area) WriteAt(p []byte, at int64) (int, error) {
	err := a.change("write")
	if errors.Is(err, fs.ErrClosed) {
		return 0, err
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	if err != nil {
		p = p[:len(p)/2]
	}
	end := at + int64(len(p))
	if end > int64(len(a.f.data)) {
		a.f.data = append(a.f.data, make([]byte, end-int64(len(a.f.data)))...)
	}
	copy(a.f.data[at:end], p)
	for s := at / sector; s*sector < end; s++ {
		a.f.dirty[s] = struct{}{}
	}
	return len(p), err
}

func (a *area) ReadAt(p []byte, at int64) (int, error) {
	if err := a.read(); err != nil {
		return 0, err
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	if at >= int64(len(a.f.data)) {
		return 0, io.EOF
	}
	n := copy(p, a.f.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Sync makes durable what had been written when it was called, not what is written while
// Fail lets it wait.
func (a *area) Sync() error {
	a.d.mu.Lock()
	begun := make(map[int64][]byte, len(a.f.dirty))
	for s := range a.f.dirty {
		begun[s] = bytes.Clone(a.f.data[s*sector : min((s+1)*sector, int64(len(a.f.data)))])
	}
	size := len(a.f.data)
	a.d.mu.Unlock()
	if err := a.change("sync"); err != nil {
		return err
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	if missing := size - len(a.f.synced); missing > 0 {
		a.f.synced = append(a.f.synced, make([]byte, missing)...)
	}
	for s, content := range begun {
		copy(a.f.synced[s*sector:], content)
		if bytes.Equal(content, a.f.data[s*sector:min((s+1)*sector, int64(len(a.f.data)))]) {
			delete(a.f.dirty, s)
		}
	}
	a.d.syncs++
	return nil
}

type reader struct {
	opened
	r    *bytes.Reader
	info info
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.read(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

func (r *reader) ReadAt(p []byte, at int64) (int, error) {
	if err := r.read(); err != nil {
		return 0, err
	}
	return r.r.ReadAt(p, at)
}

func (r *reader) Stat() (fs.FileInfo, error) { return r.info, r.usable("stat") }

type info struct {
	name string
	size int64
}

func (i info) Name() string     { return i.name }
func (i info) Size() int64      { return i.size }
func (info) Mode() fs.FileMode  { return 0o600 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }

// Forget has a file be clean although it is not synced: what Linux does with the pages that a failed fsync could
// not write. They can be read until a crash.
func (d *Disk) Forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.names[name]; f != nil {
		f.dirty = map[int64]struct{}{}
	}
}
