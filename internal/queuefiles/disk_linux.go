package queuefiles

import (
	"fmt"
	"runtime"
	"syscall"
)

// onSmallDisk runs f with an in-memory file system of size bytes mounted on dir. Only calls on f's goroutine and
// processes started by f see the mount, because it is in the namespace of one thread, and ends with that thread.
// mounted is false if this process may not mount.
func onSmallDisk(dir string, size int, f func() error) (mounted bool, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if syscall.Unshare(syscall.CLONE_NEWNS) != nil ||
			syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "") != nil ||
			syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)) != nil {
			return
		}
		mounted = true
		err = f()
	}()
	<-done
	return mounted, err
}

// room is the free space of the file system of dir, in bytes.
func room(dir string) (int, error) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	return int(s.Bavail) * int(s.Bsize), err
}
