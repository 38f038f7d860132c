//go:build !linux

package main

// peakRSS returns 0: not measured on this system.
func peakRSS() int64 { return 0 }
