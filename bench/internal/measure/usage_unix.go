//go:build unix

package measure

import (
	"syscall"
	"time"
)

// cpuTime returns the time that the process has spent on the processors, its own
// and the kernel's on its behalf.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
