package disk

import (
	"errors"
	"os"
	"syscall"
)

// reserve makes a file size bytes long, with blocks of its own: it cannot run into a full
// disk later, and a sync of what is written into it need not wait for the size to change.
func reserve(f *os.File, size int64) error {
	err := onFile(f, "fallocate", func(fd int) error { return syscall.Fallocate(fd, 0, 0, size) })
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) {
		return f.Truncate(size) // a file system that cannot
	}
	return err
}

// syncData leaves out the times of the file, which would need a write of their own.
func syncData(f *os.File) error { return onFile(f, "fdatasync", syscall.Fdatasync) }

// onFile calls a system call with the descriptor of a file, which cannot be closed, and be another file's, meanwhile.
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
		err = os.ErrClosed // Control has no other reason, and does not say this one so that errors.Is knows it
	}
	if err != nil {
		return &os.PathError{Op: op, Path: f.Name(), Err: err}
	}
	return nil
}
