package disktest

import (
	"errors"
	"testing"
)

// FailEachRead calls open with copies of a disk: in the first copy the first read fails, in the second the second, and
// so on, until open makes no more reads. open must return ErrDisk, or check that nothing is missing. For each copy for
// which it returned ErrDisk, FailEachRead calls it once more with a working disk.
func FailEachRead(t *testing.T, d *Disk, open func(t *testing.T, d *Disk) error) {
	t.Helper()
	for n := 1; ; n++ {
		damaged := d.copy()
		reads := 0
		damaged.FailRead = func(string) error {
			if reads++; reads == n {
				return ErrDisk
			}
			return nil
		}
		err := open(t, damaged)
		damaged.FailRead = nil
		if reads < n {
			if n == 1 || err != nil {
				t.Fatalf("%d reads, and the error %v", reads, err)
			}
			return
		}
		if !errors.Is(err, ErrDisk) {
			t.Fatalf("read %d failed, and the error is %v", n, err)
		}
		if err := open(t, damaged); err != nil {
			t.Fatalf("after read %d has failed: %v", n, err)
		}
	}
}

// copy returns a disk with the same files, all of them durable.
func (d *Disk) copy() *Disk {
	c := New()
	for name, content := range d.Files() {
		c.Put(name, content)
	}
	return c
}
