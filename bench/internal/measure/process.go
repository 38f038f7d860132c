package measure

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ProcessCPU returns how many seconds of processor time another process has used, in steps of a
// hundredth. It needs a /proc.
func ProcessCPU(pid int) (float64, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	// Behind the name, which is in parentheses and may hold any: state, then numbers.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat makes no sense: %q", pid, b)
	}
	ticks := 0
	for _, f := range fields[11:13] { // of itself and of the kernel for it
		n, err := strconv.Atoi(string(f))
		if err != nil {
			return 0, fmt.Errorf("/proc/%d/stat makes no sense: %w", pid, err)
		}
		ticks += n
	}
	return float64(ticks) / 100, nil
}
