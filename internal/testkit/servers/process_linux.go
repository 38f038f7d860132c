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

// dieWithParent makes the kernel send the server a signal when the test process ends without deferred calls: by a
// timeout of go test or a kill. The kernel watches the thread that started the server; threads of a Go program stay,
// except those that a goroutine locked and left.
func dieWithParent(cmd *exec.Cmd, s syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: s}
}

// childrenOf reads the parents of all processes from /proc/PID/stat, where the parent is the second field after the
// name: the program ps may be missing.
func childrenOf(pid int) (children []int, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		var state byte
		var parent int
		name := bytes.LastIndexByte(stat, ')') // the name may have any characters
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
