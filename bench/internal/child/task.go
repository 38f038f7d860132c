package child

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// TaskCommand is the first argument of a process that carries out one task of
// the program that started it.
const TaskCommand = "task"

// Task returns the command that carries out a task, which is its second
// argument in JSON.
func Task(ctx context.Context, program string, task any) (*exec.Cmd, error) {
	text, err := json.Marshal(task)
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, program, TaskCommand, string(text)), nil
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
