package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

// Product is what becomes of a record in the index.
type Product struct {
	ID       string `json:"id" search:"key,filterable,sortable"`
	Title    string `json:"title" search:"searchable"`
	Category string `json:"category" search:"filterable"`
	Offset   int64  `json:"offset"` // of the record; to find out where a document comes from
}

const (
	pollLimit   = 200
	commitEvery = 100 * time.Millisecond
	pause       = 20 * time.Millisecond // while there is no room
	// addFor is how long a rebalance may have to wait for room in the buffer: less
	// than Kafka's rebalance.timeout.ms, or the member loses its partitions.
	addFor = 10 * time.Second
	// requestFor is how long a request may take. A partition is handed over when the requests
	// under way have ended, and UnknownWait later: that, too, has to be less than
	// rebalance.timeout.ms, 60 s usually, and half of that leaves room for the rest.
	requestFor = 20 * time.Second
	// stopFor is how long a member that ends continues to send what it has read.
	stopFor = 5 * time.Second
)

// partition is what a consumer knows of one that is assigned to it. A new one is
// made for each assignment, so ends of actions of an earlier one move nothing.
type partition struct {
	id        int32
	water     events.LowWatermark[int64]
	committed int64 // by this assignment, 0 for nothing; guarded by consumer.committing
}

// tag says of an action which record it comes from.
type tag struct {
	partition *partition
	record    Record
}

// consumer is one member of the group, with a sender of its own.
type consumer struct {
	name    string
	client  *Client
	sender  *bufferedsender.BufferedSender[Product]
	aside   *deadLetters
	logger  *slog.Logger
	unknown time.Duration // see handOver

	committing sync.Mutex // held while offsets are committed

	mu        sync.Mutex // guards the fields below
	assigned  map[int32]*partition
	noReplyAt time.Time // end of the latest request without a reply
	err       error     // why the consumer cannot go on
}

