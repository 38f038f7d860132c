package measure

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// RSS returns the current memory of the process in bytes; 0: unknown. It excludes pages of the program's file, which
// the kernel maps and reclaims at will and which are the same for all commands.
func RSS() int64 { return memoryStatus("self", "RssAnon:") }

// ProcessRSS is RSS of another process.
func ProcessRSS(pid int) int64 { return memoryStatus(strconv.Itoa(pid), "RssAnon:") }

// PeakRSS returns the peak memory of the process in bytes, without those pages. It reads /proc, because Maxrss of
// getrusage starts with the value of the parent process.
func PeakRSS() int64 { return max(0, memoryStatus("self", "VmHWM:")-memoryStatus("self", "RssFile:")) }

func memoryStatus(process, name string) int64 {
	status, err := os.ReadFile("/proc/" + process + "/status")
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
