//go:build unix

package digesttree

import (
	"syscall"
	"time"
)

// cpuTime is what the process has taken of the processors, the kernel's part included.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
