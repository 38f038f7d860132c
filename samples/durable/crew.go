package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// post is a place in the crew: one process after the other works there.
type post struct {
	job    job
	ledger *ledger // nil if it does not add
	stderr io.Writer

	// Of the process that works there now.
	cmd    *exec.Cmd
	orders io.WriteCloser
	ready  chan struct{} // closed when it works
	ended  chan struct{} // closed when all of the rest has been written
	err    error         // what was wrong with its reports
	result result
	exit   error
}

// result is what a worker says at its end; zero if it was killed.
type result struct {
	said                  bool
	kept, stale, released int64
}

// start starts a process of this program.
func (p *post) start() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"-role", p.job.role, "-redis", p.job.redis, "-dir", p.job.dir, "-name", p.job.name, "-endpoint", p.job.endpoint}
	if p.ledger != nil {
		args = append(args, "-adder", strconv.Itoa(p.ledger.adder), "-next", strconv.FormatInt(p.ledger.tried+1, 10))
	}
	args = append(args, fmt.Sprintf("-kill=%v", p.job.kill), fmt.Sprintf("-v=%v", p.job.verbose))
	p.cmd = exec.Command(program, args...)
	p.cmd.Stderr = p.stderr
	if p.orders, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	reports, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.ready, p.ended, p.err, p.result = make(chan struct{}), make(chan struct{}), nil, result{}
	go p.watch(reports)
	return nil
}

// watch takes the reports of a process until it ends: what it has written before it was killed is
// still in the pipe.
func (p *post) watch(reports io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(reports)
	for lines.Scan() {
		if err := p.note(lines.Text()); err != nil && p.err == nil {
			p.err = err
		}
	}
	p.exit = p.cmd.Wait()
	if p.ledger != nil {
		p.ledger.died()
	}
}

func (p *post) note(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	var first, last int64
	if word == "try" || word == "ack" {
		if n, err := fmt.Sscan(rest, &first, &last); n != 2 || p.ledger == nil {
			return fmt.Errorf("worker %d reports %q: %w", p.cmd.Process.Pid, line, err)
		}
	}
	switch word {
	case "ready":
		close(p.ready)
		return nil
	case "try":
		return p.ledger.try(first, last)
	case "ack":
		return p.ledger.ack(first, last)
	case "end":
		p.result.said = true
		_, err := fmt.Sscan(rest, &p.result.kept, &p.result.stale, &p.result.released)
		return err
	}
	return fmt.Errorf("worker %d reports %q", p.cmd.Process.Pid, line)
}

// kill ends the process at once, and waits for its last reports.
func (p *post) kill() error {
	_ = p.cmd.Process.Kill() // or it has ended
	<-p.ended
	return p.err
}

// order has the process end by itself.
func (p *post) order(what string) error {
	_, err := io.WriteString(p.orders, what+"\n")
	return errors.Join(err, p.orders.Close())
}

// finished waits for a process that was told to end.
func (p *post) finished() (result, error) {
	<-p.ended
	if err := errors.Join(p.err, p.exit); err != nil {
		return p.result, fmt.Errorf("a worker that was to %s has ended with an error: %w", p.job.role, err)
	}
	if !p.result.said {
		return p.result, errors.New("a worker has ended without a result")
	}
	return p.result, nil
}
