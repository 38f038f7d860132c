//go:build !linux

package measure

// RSS returns 0: not measured on this system.
func RSS() int64 { return 0 }

// PeakRSS returns 0: not measured on this system.
func PeakRSS() int64 { return 0 }

// ProcessRSS returns 0: not measured on this system.
func ProcessRSS(int) int64 { return 0 }