func newConsumer(name string, g *Group, indexer bufferedsender.Indexer, aside *deadLetters, logger *slog.Logger) (*consumer, error) {
	c := &consumer{
		name: name, aside: aside, logger: logger,
		assigned: map[int32]*partition{}, unknown: bufferedsender.DefaultUnknownWait,
	}
	var err error
	c.sender, err = bufferedsender.New(indexer, &bufferedsender.Options[Product]{
		// Four in flight, so partitions do not wait for each other, and records settle out
		// of order.
		Limits:            bufferedsender.Limits{MaxInFlight: 4, MaxBatchActions: 200, MaxBufferedActions: 10 * pollLimit},
		AutoFlushInterval: 200 * time.Millisecond, // how old a commit may be when records are few
		Retry:             retry.Options{Delay: 100 * time.Millisecond},
		RequestTimeout:    requestFor,
		Handlers: events.Multi(
			events.Track(positionOf, &events.TrackOptions[Product]{Skip: c.skip, Begun: true}),
			events.Handlers[Product]{BatchCompleted: c.batchCompleted},
		),
		Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	c.client = NewClient(g, ClientOptions{OnPartitionsAssigned: c.onAssigned, OnPartitionsRevoked: c.onRevoked, OnPartitionsLost: c.onLost})
	return c, nil
}

// positionOf tells Track which mark an action moves.
func positionOf(of any) (*events.LowWatermark[int64], int64, bool) {
	t, ok := of.(tag)
	if !ok {
		return nil, 0, false
	}
	return &t.partition.water, t.record.Offset, true
}

// run polls, adds and commits until ctx ends or the consumer cannot go on: then it
// has to be started again, and reads again what is not committed. Afterwards call
// stop, or crash.
func (c *consumer) run(ctx context.Context) error {
	for ctx.Err() == nil && c.failure() == nil {
		if room := c.room(); room > 0 {
			c.poll(ctx, room)
		} else {
			stage.Wait(ctx, pause)
		}
		c.commit(ctx)
		c.client.AllowRebalance() // also when nothing was polled: a partition can always be taken away
	}
	return c.failure()
}

// room returns how many records to poll: none while nothing can be sent, and never
// more than the buffer has room for, so that adding them does not have to wait.
// What was not polled stays where it is safe, in the log.
func (c *consumer) room() int {
	if !c.sender.Health().State.WantsWork() {
		return 0
	}
	return min(pollLimit, c.sender.Control().Limits.MaxBufferedActions-c.sender.Stats().PendingActions)
}

func (c *consumer) poll(ctx context.Context, limit int) {
	polling, cancel := context.WithTimeout(ctx, commitEvery)
	defer cancel()
	records, err := c.client.PollRecords(polling, limit)
	if err != nil {
		return // the time is up
	}
	adding, cancel := context.WithTimeout(ctx, addFor)
	defer cancel()
	for _, r := range records {
		switch err := c.add(adding, r); {
		case ctx.Err() != nil:
			return // the end; the mark stays below what was not accepted
		case err != nil:
			c.fail(err)
			return
		}
	}
}

// add gives a record to the sender. Its position is begun before, so that the mark
// cannot pass it, whatever becomes of the call.
func (c *consumer) add(ctx context.Context, r Record) error {
	p := c.partition(r.Partition)
	if p == nil {
		return nil // lost since it was polled: its new owner reads it
	}
	if err := p.water.Begin(r.Offset); err != nil {
		return fmt.Errorf("partition %d: %w", p.id, err)
	}
	action := models.UploadAction(Product{ID: r.Key, Offset: r.Offset})
	if r.Value == nil {
		action = models.DeleteAction(Product{ID: r.Key})
	} else {
		action.Document.Title, action.Document.Category = r.Value.Title, r.Value.Category
	}
	err := c.sender.IndexDocuments(ctx, action.WithTag(tag{p, r}))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, errors.Is(err, bufferedsender.ErrClosed):
		return err // it says nothing about the record
	}
	// The sender refuses it: an illegal key, too large. No event follows.
	if err := c.aside.write(r, err); err != nil {
		return err
	}
	p.water.Settle(r.Offset)
	return nil
}

// skip is asked about each action that failed. A record that the service rejects
// for what it is goes to the dead letters, and the mark passes it. What was taken
// back (see handOver) holds the mark: the next owner reads it. After any other
// failure the mark cannot move on, so the consumer ends and is started again.
func (c *consumer) skip(_ context.Context, e *events.ActionFailed[Product]) bool {
	switch {
	case errors.Is(e.Err, bufferedsender.ErrWithdrawn):
		return false
	case !e.Rejected():
		c.fail(e.Err)
		return false
	}
	if err := c.aside.write(e.Action.Tag.(tag).record, e.Err); err != nil {
		c.fail(err)
		return false
	}
	return true
}

// batchCompleted notes when a request ended that the service may still be at work
// on.
func (c *consumer) batchCompleted(_ context.Context, b *events.Batch) {
	if b.Err != nil && !errors.Is(b.Err, bufferedsender.ErrNotSent) && (b.StatusCode == 0 || retry.ForRequest(b.StatusCode).NoAnswer) {
		c.mu.Lock()
		c.noReplyAt = time.Now()
		c.mu.Unlock()
	}
}

func (c *consumer) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = fmt.Errorf("%s: %w", c.name, err)
	}
}

func (c *consumer) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *consumer) partition(id int32) *partition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.assigned[id]
}

func (c *consumer) onAssigned(_ context.Context, _ *Client, ids []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.assigned[id] = &partition{id: id}
	}
}

// onRevoked hands partitions over: wait, then commit, then return, which lets the
// next owner have them.
func (c *consumer) onRevoked(ctx context.Context, _ *Client, ids []int32) {
	c.commitOf(ctx, c.handOver(ids))
}

// onLost is called too late to commit: the next owner reads already. What has not
// been sent must not overwrite what it writes.
func (c *consumer) onLost(_ context.Context, _ *Client, ids []int32) { c.handOver(ids) }

