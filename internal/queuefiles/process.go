package queuefiles

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// process has the queue open: this process, or another one that can be killed.
type process interface {
	do(c *call) (answer, error)
	// kill kills the process after a time. It does not wait.
	kill(after time.Duration)
	// end closes the queue or ends the process, if it still runs.
	end()
}

// errKilled is the error of a call without an answer because the process was killed.
var errKilled = errors.New("the process was killed")

// errBefore is errKilled for a call that did not reach the process.
var errBefore = fmt.Errorf("before the call: %w", errKilled)

// here is a queue in this process.
type here struct{ subject }

func (h *here) do(c *call) (answer, error) { return h.subject.do(c), nil }
func (h *here) kill(time.Duration)         {}

func (h *here) end() {
	if h.queue != nil {
		_ = h.queue.Close() // only open after a failed round
	}
}

const env = "AZSEARCH_QUEUEFILES"

// Main must be the first call of a program that uses Run. In a process started by Run it does not return.
func Main() {
	if os.Getenv(env) == "" {
		return
	}
	calls := make(chan *call)
	go func() {
		for in := gob.NewDecoder(os.Stdin); ; {
			c := new(call)
			if in.Decode(c) != nil {
				os.Exit(0) // the judge has ended, or needs no more calls
			}
			calls <- c
		}
	}()
	out := gob.NewEncoder(os.Stdout)
	var s subject
	for c := range calls {
		if err := out.Encode(s.do(c)); err != nil {
			os.Exit(1)
		}
	}
}

// there is a queue in another process.
type there struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	out    *gob.Encoder
	in     *gob.Decoder
	stderr bytes.Buffer
	timer  *time.Timer
	killed atomic.Bool
}

func start() (*there, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &there{cmd: exec.Command(program)}
	p.cmd.Env = append(os.Environ(), env+"=1")
	p.cmd.Stderr = &p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdin, p.out, p.in = stdin, gob.NewEncoder(stdin), gob.NewDecoder(stdout)
	return p, p.cmd.Start()
}

func (p *there) do(c *call) (a answer, err error) {
	err = p.out.Encode(c)
	before := p.killed.Load()
	if err == nil {
		err = p.in.Decode(&a)
	}
	switch {
	case err == nil:
		return a, nil
	case before:
		return a, errBefore
	case p.killed.Load():
		return a, errKilled
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // completes stderr
	return a, fmt.Errorf("the process ended without a kill (%w):\n%s", err, strings.TrimSpace(p.stderr.String()))
}

func (p *there) kill(after time.Duration) {
	p.timer = time.AfterFunc(after, func() {
		p.killed.Store(true)
		_ = p.cmd.Process.Kill()
	})
}

func (p *there) end() {
	if p.timer != nil {
		p.timer.Stop()
	}
	_ = p.stdin.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
