//go:build unix

package main

import (
	"os"
	"syscall"
)

const canFreeze = true

// freeze stops a process where it is, until thaw.
func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
