package main

import "syscall"

// peakRSS returns the most memory that the process has had at once, in bytes.
func peakRSS() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return int64(usage.Maxrss) << 10
}
