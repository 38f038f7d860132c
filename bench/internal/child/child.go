// Package child starts this program again, in processes beside its own: those that serve until their standard input
// ends, and those that carry out one task.
package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Command returns the command that runs this program with other arguments.
func Command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, program, args...), nil
}

// Task returns the command that carries out a task of a command of this program (see cli.Command).
func Task(ctx context.Context, command, name string, task any) (*exec.Cmd, error) {
	text, err := json.Marshal(task)
	if err != nil {
		return nil, err
	}
	return Command(ctx, command, name, string(text))
}

// Run runs the command that command returns, for at most so long, and decodes
// the JSON that it writes. What it writes to its standard error is of interest
// only if it fails.
func Run(ctx context.Context, timeout time.Duration, command func(context.Context) (*exec.Cmd, error), into any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd, err := command(ctx)
	if err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("not done after %v", timeout)
		}
		return fmt.Errorf("%w: %s", err, lastLine(stderr.Bytes()))
	}
	return json.Unmarshal(stdout.Bytes(), into)
}

// lastLine returns the last line that is not empty, or a part of it.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Sprintf("%.300s", lines[len(lines)-1])
}

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

// PID is the number of the process.
func (p *Process) PID() int { return p.command.Process.Pid }

// Stop ends the standard input of the program and waits until it has ended.
func (p *Process) Stop() error { return errors.Join(p.stdin.Close(), p.command.Wait()) }
