//go:build !linux

package filequeue

// networkName always returns "": network file systems are recognized on Linux only.
func networkName(string) string { return "" }
