//go:build !linux

package measure

// RSS returns 0: not measured on this system.
func RSS() int64 { return 0 }

// peakRSS returns 0: not measured on this system.
func peakRSS() int64 { return 0 }
