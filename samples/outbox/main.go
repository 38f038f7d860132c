// Command outbox shows a transactional outbox at work: programs book and cancel rooms of hotels in a
// database, and a search index follows. Some of their transactions commit, some roll back, and some end with
// their connection, in the middle. In the end the index is compared with the table, key by key.
//
//	go run ./samples/outbox                      # SQLite in a temporary file: nothing to install
//	go run ./samples/outbox -kill                # all are processes of their own, and kill -9 ends them at random
//	go run ./samples/outbox -kill -dsn postgres://localhost/postgres
//
// booking.go is what your program would have: tables, transaction and relay. worker.go has writers that try
// everything, and this file starts writers and relays, ends them, and compares. With
// -dsn everything is in a schema of its own, which is dropped at the end.
//
// What to look at in the output: nothing that was rolled back was ever in the index, not even for a moment; and
// relays send less than was committed, because what changes often is folded. With -kill the keys of a relay that was
// killed wait until its leases have run out, here for nine seconds.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("outbox", program) }

// config is what the flags say.
type config struct {
	place

	kill     bool
	lasts    time.Duration
	role     string // of a worker, "" in the process that starts them
	endpoint string
	logger   *slog.Logger
}

func program(p *stage.Program) func(context.Context) error {
	c := &config{logger: p.Logger()}
	p.StringVar(&c.dsn, "dsn", "", "use the PostgreSQL database at this `URL` (default: SQLite, in a temporary file)")
	p.BoolVar(&c.kill, "kill", false, "have a process for each writer and relay, and kill them at random")
	lasts := p.Positive("for", 5*time.Second, "write for this `DURATION` (with -kill by default three times as long)")
	p.StringVar(&c.role, "role", "", "of a process that this program has started: `ROLE` write or relay")
	p.StringVar(&c.file, "file", "", "its database, the `FILE` of SQLite")
	p.StringVar(&c.schema, "schema", "", "or the `SCHEMA` of PostgreSQL")
	p.StringVar(&c.endpoint, "endpoint", "", "the `URL` of the service")
	p.Check = func() error {
		if c.role != "" && c.role != roleWrite && c.role != roleRelay {
			return fmt.Errorf("-role %q is unknown", c.role)
		}
		return nil
	}
	return func(ctx context.Context) error {
		if c.role != "" {
			return c.work(context.WithoutCancel(ctx), c.role, p.In, p.Out) // Ctrl-C is for the one that has started it
		}
		if c.lasts = *lasts; c.kill && !p.Given("for") {
			c.lasts *= 3
		}
		return tell(ctx, c, p)
	}
}

// How many there are.
const (
	writers = 4
	relays  = 2
)

// patience is how long relays may take to send the rest: until the leases of one that was killed have run out, and
// some more. It is shorter than outbox.DefaultFullPass, which sends what should have been sent before and would hide
// that it was not.
const patience = lease + 16*time.Second

// story is where all of it happens.
type story struct {
	*config

	out       io.Writer
	service   *stage.Service
	store     *store
	posts     []*post
	kills     map[string]int // by role
	beginning time.Time
	wrote     time.Duration
	rest      int64 // how many rows there were when nothing was written any more
	caughtUp  time.Duration
}

// post is a place for one worker after the other. Read what they have reported when they have ended.
type post struct {
	stage.Worker

	transactions, bookings map[string]int // by their end
}

// tell starts workers, lets them work, ends them, and compares. Ctrl-C ends the writing early: what was written is
// sent, and compared.
func tell(ctx context.Context, c *config, p *stage.Program) (err error) {
	// What it was asked is looked through at the end.
	service, err := stage.Serve[Booking](ctx, indexName, &searchtest.Options{KeepRequests: 1_000_000, KeepChanges: 1_000_000, KeepContents: true})
	if err != nil {
		return err
	}
	defer service.Close()
	s := &story{config: c, out: p.Out, service: service, kills: make(map[string]int)}
	c.endpoint = service.Emulator.URL()
	where := ""
	if c.dsn == "" {
		dir, err := os.MkdirTemp("", "outbox")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		c.file = filepath.Join(dir, "hotels.db")
		where = "SQLite, in " + c.file
	} else {
		c.schema = fmt.Sprintf("outbox_%08x", rand.Uint32())
		remove, err := c.createSchema(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remove()) }()
		where = "PostgreSQL, in the schema " + c.schema
	}
	if s.store, err = c.open(); err != nil {
		return err
	}
	defer s.store.db.Close()
	if err := s.store.prepare(ctx); err != nil {
		return err
	}
	kind := "goroutines of this process"
	if c.kill {
		kind = "processes, which are killed at random"
	}
	fmt.Fprintf(s.out, "bookings  in %s\nworkers   %d writers and %d relays, all of them %s\n", where, writers, relays, kind)
	for i := range writers + relays {
		w := s.newPost(map[bool]string{true: roleWrite, false: roleRelay}[i < writers], p.Err)
		defer w.Close()
		if err := w.Start(); err != nil {
			return err
		}
	}
	s.beginning = time.Now()
	happens := s.release
	if c.kill {
		happens = s.disturb
	}
	if err := happens(ctx); err != nil {
		return err
	}
	// From here on without ctx: after Ctrl-C what was written is sent, and compared.
	interrupted := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	return s.verify(ctx, interrupted)
}

