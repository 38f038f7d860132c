package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	random "math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// How many there are.
const (
	writers = 4
	relays  = 2
)

// patience is how long relays may take to send the rest: until the leases of one that was killed have run out, and some
// more. It is shorter than outbox.DefaultFullPass, which sends what should have been sent before and would hide that it was not.
const patience = lease + 16*time.Second

// story is where all of it happens.
type story struct {
	cfg       *config
	out, err  io.Writer
	service   *searchtest.Server
	at        place
	store     *store
	posts     []*post
	kills     map[string]int // by role
	beginning time.Time
	wrote     time.Duration
	rest      int64 // how many rows there were when nobody wrote any more
	caughtUp  time.Duration
	cleanUps  []func() error
}

// tell starts workers, lets them work, ends them, and compares.
func tell(ctx context.Context, cfg *config, stdout, stderr io.Writer) (err error) {
	s := &story{cfg: cfg, out: stdout, err: stderr, kills: make(map[string]int)}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.build(ctx); err != nil {
		return err
	}
	for _, p := range s.posts {
		if err := p.start(stderr); err != nil {
			return err
		}
	}
	s.beginning = time.Now()
	if cfg.kill {
		err = s.disturb(ctx)
	} else {
		err = s.release(ctx)
	}
	if err != nil {
		return err
	}
	// From here on without ctx: after Ctrl-C what was written is sent, and compared.
	interrupted := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	if err := s.verify(ctx); err != nil || interrupted {
		return err
	}
	return s.enough()
}

// build makes the service, the database and the posts.
func (s *story) build(ctx context.Context) error {
	// What it was asked is looked through at the end.
	s.service = searchtest.NewServer(&searchtest.Options{KeepRequests: 1_000_000, KeepChanges: 1_000_000, KeepContents: true})
	s.cleanUps = append(s.cleanUps, s.service.Close)
	fields, err := models.FieldsOf[Booking]()
	if err != nil {
		return err
	}
	if err := errors.Join(s.service.CreateIndex(models.SearchIndex{Name: indexName, Fields: fields}), s.service.Listen("127.0.0.1:0")); err != nil {
		return err
	}
	where := ""
	if s.cfg.dsn == "" {
		dir, err := os.MkdirTemp("", "outbox")
		if err != nil {
			return err
		}
		s.cleanUps = append(s.cleanUps, func() error { return os.RemoveAll(dir) })
		s.at.file = filepath.Join(dir, "hotels.db")
		where = "SQLite, in " + s.at.file
	} else {
		var id [4]byte
		_, _ = rand.Read(id[:]) // it never fails
		s.at.dsn, s.at.schema = s.cfg.dsn, "outbox_"+hex.EncodeToString(id[:])
		remove, err := s.at.createSchema(ctx)
		if err != nil {
			return err
		}
		s.cleanUps = append(s.cleanUps, remove)
		where = "PostgreSQL, in the schema " + s.at.schema
	}
	if s.store, err = s.at.open(); err != nil {
		return err
	}
	s.cleanUps = append(s.cleanUps, s.store.db.Close)
	if err := s.store.prepare(ctx); err != nil {
		return err
	}
	for i := range writers + relays {
		p := &post{processes: s.cfg.kill, job: job{role: roleWrite, at: s.at, endpoint: s.service.URL(), verbose: s.cfg.verbose}}
		if i >= writers {
			p.job.role = roleRelay
		}
		s.posts = append(s.posts, p)
	}
	kind := "goroutines of this process"
	if s.cfg.kill {
		kind = "processes, which are killed at random"
	}
	fmt.Fprintf(s.out, "bookings  in %s\nworkers   %d writers and %d relays, all of them %s\n", where, writers, relays, kind)
	return nil
}

// close ends whatever still runs.
func (s *story) close() error {
	var errs []error
	for _, p := range s.posts {
		switch {
		case p.orders == nil:
		case p.process != nil:
			p.kill()
		default:
			_ = p.end() // something else has gone wrong before
		}
	}
	for i := len(s.cleanUps) - 1; i >= 0; i-- {
		errs = append(errs, s.cleanUps[i]())
	}
	return errors.Join(errs...)
}

// alive returns an error if a worker has ended by itself, and whether it has begun to work.
func (p *post) alive() (ready bool, err error) {
	select {
	case <-p.ended:
		return false, errors.Join(fmt.Errorf("a worker (%s) has ended by itself", p.job.role), p.exit)
	case <-p.ready:
		return true, nil
	default:
		return false, nil
	}
}

// disturb kills processes at random moments while they write: most often writers, because a relay's keys wait
// until its leases have run out. The first relay is killed soon, so that somebody takes its keys over. However slow the machine is,
// it does not end before one of each was killed.
func (s *story) disturb(ctx context.Context) error {
	nextRelay := s.beginning.Add(time.Second)
	for time.Since(s.beginning) < s.cfg.lasts || s.kills[roleWrite] == 0 || s.kills[roleRelay] == 0 {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(50+random.IntN(300)) * time.Millisecond):
		}
		p := s.posts[random.IntN(writers)]
		if time.Now().After(nextRelay) {
			p = s.posts[writers+random.IntN(relays)]
		}
		ready, err := p.alive()
		if err != nil {
			return err
		}
		if !ready {
			continue // it has not begun yet
		}
		if p.job.role == roleRelay {
			nextRelay = time.Now().Add(time.Duration(1+random.IntN(4)) * time.Second)
		}
		s.kills[p.job.role]++
		p.kill()
		if err := p.start(s.err); err != nil {
			return err
		}
	}
	return nil
}

// release ends a relay half-way, as a new release of a program does, and starts another one. Its keys go
// to the other relay meanwhile, at once.
func (s *story) release(ctx context.Context) error {
	halfWay := func() {
		select {
		case <-ctx.Done():
		case <-time.After(s.cfg.lasts / 2):
		}
	}
	halfWay()
	p := s.posts[writers]
	if _, err := p.alive(); err != nil {
		return err
	}
	if err := p.end(); err != nil {
		return err
	}
	if err := p.start(s.err); err != nil {
		return err
	}
	halfWay()
	return nil
}

// catchUp ends the writers, waits until the outbox is empty, and ends the relays.
func (s *story) catchUp(ctx context.Context) error {
	for _, p := range s.posts[:writers] {
		if err := p.end(); err != nil {
			return err
		}
	}
	s.wrote = time.Since(s.beginning)
	began := time.Now()
	for first := true; ; first = false {
		lag, err := s.store.outbox.Lag(ctx, s.store.db)
		if err != nil {
			return err
		}
		if first {
			s.rest = lag.Rows
		}
		if lag.Rows == 0 {
			break
		}
		for _, p := range s.posts[writers:] {
			if _, err := p.alive(); err != nil {
				return err
			}
		}
		if time.Since(began) > patience {
			return fmt.Errorf("after %v relays have not sent %d rows, the oldest of which has waited for %v", patience, lag.Rows, lag.Oldest)
		}
		time.Sleep(10 * time.Millisecond) // until it is asked again
	}
	s.caughtUp = time.Since(began)
	for _, p := range s.posts[writers:] {
		if err := p.end(); err != nil {
			return err
		}
	}
	return nil
}
