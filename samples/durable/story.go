package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// theatre is where the story is played.
type theatre struct {
	cfg       *config
	out       io.Writer
	service   *searchtest.Server
	posts     []*post
	ledgers   []*ledger
	kills     int
	freezes   int
	restarts  int
	stale     int64
	released  int64
	cleanUps  []func() error
	beginning time.Time
}

// story starts the processes, lets them work, ends them, and compares.
func story(ctx context.Context, cfg *config, stdout, stderr io.Writer) (err error) {
	t := &theatre{cfg: cfg, out: stdout}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.build(stderr); err != nil {
		return err
	}
	for _, p := range t.posts {
		if err := p.start(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.lasts)
	defer cancel()
	t.beginning = time.Now()
	if cfg.kill {
		err = t.disturb(ctx)
	} else {
		err = t.restart(ctx)
	}
	if err != nil {
		return err
	}
	if err := t.drain(); err != nil {
		return err
	}
	return t.verify()
}

// build makes the service, the queue and the posts.
func (t *theatre) build(stderr io.Writer) error {
	// What it is asked is counted at the end.
	t.service = searchtest.NewServer(&searchtest.Options{KeepRequests: 1_000_000, KeepChanges: -1})
	t.cleanUps = append(t.cleanUps, t.service.Close)
	fields, err := models.FieldsOf[Doc]()
	if err != nil {
		return err
	}
	if err := errors.Join(t.service.CreateIndex(models.SearchIndex{Name: indexName, Fields: fields}), t.service.Listen("127.0.0.1:0")); err != nil {
		return err
	}
	base := job{redis: t.cfg.redis, endpoint: t.service.URL(), kill: t.cfg.kill, verbose: t.cfg.verbose}
	roles := []string{"both"}
	if t.cfg.redis == "" {
		dir, err := os.MkdirTemp("", "durable")
		if err != nil {
			return err
		}
		t.cleanUps = append(t.cleanUps, func() error { return os.RemoveAll(dir) })
		base.dir = filepath.Join(dir, "queue")
		fmt.Fprintf(t.out, "One process adds and sends; the queue is the directory %s.\n", base.dir)
	} else {
		id := queue.NewID()
		base.name = fmt.Sprintf("durable-%x", id[:4])
		q, err := base.open() // of this process, to remove it at the end
		if err != nil {
			return err
		}
		t.cleanUps = append(t.cleanUps, func() error { return q.Destroy(context.Background()) })
		roles = []string{"add", "add", "send", "send"}
		fmt.Fprintf(t.out, "Two processes add and two send; the queue is %q on Redis.\n", base.name)
		if says, ok := q.(interface{ Survives() string }); ok {
			fmt.Fprintln(t.out, says.Survives())
		}
	}
	for _, role := range roles {
		p := &post{job: base, stderr: stderr}
		p.job.role = role
		if role != "send" {
			p.ledger = newLedger(len(t.ledgers) + 1)
			t.ledgers = append(t.ledgers, p.ledger)
		}
		t.posts = append(t.posts, p)
	}
	return nil
}

// close ends whatever still runs.
func (t *theatre) close() error {
	var errs []error
	for _, p := range t.posts {
		if p.ended != nil {
			errs = append(errs, p.kill())
		}
	}
	for i := len(t.cleanUps) - 1; i >= 0; i-- {
		errs = append(errs, t.cleanUps[i]())
	}
	return errors.Join(errs...)
}

// disturb kills and freezes processes, in turn, at random moments until ctx ends.
func (t *theatre) disturb(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(100+rand.IntN(400)) * time.Millisecond):
		}
		p := t.posts[rand.IntN(len(t.posts))]
		select {
		case <-p.ended:
			_, err := p.finished()
			return errors.Join(errors.New("a process has died by itself"), err)
		case <-p.ready:
		default:
			continue // it has not begun yet
		}
		var err error
		if t.kills <= t.freezes {
			t.kills++
			if err = p.kill(); err == nil {
				err = p.start()
			}
		} else {
			t.freezes++
			err = t.freeze(p)
		}
		if err != nil {
			return err
		}
	}
}

// freeze stops a process for longer than its leases last, and lets it go on as if nothing
// had happened.
func (t *theatre) freeze(p *post) error {
	if err := freeze(p.cmd.Process); err != nil {
		return err
	}
	time.Sleep(time.Duration(350+rand.IntN(500)) * time.Millisecond)
	return thaw(p.cmd.Process)
}

// restart ends the processes that send half-way, as a new release of a program would, and starts
// them again.
func (t *theatre) restart(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(t.cfg.lasts / 2):
	}
	for _, p := range t.posts {
		if p.job.role == "add" {
			continue
		}
		if err := p.order("stop"); err != nil {
			return err
		}
		said, err := p.finished()
		if err != nil {
			return err
		}
		t.restarts++
		fmt.Fprintf(t.out, "A process that sends was ended; %d keys wait in the queue. The next one goes on.\n", said.kept)
		if err := p.start(); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// drain has the adders end, and the senders after them, when the queue is empty.
func (t *theatre) drain() error {
	fmt.Fprintln(t.out, "Nothing more is added; the queue is sent.")
	for _, senders := range []bool{false, true} {
		var told []*post
		for _, p := range t.posts {
			if (p.job.role == "add") == senders {
				continue
			}
			if err := p.order("drain"); err != nil {
				return err
			}
			told = append(told, p)
		}
		for _, p := range told {
			said, err := p.finished()
			if err != nil {
				return err
			}
			t.stale += said.stale
			t.released += said.released
		}
	}
	return nil
}
