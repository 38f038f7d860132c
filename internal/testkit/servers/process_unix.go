//go:build unix && !linux

package servers

import (
	"bytes"
	"fmt"
	"os/exec"
	"syscall"
)

const (
	sigStop = syscall.SIGSTOP
	sigCont = syscall.SIGCONT
)

// dieWithParent does nothing, because only Linux supports it.
func dieWithParent(*exec.Cmd, syscall.Signal) {}

func childrenOf(pid int) (children []int, err error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	for line := range bytes.Lines(out) {
		var child, parent int
		if _, err := fmt.Sscan(string(line), &child, &parent); err != nil {
			return nil, fmt.Errorf("ps: %q: %w", line, err)
		}
		if parent == pid {
			children = append(children, child)
		}
	}
	return children, nil
}
