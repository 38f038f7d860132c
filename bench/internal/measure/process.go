package measure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ProcessCPU returns the processor time of another process in seconds, with a resolution of 10 ms. It needs /proc.
func ProcessCPU(pid int) (float64, error) {
	_, t, err := ticksOf(pid)
	return float64(t.own) / 100, err
}

// MachineCPU returns the processor time of all processes of the machine in seconds, 0 if unknown.
func MachineCPU() float64 {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	var user, nice, system, idle, wait, interrupts, soft, stolen int64 // in hundredths
	if _, err := fmt.Fscanf(bytes.NewReader(stat), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &interrupts, &soft, &stolen); err != nil {
		return 0
	}
	return float64(user+nice+system+interrupts+soft+stolen) / 100
}

// FamilyCPU returns the processor time of a process and its children, ended ones included, in seconds, with a
// resolution of 10 ms. It needs /proc.
func FamilyCPU(pid int) (float64, error) {
	for {
		_, before, err := ticksOf(pid)
		if err != nil {
			return 0, err
		}
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil {
			return 0, err
		}
		sum := 0
		for _, path := range stats {
			of, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // all digits
			parent, t, err := ticksOf(of)
			if err != nil || of != pid && parent != pid {
				continue // has ended, or belongs to another process
			}
			sum += t.own
			if of == pid {
				sum += t.ended
			}
		}
		_, after, err := ticksOf(pid)
		if err != nil {
			return 0, err
		}
		if before.ended == after.ended { // otherwise a child that ended meanwhile counts twice or not at all
			return float64(sum) / 100, nil
		}
	}
}

// ticks is the processor time of a process, and of its ended children.
type ticks struct{ own, ended int }

func ticksOf(pid int) (parent int, t ticks, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, t, err
	}
	// After the name, which is in parentheses and may contain any: state, parent, then numbers.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 15 {
		return 0, t, fmt.Errorf("/proc/%d/stat makes no sense: %q", pid, b)
	}
	var n [15]int
	for _, i := range []int{1, 11, 12, 13, 14} {
		if n[i], err = strconv.Atoi(fields[i]); err != nil {
			return 0, t, fmt.Errorf("/proc/%d/stat makes no sense: %w", pid, err)
		}
	}
	return n[1], ticks{n[11] + n[12], n[13] + n[14]}, nil
}
