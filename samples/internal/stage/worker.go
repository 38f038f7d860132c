package stage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"
)

// Worker is a place where one process of this program after the other works, to be ended at any moment. It says what it
// does on its standard output, line by line, and "ready" when it has begun.
type Worker struct {
	Role string // for messages
	// Job returns what the next process does, which Program.Worker decodes.
	Job func() any
	// Note takes a line that the worker has reported.
	Note func(line string) error
	// Ended is called when all of its lines were taken.
	Ended func()

	program *Program
	process *os.Process
	orders  io.WriteCloser
	ready   chan struct{} // closed when it works
	ended   chan struct{} // closed when all that it has reported was noted
	exit    error
}

// Worker declares the flag with which this program starts itself as a worker, and returns how to make one. The process
// decodes its job and calls work, which ends when it is told so; Ctrl-C is for the process that has started it.
func (p *Program) Worker(job any, work func(ctx context.Context, orders io.Reader, reports io.Writer) error) func(Worker) *Worker {
	p.Func("worker", "of a process that this program has started: its `JOB`", func(text string) error {
		p.work = work
		return json.Unmarshal([]byte(text), job)
	})
	return func(w Worker) *Worker {
		w.program = p
		return &w
	}
}

// Orders returns what a worker is told on its standard input: the line with which it is to end, "" if whoever has
// started it has died.
func Orders(in io.Reader) <-chan string {
	told := make(chan string, 1) // one place: the reader does not wait for anybody
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n')
		told <- line
	}()
	return told
}

// Disturb does harm to workers that have begun to work, one after the other at random moments, until pick returns nil
// or ctx ends.
func Disturb(ctx context.Context, atMost time.Duration, pick func() *Worker, harm func(w *Worker) error) error {
	for Wait(ctx, 50*time.Millisecond+rand.N(atMost)) {
		w := pick()
		if w == nil {
			return nil
		}
		ready, err := w.Alive()
		if err == nil && ready {
			err = harm(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Start starts a worker.
func (w *Worker) Start() error {
	w.ready, w.ended, w.exit = make(chan struct{}), make(chan struct{}), nil
	program, err := os.Executable()
	if err != nil {
		return err
	}
	job, err := json.Marshal(w.Job())
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "-worker", string(job), fmt.Sprintf("-v=%v", w.program.verbose))
	cmd.Stderr = w.program.Err
	if w.orders, err = cmd.StdinPipe(); err != nil {
		return err
	}
	reports, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w.process = cmd.Process
	go w.watch(reports, cmd.Wait)
	return nil
}

// watch takes the reports until they end: what a process has written before it was killed is still in the pipe.
func (w *Worker) watch(reports io.Reader, wait func() error) {
	defer close(w.ended)
	var errs []error
	lines := bufio.NewScanner(reports)
	for lines.Scan() {
		if line := lines.Text(); line == "ready" {
			close(w.ready)
		} else if err := w.Note(line); err != nil {
			errs = append(errs, fmt.Errorf("a worker (%s) reports %q: %w", w.Role, line, err))
		}
	}
	w.exit = errors.Join(append(errs, lines.Err(), wait())...)
	if w.Ended != nil {
		w.Ended()
	}
}

// Kill ends a process at once, as kill -9 does, waits for its last reports and starts the next one.
func (w *Worker) Kill() error {
	_ = w.process.Kill() // or it has ended
	<-w.ended
	return w.Start()
}

// Freeze stops a process where it is, and Thaw lets it continue as if nothing had happened. They need the signals STOP
// and CONT.
func (w *Worker) Freeze() error { return freeze(w.process) }

// Thaw is the end of Freeze.
func (w *Worker) Thaw() error { return thaw(w.process) }

// Order sends a line to a worker, which is its order to end.
func (w *Worker) Order(order string) error {
	_, err := io.WriteString(w.orders, order)
	return errors.Join(err, w.orders.Close())
}

// Finished waits for a worker that has the order to end.
func (w *Worker) Finished() error {
	<-w.ended
	if w.exit != nil {
		return fmt.Errorf("a worker (%s) has ended with an error: %w", w.Role, w.exit)
	}
	return nil
}

// End has a worker end, and waits for it.
func (w *Worker) End() error {
	if err := w.orders.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return w.Finished()
}

// Alive reports whether a worker has begun to work. It is an error if it has ended without an order.
func (w *Worker) Alive() (ready bool, err error) {
	select {
	case <-w.ended: // first: one that has ended may have been ready
		return false, errors.Join(fmt.Errorf("a worker (%s) has ended without an order", w.Role), w.exit)
	default:
	}
	select {
	case <-w.ready:
		return true, nil
	default:
		return false, nil
	}
}

// Close ends a worker that still runs, whatever it does.
func (w *Worker) Close() {
	if w.process != nil {
		_ = w.process.Kill()
		<-w.ended
	}
}
