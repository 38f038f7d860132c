package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
)

// post is a place in the crew: one worker after the other works there.
type post struct {
	job       job
	processes bool // each is one of its own

	// Of the worker that is there now.
	process *os.Process // nil if it is a goroutine
	orders  io.Closer   // it ends when this is closed
	ready   chan struct{}
	ended   chan struct{} // closed when all that it has said was noted
	exit    error
	stats   outbox.Stats

	// Of all that have been there. Read them when ended is closed.
	transactions, bookings map[string]int // by their end
	relayed                outbox.Stats
}

// start puts a worker there.
func (p *post) start(stderr io.Writer) error {
	p.ready, p.ended, p.exit, p.stats = make(chan struct{}), make(chan struct{}), nil, outbox.Stats{}
	if p.transactions == nil {
		p.transactions, p.bookings = make(map[string]int), make(map[string]int)
	}
	if p.processes {
		return p.startProcess(stderr)
	}
	p.job.log = stderr
	orders, give := io.Pipe()
	reports, say := io.Pipe()
	p.orders = give
	exit := make(chan error, 1)
	go func() {
		err := p.job.work(context.Background(), orders, say)
		_ = say.Close() // of a pipe: it never fails
		exit <- err
	}()
	go p.watch(reports, func() error { return <-exit })
	return nil
}

func (p *post) startProcess(stderr io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	j := p.job
	cmd := exec.Command(program, "-role", j.role, "-file", j.at.file, "-dsn", j.at.dsn, "-schema", j.at.schema, "-endpoint", j.endpoint, fmt.Sprintf("-v=%v", j.verbose))
	cmd.Stderr = stderr
	if p.orders, err = cmd.StdinPipe(); err != nil {
		return err
	}
	reports, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.process = cmd.Process
	go p.watch(reports, cmd.Wait)
	return nil
}

// watch takes the reports of a worker until it ends: what a process has written before it was killed is
// still in the pipe.
func (p *post) watch(reports io.Reader, wait func() error) {
	defer close(p.ended)
	var errs []error
	lines := bufio.NewScanner(reports)
	for lines.Scan() {
		if err := p.note(lines.Text()); err != nil {
			errs = append(errs, err)
		}
	}
	p.exit = errors.Join(append(errs, lines.Err(), wait())...)
	add(&p.relayed, p.stats)
}

func (p *post) note(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "ready":
		close(p.ready)
		return nil
	case "stats":
		return json.Unmarshal([]byte(rest), &p.stats)
	case committed, rolledBack, brokenOff, refused:
		var n int
		if _, err := fmt.Sscan(rest, &n); err != nil {
			return fmt.Errorf("a worker reports %q: %w", line, err)
		}
		p.transactions[word]++
		p.bookings[word] += n
		return nil
	}
	return fmt.Errorf("a worker reports %q", line)
}

// kill ends a process at once, with kill -9, and waits for its last reports.
func (p *post) kill() {
	_ = p.process.Kill() // or it has ended
	<-p.ended
}

// end has a worker end by itself, and waits for it.
func (p *post) end() error {
	if err := p.orders.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	<-p.ended
	if p.exit != nil {
		return fmt.Errorf("a worker (%s) has ended with an error: %w", p.job.role, p.exit)
	}
	return nil
}

// add adds what a relay has done to what others have.
func add(sum *outbox.Stats, s outbox.Stats) {
	sum.Read += s.Read
	sum.Sent += s.Sent
	sum.Deleted += s.Deleted
	sum.Folded += s.Folded
	sum.Dead += s.Dead
	sum.Failed += s.Failed
	sum.Stale += s.Stale
	sum.LeasesLost += s.LeasesLost
	sum.Late += s.Late
}
