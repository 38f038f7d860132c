//go:build unix

package stage

import (
	"os"
	"syscall"
)

// CanFreeze reports whether the system supports Worker.Freeze.
const CanFreeze = true

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