// handOver returns when this consumer writes nothing of the given partitions any
// more.
//
//  1. What waits is taken back. Withdraw waits for the requests under way, whose
//     actions then settle, so the marks are final.
//  2. A request that had no reply may still be carried out, and would overwrite
//     what the next owner writes. Inside a sender the next action of a key waits
//     for that, Options.UnknownWait; between two senders we have to.
func (c *consumer) handOver(ids []int32) (gone []*partition) {
	c.mu.Lock()
	for _, id := range ids {
		if p := c.assigned[id]; p != nil {
			gone = append(gone, p)
			delete(c.assigned, id)
		}
	}
	c.mu.Unlock()
	c.sender.Withdraw(func(_ string, of any) bool {
		t, ok := of.(tag)
		return ok && slices.Contains(gone, t.partition)
	})
	c.mu.Lock()
	end := c.noReplyAt.Add(c.unknown)
	c.mu.Unlock()
	time.Sleep(time.Until(end)) // not at all, usually
	return gone
}

// commit stores how far the assigned partitions are settled.
func (c *consumer) commit(ctx context.Context) {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.assigned))
	c.mu.Unlock()
	c.commitOf(ctx, all)
}

// commitOf is called by run and by onRevoked: one after the other, so that no commit
// goes back.
func (c *consumer) commitOf(ctx context.Context, partitions []*partition) {
	c.committing.Lock()
	defer c.committing.Unlock()
	for _, p := range partitions {
		// The mark is the last offset that is settled, the commit the next to be read.
		mark, ok := p.water.Mark()
		if !ok || mark+1 <= p.committed {
			continue
		}
		err := c.client.CommitOffsetsSync(ctx, map[int32]int64{p.id: mark + 1})
		switch {
		case err == nil:
			p.committed = mark + 1
		case !errors.Is(err, ErrNotOwner): // else it was lost, and onLost is about to be called or has been
			c.fail(err)
		}
	}
}

// stop ends the consumer after run: what waits is sent, as long as ctx allows, so
// that the next owner has less to repeat; then the partitions are handed over.
func (c *consumer) stop(ctx context.Context) error {
	_ = c.sender.Flush(ctx, nil) // the failures it reports have been given to skip
	c.client.LeaveGroup()
	return c.sender.Close(ctx)
}

// member is a process of the group: a consumer that is started again when it cannot
// go on.
type member struct {
	name    string
	group   *Group
	indexer bufferedsender.Indexer
	aside   *deadLetters
	logger  *slog.Logger

	cancel  context.CancelFunc
	crashed bool       // set before cancel
	done    chan error // gets why it has ended
}

// start runs the member until stop or crash.
func (m *member) start(ctx context.Context) {
	ctx, m.cancel = context.WithCancel(ctx)
	m.done = make(chan error, 1) // one place: the member never waits for us
	go func() { m.done <- m.live(ctx) }()
}

func (m *member) live(ctx context.Context) error {
	for {
		c, err := newConsumer(m.name, m.group, m.indexer, m.aside, m.logger)
		if err != nil {
			return err
		}
		err = c.run(ctx)
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopFor)
		defer cancel()
		switch {
		case m.crashed: // nothing is committed, and what waits is lost here
			cancel()
			_ = c.sender.Close(closing)
			c.client.Kill()
			return nil
		case err == nil:
			return c.stop(closing)
		}
		// Something failed that says nothing about the record, so it must be sent
		// again. The marks stand below it, and the next consumer reads from there.
		m.logger.Warn("starting again from the committed offsets", "member", m.name, "error", err)
		cancel()
		_ = c.stop(closing) // what fails here is read again
		if !stage.Wait(ctx, time.Second) {
			return err
		}
	}
}

// stop has the member hand its partitions over, and returns when it has.
func (m *member) stop() error {
	m.cancel()
	return <-m.done
}

// crash ends the member as the end of its process would.
func (m *member) crash() error {
	m.crashed = true
	return m.stop()
}
