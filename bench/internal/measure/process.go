package measure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ProcessCPU returns how many seconds of processor time another process has used, in steps of a
// hundredth. It needs a /proc.
func ProcessCPU(pid int) (float64, error) {
	_, t, err := ticksOf(pid)
	return float64(t.own) / 100, err
}

// MachineCPU returns how many seconds of processor time all processes of the machine have used, 0 if that is not known.
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

// FamilyCPU returns how many seconds of processor time a process and its children have used, those
// that have ended too, in steps of a hundredth. It needs a /proc.
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
				continue // it has ended, or belongs to others
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
		if before.ended == after.ended { // otherwise one may count twice, or not at all
			return float64(sum) / 100, nil
		}
	}
}

// ticks is what a process has used, and what its children that have ended.
type ticks struct{ own, ended int }

func ticksOf(pid int) (parent int, t ticks, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, t, err
	}
	// Behind the name, which is in parentheses and may hold any: state, parent, then numbers.
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
