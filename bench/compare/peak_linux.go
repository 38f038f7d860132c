package main

import (
	"bytes"
	"fmt"
	"os"
)

// peakRSS returns the most memory that the process has had at once, in bytes.
// It asks the kernel for that of this program: the Maxrss of getrusage begins
// with what the process that started it had.
func peakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kilobytes int64
	if _, err := fmt.Fscan(bytes.NewReader(after), &kilobytes); err != nil {
		return 0
	}
	return kilobytes << 10
}
