package disktest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"
)

// opened is the common part of all open files.
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

// usable returns an error for a file that was closed, or opened before a crash.
func (o *opened) usable(op string) error {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	if o.closed || o.life != o.d.life {
		return &fs.PathError{Op: op, Path: o.name, Err: fs.ErrClosed}
	}
	return nil
}

// change is called before a file is changed.
func (o *opened) change(op string) error {
	if err := o.usable(op); err != nil {
		return err
	}
	return o.d.ask(op, o.name)
}

// read is called before a file is read.
func (o *opened) read() error {
	if err := o.usable("read"); err != nil {
		return err
	}
	return o.d.askRead(o.name)
}

// Close returns fs.ErrClosed if the file was already closed, like that of the operating system.
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

// Write writes half of p if it fails, but nothing to a closed file.
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

// WriteAt writes half of p if it fails, but nothing to a closed file.
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

// Sync makes durable what was written before the call, not what is written while Fail blocks.
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
