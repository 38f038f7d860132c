package servers

import (
	"os/exec"
	"syscall"
)

const (
	sigStop = syscall.SIGSTOP
	sigCont = syscall.SIGCONT
)

// dieWithParent has the kernel kill the server when the test process ends in a way that runs
// no deferred call: a time-out of go test, a kill. The kernel looks at the thread that started the
// server; the threads of a Go program stay, but for those that a goroutine has locked and left.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
