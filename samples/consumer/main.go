// Command consumer puts the records of a partitioned log into an index, as a
// consumer of Kafka does: many partitions, two members of a group that share
// them, offsets that are committed when what lies below them is settled.
//
//	go run ./samples/consumer        # two members, an outage, a crash; the service is emulated
//
// consumer.go is what a program with a real log would have. kafka.go is the log, in
// memory, with the methods and callbacks of franz-go's client. At the end truth.go
// compares the index with the log, and the exit code is 1 unless they agree.
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

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("consumer", program) }

func program(p *stage.Program) func(context.Context) error {
	logger := p.Logger()
	return func(ctx context.Context) error { return demonstrate(ctx, logger, p.Out) }
}

const partitions = 6

// outage is a service that answers 503, and cuts connections, some of them after it
// has written what it was sent.
func outage() []searchtest.Fault {
	return []searchtest.Fault{
		{Every: 4, Cut: searchtest.CutAfterCommit},
		{Every: 4, Cut: searchtest.CutBeforeCommit},
		{Status: http.StatusServiceUnavailable},
	}
}

// demonstrate has two members share a log that grows meanwhile: one joins, the
// service breaks down, one crashes and comes back.
func demonstrate(ctx context.Context, logger *slog.Logger, stdout io.Writer) error {
	t, err := newTruth(ctx, partitions)
	if err != nil {
		return err
	}
	defer t.service.Close()
	group := t.group
	newMember := func(name string) *member {
		return &member{name: name, group: group, indexer: t.client, aside: t.aside, logger: logger}
	}
	step := func(title string, d time.Duration) error {
		if !stage.Wait(ctx, d) {
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
	t.service.Faults(outage()...)
	err = errors.Join(err, step("the search service is out of order", 1500*time.Millisecond))
	t.service.Faults()
	err = errors.Join(err, step("and is back: what had no reply waits for 5 s", 1500*time.Millisecond))
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
	err = t.check()
	fmt.Fprintf(stdout, "%d records were produced, %d of them bad; %d dead letters. %d commits were too early, %d records looked at.\n",
		t.produced, len(t.poison), t.aside.count(), len(t.early), t.audited)
	if err == nil {
		fmt.Fprintf(stdout, "%s has the last value of each key.\n", t.service.Name)
	}
	return err
}

// await returns when all of the log is committed.
func await(ctx context.Context, group *Group) error {
	err := stage.Until(ctx, 30*time.Second, 20*time.Millisecond, func() (bool, error) { return group.Lag() == 0, nil })
	if err != nil {
		return fmt.Errorf("%d records are not committed: %w", group.Lag(), err)
	}
	return nil
}
