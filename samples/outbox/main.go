// Command outbox shows a transactional outbox: programs book and cancel hotel rooms in a database, and a search index
// follows. Some transactions commit, some roll back, and some lose their connection half-way. At the end every
// document is compared with the table.
//
//	go run ./samples/outbox                      # SQLite in a temporary file: nothing to install
//	go run ./samples/outbox -kill                # the same, with kill -9 of random processes
//	go run ./samples/outbox -kill -dsn postgres://localhost/postgres
//
// booking.go is the part to copy: tables, transactions and relay. worker.go has the writers. This file starts and
// ends writers and relays, each in its own process, and compares.
//
// A rolled-back change never reaches the index, not even for a moment. With -kill the keys of a killed relay wait
// until its leases expire, here for nine seconds.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("outbox", program) }

func program(p *stage.Program) func(context.Context) error {
	s := &story{out: p.Out, kills: map[string]int{}, transactions: map[string]int{}, bookings: map[string]int{}}
	logger := p.Logger()
	p.StringVar(&s.DSN, "dsn", "", "use the PostgreSQL database at this `URL` (default: SQLite, in a temporary file)")
	p.BoolVar(&s.kill, "kill", false, "kill the writers and relays at random")
	p.DurationVar(&s.lasts, "for", 5*time.Second, "write for this `DURATION`")
	s.newWorker = p.Worker(&s.job, func(ctx context.Context, in io.Reader, out io.Writer) error { return s.work(ctx, logger, in, out) })
	return s.tell
}

// The number of processes.
const (
	writers = 4
	relays  = 2
)

// patience is how long relays may take to send the remaining rows: until the leases of a killed relay expire, and
// some seconds. It is below two minutes, because a relay then reads all rows again and would hide a row that it had
// skipped.
const patience = lease + 16*time.Second

// story is the state of the run.
type story struct {
	job
	kill      bool
	lasts     time.Duration
	out       io.Writer
	newWorker func(stage.Worker) *stage.Worker

	service *stage.Service
	store   *store
	workers []*stage.Worker // writers first, then relays
	kills   map[string]int  // by role

	mu                     sync.Mutex     // guards the fields below
	transactions, bookings map[string]int // by the end of the transaction
}

// Ctrl-C only ends the writing early: committed changes are still sent and compared.
func (s *story) tell(ctx context.Context) (err error) {
	// KeepRequests and KeepContents: verify checks every request.
	s.service, err = stage.Serve[Booking](ctx, indexName, &searchtest.Options{KeepRequests: 1_000_000, KeepChanges: 1_000_000, KeepContents: true})
	if err != nil {
		return err
	}
	defer s.service.Close()
	s.Endpoint = s.service.Emulator.URL()
	if s.DSN == "" {
		dir, err := os.MkdirTemp("", "outbox")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s.File = filepath.Join(dir, "hotels.db")
	} else {
		s.Schema = fmt.Sprintf("outbox_%08x", rand.Uint32())
	}
	if s.store, err = s.open(); err != nil {
		return err
	}
	defer s.store.db.Close()
	if s.Schema != "" {
		if _, err := s.store.db.ExecContext(ctx, "CREATE SCHEMA "+s.Schema); err != nil {
			return fmt.Errorf("making the schema %s: %w", s.Schema, err)
		}
		defer func() {
			_, dropped := s.store.db.ExecContext(context.Background(), "DROP SCHEMA "+s.Schema+" CASCADE")
			err = errors.Join(err, dropped)
		}()
	}
	if err := s.store.prepare(ctx); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%d writers, %d relays; the bookings are in %s, %s\n", writers, relays, s.store.outbox.Dialect, s.File+s.Schema)
	for i := range writers + relays {
		j := s.job
		if j.Role = roleWrite; i >= writers {
			j.Role = roleRelay
		}
		w := s.newWorker(stage.Worker{Role: j.Role, Job: func() any { return j }, Note: s.note})
		defer w.Close()
		s.workers = append(s.workers, w)
		if err := w.Start(); err != nil {
			return err
		}
	}
	began := time.Now()
	happens := s.release
	if s.kill {
		happens = s.disturb
	}
	if err := happens(ctx); err != nil {
		return err
	}
	// No ctx from here on: committed changes are sent and compared also after Ctrl-C.
	interrupted := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if err := end(s.workers[:writers]); err != nil {
		return err
	}
	wrote := time.Since(began)
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "wrote     for %.1f s; everything was sent %.1f s later\n", wrote.Seconds(), (time.Since(began) - wrote).Seconds())
	return s.verify(ctx, interrupted)
}

