package disk

import (
	"errors"
	"os"
	"syscall"
)

// reserve extends a file to size bytes with allocated blocks. So a later write cannot run into a full disk, and a sync
// of it need not also write a new file size.
func reserve(f *os.File, size int64) error {
	err := onFile(f, "fallocate", func(fd int) error { return syscall.Fallocate(fd, 0, 0, size) })
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) {
		return f.Truncate(size) // the file system cannot allocate
	}
	return err
}

// syncData does not sync the file's times, which would need a separate write.
func syncData(f *os.File) error { return onFile(f, "fdatasync", syscall.Fdatasync) }

// onFile makes a system call with the descriptor of a file. Meanwhile the descriptor can neither be closed nor reused
// for another file.
func onFile(f *os.File, op string, call func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := conn.Control(func(fd uintptr) {
		for {
			if err = call(int(fd)); !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	})
	if failed != nil {
		err = os.ErrClosed // the only reason for an error of Control, which does not match os.ErrClosed in errors.Is
	}
	if err != nil {
		return &os.PathError{Op: op, Path: f.Name(), Err: err}
	}
	return nil
}
