package measure

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// RSS returns how much memory the process has now, in bytes; 0: not known. The pages of the program's file, which the
// kernel maps by the megabyte and takes back when it wants, are left out: they are those of all commands.
func RSS() int64 { return memoryStatus("self", "RssAnon:") }

// ProcessRSS is RSS of another process.
func ProcessRSS(pid int) int64 { return memoryStatus(strconv.Itoa(pid), "RssAnon:") }

// PeakRSS returns the most memory that the process has had at once, in bytes, without those pages.
// It asks the kernel for that of this program: the Maxrss of getrusage begins
// with what the process that started it had.
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
