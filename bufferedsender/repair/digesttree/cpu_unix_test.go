//go:build unix

package digesttree

import (
	"syscall"
	"time"
)

// cpuTime is the processor time of the process, including the kernel.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
