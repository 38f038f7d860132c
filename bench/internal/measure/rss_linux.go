package measure

import (
	"bytes"
	"fmt"
	"os"
)

// RSS returns how much memory the process has now, in bytes; 0: not known.
func RSS() int64 { return memoryStatus("VmRSS:") }

// peakRSS returns the most memory that the process has had at once, in bytes.
// It asks the kernel for that of this program: the Maxrss of getrusage begins
// with what the process that started it had.
func peakRSS() int64 { return memoryStatus("VmHWM:") }

func memoryStatus(name string) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(status, []byte(name))
	var kilobytes int64
	if _, err := fmt.Fscan(bytes.NewReader(after), &kilobytes); err != nil {
		return 0
	}
	return kilobytes << 10
}
