//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package main

import "runtime"

// peakMemory returns how much memory the Go runtime has taken from the system,
// in bytes: it gives back the contents but not the addresses, so this is a peak.
func peakMemory() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys)
}