// note handles a line that a worker reports.
func (s *story) note(line string) error {
	var end string
	var n int
	_, err := fmt.Sscan(line, &end, &n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transactions[end]++
	s.bookings[end] += n
	return err
}

// disturb kills random processes while they write, one relay for seven writers, because each killed relay delays its
// keys by a lease. It continues until at least one of each is killed, also on a slow machine.
func (s *story) disturb(ctx context.Context) error {
	end := time.Now().Add(s.lasts)
	return stage.Disturb(ctx, 300*time.Millisecond, func() *stage.Worker {
		killed := s.kills[roleWrite] + s.kills[roleRelay]
		switch {
		case time.Now().After(end) && s.kills[roleWrite] > 0 && s.kills[roleRelay] > 0:
			return nil
		case killed%8 == 1:
			return s.workers[writers+rand.IntN(relays)]
		}
		return s.workers[rand.IntN(writers)]
	}, func(w *stage.Worker) error {
		s.kills[w.Role]++
		return w.Kill()
	})
}

// release ends a relay half-way, as a deployment does, and starts another. Meanwhile its keys go to the other relay
// at once.
func (s *story) release(ctx context.Context) error {
	stage.Wait(ctx, s.lasts/2)
	w := s.workers[writers]
	if _, err := w.Alive(); err != nil {
		return err
	}
	err := errors.Join(w.End(), w.Start())
	stage.Wait(ctx, s.lasts/2)
	return err
}

// catchUp waits until the outbox is empty and then ends the relays.
func (s *story) catchUp(ctx context.Context) error {
	err := stage.Until(ctx, patience, 10*time.Millisecond, func() (bool, error) {
		lag, err := s.store.outbox.Lag(ctx, s.store.db)
		for _, w := range s.workers[writers:] {
			_, ended := w.Alive()
			err = errors.Join(err, ended)
		}
		return lag.Rows == 0, err
	})
	if err != nil {
		return fmt.Errorf("relays have not sent all rows: %w", err)
	}
	return end(s.workers[writers:])
}

// end orders workers to end and waits for them.
func end(workers []*stage.Worker) (err error) {
	for _, w := range workers {
		err = errors.Join(err, w.End())
	}
	return err
}

// verify prints the figures and compares the index with the table.
func (s *story) verify(ctx context.Context, interrupted bool) error {
	fmt.Fprintf(s.out, "          %d transactions committed, %d rolled back, %d broken off, %d refused by the table\n",
		s.transactions[committed], s.transactions[rolledBack], s.transactions[brokenOff], s.transactions[refused])
	if s.kill {
		fmt.Fprintf(s.out, "killed    %d writers, %d relays\n", s.kills[roleWrite], s.kills[roleRelay])
	}
	requests, sent := s.service.Sent()
	fmt.Fprintf(s.out, "relayed   %d rows as %d actions in %d requests: frequent changes are folded\n", s.bookings[committed], sent, requests)
	lag, err := s.store.outbox.Lag(ctx, s.store.db)
	if err != nil {
		return err
	}
	table, err := s.store.all(ctx)
	if err != nil {
		return err
	}
	index, err := stage.Documents[Booking](s.service, indexName)
	if err != nil {
		return err
	}
	problems := append(stage.Differences(table, index), haunted(s.service.Emulator.Changes(indexName))...)
	if lag.Dead > 0 {
		problems = append(problems, fmt.Sprintf("%d rows have become dead letters", lag.Dead))
	}
	for _, end := range []string{committed, rolledBack, brokenOff} {
		if s.transactions[end] == 0 && !interrupted {
			problems = append(problems, "too little has happened to prove anything: no transaction was "+end)
		}
	}
	if err := stage.Problems(problems); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "index == table: yes. %d bookings; nothing of the %d that did not commit was ever in the index\n",
		len(index), s.bookings[rolledBack]+s.bookings[brokenOff])
	return nil
}

// haunted returns the changes from uncommitted transactions that ever reached the index, including those overwritten
// since.
func haunted(changes []searchtest.Change) (problems []string) {
	for _, c := range changes {
		if strings.Contains(string(c.Document), ghost) {
			problems = append(problems, fmt.Sprintf("%s: request %d had a booking that was not committed", c.Key, c.Request))
		}
	}
	return problems
}
