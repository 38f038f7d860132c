// Package child starts the programs that the benchmarks run beside themselves:
// those that serve until their standard input ends.
package child

import (
	"errors"
	"io"
	"os"
	"os/exec"
)

// Process is a program that runs.
type Process struct {
	Stdout io.Reader // to be read until what is wanted has come

	stdin   io.Closer
	command *exec.Cmd
}

// Start starts a program, with the standard error output of this one. Whoever
// starts it calls Stop.
func Start(command *exec.Cmd) (*Process, error) {
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return &Process{Stdout: stdout, stdin: stdin, command: command}, nil
}

// Stop ends the standard input of the program and waits until it has ended.
func (p *Process) Stop() error { return errors.Join(p.stdin.Close(), p.command.Wait()) }
