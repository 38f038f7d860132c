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

// Worker runs one process of this program after another; each may be killed at any moment. A process reports on its
// standard output, line by line, first "ready".
type Worker struct {
	Role string // for messages
	// Job returns the job of the next process. It is passed as JSON; Program.Worker decodes it.
	Job func() any
	// Note receives each line that the process reports.
	Note func(line string) error
	// Ended is called after the last line.
	Ended func()

	program *Program
	process *os.Process
	orders  io.WriteCloser
	ready   chan struct{} // closed when the process reports ready
	ended   chan struct{} // closed after the last report
	exit    error
}

// Worker declares the flag with which this program starts itself as a worker, and returns a constructor. The process
// decodes its job and calls work, which ends after an order. Ctrl-C reaches only the parent process.
func (p *Program) Worker(job any, work func(ctx context.Context, orders io.Reader, reports io.Writer) error) func(Worker) *Worker {
	p.Func("worker", "run the `JOB` of a worker process; for this program only", func(text string) error {
		p.work = work
		return json.Unmarshal([]byte(text), job)
	})
	return func(w Worker) *Worker {
		w.program = p
		return &w
	}
}

// Orders returns a channel that receives one line from standard input: the order to end, or "" if the parent process
// died.
func Orders(in io.Reader) <-chan string {
	told := make(chan string, 1) // buffered: the reader does not block
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n')
		told <- line
	}()
	return told
}

// Disturb calls harm for ready workers, one after another at random moments, until pick returns nil or ctx ends.
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

// watch handles the reports until they end. Reports that a process wrote before it was killed are still in the pipe.
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

// Kill ends a process like kill -9, waits for its last reports, and starts the next one.
func (w *Worker) Kill() error {
	_ = w.process.Kill() // fails if the process has ended
	<-w.ended
	return w.Start()
}

// Freeze stops a process; Thaw lets it continue. They need the signals STOP and CONT, see CanFreeze.
func (w *Worker) Freeze() error { return freeze(w.process) }

// Thaw continues a process after Freeze.
func (w *Worker) Thaw() error { return thaw(w.process) }

// Order sends a worker its order to end.
func (w *Worker) Order(order string) error {
	_, err := io.WriteString(w.orders, order)
	return errors.Join(err, w.orders.Close())
}

// Finished waits for a worker that has its order to end, and returns its error.
func (w *Worker) Finished() error {
	<-w.ended
	if w.exit != nil {
		return fmt.Errorf("a worker (%s) has ended with an error: %w", w.Role, w.exit)
	}
	return nil
}

// End orders a worker to end by closing its standard input, and waits for it.
func (w *Worker) End() error {
	if err := w.orders.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return w.Finished()
}

// Alive reports whether a worker is ready. It returns an error if the worker has ended without an order.
func (w *Worker) Alive() (ready bool, err error) {
	select {
	case <-w.ended: // tested first, because an ended worker may have been ready
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

// Close kills a worker that still runs.
func (w *Worker) Close() {
	if w.process != nil {
		_ = w.process.Kill()
		<-w.ended
	}
}
