package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

const partitions = 6

// outage is a service that answers 503, and cuts connections, some of them after it
// has written what it was sent.
func outage() *searchtest.Faults {
	index := searchtest.OpIndexDocuments
	return &searchtest.Faults{Seed: 1, Rules: []searchtest.Fault{
		{Operation: index, Every: 4, Cut: searchtest.CutAfterCommit},
		{Operation: index, Every: 4, Cut: searchtest.CutBeforeCommit},
		{Operation: index, Status: http.StatusServiceUnavailable},
	}}
}

// demonstrate has two members share a log that grows meanwhile: one joins, the
// service breaks down, one crashes and comes back.
func demonstrate(ctx context.Context, cfg config, logger *slog.Logger, stdout io.Writer) error {
	backend, err := connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer backend.close()
	group := NewGroup(partitions)
	aside := &deadLetters{}
	t := &truth{group: group, backend: backend, index: cfg.index, aside: aside, latest: map[string]*Value{}}
	group.OnCommit = t.audit
	newMember := func(name string) *member {
		return &member{name: name, group: group, indexer: backend.client, aside: aside, logger: logger}
	}
	step := func(title string, d time.Duration) error {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return ctx.Err()
		}
		fmt.Fprintf(stdout, "%-44s %6d records are not committed\n", title, group.Lag())
		return nil
	}

	producing, stopProducing := context.WithCancel(ctx)
	defer stopProducing()
	produced := make(chan struct{})
	go func() {
		defer close(produced)
		t.produce(producing, rand.New(rand.NewPCG(1, 2)))
	}()

	a, b := newMember("a"), newMember("b")
	a.start(ctx)
	err = step("a reads all partitions", time.Second)
	b.start(ctx)
	err = errors.Join(err, step("b has joined, and has half of them", time.Second))
	if backend.emulator != nil {
		backend.emulator.SetFaults(outage())
		err = errors.Join(err, step("the search service is out of order", 1500*time.Millisecond))
		backend.emulator.SetFaults(nil)
		err = errors.Join(err, step("and is back: what had no reply waits for 5 s", 1500*time.Millisecond))
	}
	err = errors.Join(err, b.crash(), step("b has crashed: a reads all partitions again", time.Second))
	b = newMember("b")
	b.start(ctx)
	err = errors.Join(err, step("b was started again", time.Second))
	stopProducing()
	<-produced
	err = errors.Join(err, await(ctx, group))
	err = errors.Join(err, step("all of the log is consumed", 0), a.stop(), b.stop())
	if err != nil {
		return err
	}
	err = t.check(ctx)
	fmt.Fprintf(stdout, "%d records were produced, %d of them bad; %d dead letters. %d commits were too early, %d records looked at.\n",
		t.produced, len(t.poison), aside.count(), len(t.early), t.audited)
	if err == nil {
		fmt.Fprintf(stdout, "%s has the last value of each key.\n", backend.name)
	}
	return err
}

// await returns when all of the log is committed.
func await(ctx context.Context, group *Group) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for group.Lag() > 0 {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d records are not committed: %w", group.Lag(), ctx.Err())
		}
	}
	return nil
}
