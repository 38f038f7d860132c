package servers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

const (
	sigStop = syscall.SIGSTOP
	sigCont = syscall.SIGCONT
)

// dieWithParent has the kernel send the server a signal when the test process ends in a way that
// runs no deferred call: a time-out of go test, a kill. The kernel looks at the thread that started the
// server; the threads of a Go program stay, but for those that a goroutine has locked and left.
func dieWithParent(cmd *exec.Cmd, s syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: s}
}

// childrenOf reads the parents of all processes, each the second field after the name in
// /proc/PID/stat: not every machine has the program ps.
func childrenOf(pid int) (children []int, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		var state byte
		var parent int
		name := bytes.LastIndexByte(stat, ')') // which may hold anything
		if _, err := fmt.Sscanf(string(stat[name+1:]), " %c %d", &state, &parent); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if parent == pid {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			children = append(children, child)
		}
	}
	return children, nil
}