func (s *story) newPost(role string, stderr io.Writer) *post {
	p := &post{Worker: stage.Worker{Role: role, Err: stderr}, transactions: make(map[string]int), bookings: make(map[string]int)}
	p.Note = p.note
	if s.kill {
		verbose := s.logger.Enabled(context.Background(), slog.LevelInfo)
		p.Args = func() []string {
			return []string{"-role", role, "-file", s.file, "-dsn", s.dsn, "-schema", s.schema, "-endpoint", s.endpoint, fmt.Sprintf("-v=%v", verbose)}
		}
	} else {
		p.Goroutine = func(ctx context.Context, orders io.Reader, reports io.Writer) error {
			return s.work(ctx, role, orders, reports)
		}
	}
	s.posts = append(s.posts, p)
	return p
}

// note takes a line that a worker reports.
func (p *post) note(line string) error {
	var end string
	var n int
	if _, err := fmt.Sscan(line, &end, &n); err != nil {
		return err
	}
	p.transactions[end]++
	p.bookings[end] += n
	return nil
}

// disturb kills processes at random moments while they write: most often writers, because a relay's keys wait until
// its leases have run out. The first relay is killed soon, so that somebody takes its keys over. However slow the
// machine is, it does not end before one of each was killed.
func (s *story) disturb(ctx context.Context) error {
	nextRelay := s.beginning.Add(time.Second)
	return stage.Disturb(ctx, 300*time.Millisecond, func() *stage.Worker {
		switch {
		case time.Since(s.beginning) >= s.lasts && s.kills[roleWrite] > 0 && s.kills[roleRelay] > 0:
			return nil
		case time.Now().After(nextRelay):
			return &s.posts[writers+rand.IntN(relays)].Worker
		}
		return &s.posts[rand.IntN(writers)].Worker
	}, func(w *stage.Worker) error {
		if s.kills[w.Role]++; w.Role == roleRelay {
			nextRelay = time.Now().Add(time.Duration(1+rand.IntN(4)) * time.Second)
		}
		return w.Kill()
	})
}

// release ends a relay half-way, as a new release of a program does, and starts another one. Its keys go
// to the other relay meanwhile, at once.
func (s *story) release(ctx context.Context) error {
	stage.Wait(ctx, s.lasts/2)
	p := s.posts[writers]
	if _, err := p.Alive(); err != nil {
		return err
	}
	if err := errors.Join(p.End(), p.Start()); err != nil {
		return err
	}
	stage.Wait(ctx, s.lasts/2)
	return nil
}

// catchUp ends the writers, waits until the outbox is empty, and ends the relays.
func (s *story) catchUp(ctx context.Context) error {
	if err := end(s.posts[:writers]); err != nil {
		return err
	}
	s.wrote = time.Since(s.beginning)
	began := time.Now()
	first := true
	err := stage.Until(ctx, patience, 10*time.Millisecond, func() (bool, error) {
		lag, err := s.store.outbox.Lag(ctx, s.store.db)
		if err != nil {
			return false, err
		}
		if first {
			s.rest, first = lag.Rows, false
		}
		for _, p := range s.posts[writers:] {
			if _, err := p.Alive(); err != nil {
				return false, err
			}
		}
		return lag.Rows == 0, nil
	})
	if err != nil {
		return fmt.Errorf("relays have not sent all rows: %w", err)
	}
	s.caughtUp = time.Since(began)
	return end(s.posts[writers:])
}

// end has workers end, and waits for them.
func end(posts []*post) (err error) {
	for _, p := range posts {
		err = errors.Join(err, p.End())
	}
	return err
}
