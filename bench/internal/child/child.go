// Package child starts this program again in other processes: servers that run until their standard input ends, and
// tasks.
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

// Command returns a command that runs this program with other arguments.
func Command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, program, args...), nil
}

// Task returns a command that runs a task of this program, see cli.Command.
func Task(ctx context.Context, command, name string, task any) (*exec.Cmd, error) {
	text, err := json.Marshal(task)
	if err != nil {
		return nil, err
	}
	return Command(ctx, command, name, string(text))
}

// Run runs the command that command returns, with a timeout, and decodes its JSON output into into. It uses the
// standard error output only for its error.
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

// lastLine returns the last non-empty line, possibly shortened.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Sprintf("%.300s", lines[len(lines)-1])
}

// Process is a running program.
type Process struct {
	Stdout io.Reader // must be read until the expected output has come

	stdin   io.Closer
	command *exec.Cmd
}

// Start starts a program that shares this process's standard error output. The caller must call Stop.
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

// PID returns the process ID.
func (p *Process) PID() int { return p.command.Process.Pid }

// Stop closes the program's standard input and waits for its end.
func (p *Process) Stop() error { return errors.Join(p.stdin.Close(), p.command.Wait()) }
