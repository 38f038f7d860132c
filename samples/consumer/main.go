// Command consumer indexes the records of a partitioned log, as a Kafka consumer does: two members of a group share
// the partitions, and commit an offset when every record below it is settled.
//
//	go run ./samples/consumer        # two members, an outage, a crash; the service is emulated
//
// consumer.go is the part to copy. kafka.go is the log, in memory, with the methods and callbacks of franz-go's
// client. truth.go compares the index with the log at the end; the exit code is 1 if they differ.
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

// outage returns faults: status 503, and cut connections, some of them after the documents were indexed.
func outage() []searchtest.Fault {
	return []searchtest.Fault{
		{Every: 4, Cut: searchtest.CutAfterCommit},
		{Every: 4, Cut: searchtest.CutBeforeCommit},
		{Status: http.StatusServiceUnavailable},
	}
}

// demonstrate runs two members while the log grows: b joins, the service fails and recovers, b crashes and restarts.
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
	fmt.Fprintf(stdout, "%d records were produced, %d of them bad; %d dead letters. %d commits were too early, %d records checked.\n",
		t.produced, len(t.poison), t.aside.count(), len(t.early), t.audited)
	if err == nil {
		fmt.Fprintf(stdout, "%s has the last value of each key.\n", t.service.Name)
	}
	return err
}

// await returns when every record is committed.
func await(ctx context.Context, group *Group) error {
	err := stage.Until(ctx, 30*time.Second, 20*time.Millisecond, func() (bool, error) { return group.Lag() == 0, nil })
	if err != nil {
		return fmt.Errorf("%d records are not committed: %w", group.Lag(), err)
	}
	return nil
}
