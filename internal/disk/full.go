package disk

import (
	"errors"
	"runtime"
	"syscall"
)

// Full reports whether an error means that the disk has no room.
func Full(err error) bool {
	if runtime.GOOS == "windows" { // package syscall lacks ERROR_DISK_FULL and ERROR_HANDLE_DISK_FULL
		return errors.Is(err, syscall.Errno(112)) || errors.Is(err, syscall.Errno(39)) || errors.Is(err, syscall.ENOSPC)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
