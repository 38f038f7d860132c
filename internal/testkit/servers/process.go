package servers

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is the timeout of a start. Servers start in milliseconds, but slower on a loaded machine.
const patience = 30 * time.Second

// Process is a server process that can be killed and restarted.
type Process struct {
	name  string
	dir   string
	argv  []string
	ready func() error // nil when the server answers

	prepare func(*exec.Cmd) error // called before the start
	family  bool                  // it has children, which are killed and frozen with it

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process of cmd has ended
}

// start starts the process and waits until it answers.
func (p *Process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own descriptor
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	if p.family {
		// With a pipe, Wait also waits for the last child that has it open. Nothing is written there.
		cmd.Stdout = io.Discard
	}
	if err := p.prepare(cmd); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.cmd, p.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait() // the exit status is in its log
		close(ended)
	}(p.ended)
	for until := time.Now().Add(patience); ; {
		if err = p.ready(); err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s has ended: %w\n%s", p.name, err, p.log())
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(until) {
			return errors.Join(fmt.Errorf("%s does not answer after %v: %w\n%s", p.name, patience, err, p.log()), p.end())
		}
	}
}

// end kills the process and waits for its end. The caller has p.mu.
func (p *Process) end() error {
	if p.cmd == nil {
		return nil
	}
	if err := p.send(syscall.SIGKILL, true); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.ended
	p.cmd = nil
	return nil
}

// send sends a signal to the server, and to its children if children is set. The caller has p.mu.
func (p *Process) send(s syscall.Signal, children bool) error {
	var family []*os.Process
	// While frozen it starts no more children. After its end another process may have its number.
	if p.family && children && p.cmd.Process.Signal(sigStop) == nil {
		pids, err := childrenOf(p.cmd.Process.Pid)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, pid := range pids {
			if child, err := os.FindProcess(pid); err == nil {
				family = append(family, child)
			}
		}
	}
	// The server first, because it would restart killed children.
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	for _, child := range family {
		if err := child.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// Kill ends the server and its children like kill -9, and returns when they have ended. It has no effect on a server
// that has ended.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	if err := p.kill(); err != nil {
		t.Fatal(err)
	}
}

func (p *Process) kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end()
}

// Restart starts the server again with its port and data, and returns when it answers. A running server is killed
// first.
func (p *Process) Restart(t testing.TB) {
	t.Helper()
	if err := errors.Join(p.kill(), p.start()); err != nil {
		t.Fatal(err)
	}
}

// Stop freezes the server until Cont: connections stay open, and nothing is answered.
func (p *Process) Stop(t testing.TB) { t.Helper(); p.signal(t, sigStop) }

// Cont continues the server after Stop.
func (p *Process) Cont(t testing.TB) { t.Helper(); p.signal(t, sigCont) }

func (p *Process) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		t.Fatalf("%s does not run", p.name)
	}
	if err := p.send(s, true); err != nil {
		t.Fatal(err)
	}
}

// PID returns the process number of the running server, 0 if it does not run.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

func (p *Process) logFile() string { return filepath.Join(p.dir, "log") }

// log returns the end of the server's output, for a message.
func (p *Process) log() string {
	b, _ := os.ReadFile(p.logFile())
	return string(b[max(0, len(b)-2000):])
}
