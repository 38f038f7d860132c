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

// Product is the document of a record.
type Product struct {
	ID       string `json:"id" search:"key,filterable,sortable"`
	Title    string `json:"title" search:"searchable"`
	Category string `json:"category" search:"filterable"`
	Offset   int64  `json:"offset"` // offset of the record, for tracing a document to its source
}

const (
	pollLimit   = 200
	commitEvery = 100 * time.Millisecond
	pause       = 20 * time.Millisecond // while the buffer is full
	// addFor limits how long adding polled records may block, and with it a rebalance. Keep it below Kafka's
	// rebalance.timeout.ms, or the member loses its partitions.
	addFor = 10 * time.Second
	// requestFor limits a request. Handing a partition over waits for the requests in flight and then up to
	// UnknownWait. The sum must be below rebalance.timeout.ms (60 s by default in franz-go); about half of it leaves
	// a margin.
	requestFor = 20 * time.Second
	// stopFor limits how long a member that stops sends what it has read.
	stopFor = 5 * time.Second
)

// partition is the state of one assignment of a partition. Each assignment gets a new one, so that outcomes of an
// earlier assignment cannot move its mark.
type partition struct {
	id        int32
	water     events.LowWatermark[int64]
	committed int64 // by this assignment, 0 for nothing; guarded by consumer.committing
}

// tag is the tag of an action: the record that it comes from.
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
	noReplyAt time.Time // when the latest request without a reply ended
	err       error     // why the consumer has to stop
}

func newConsumer(name string, g *Group, indexer bufferedsender.Indexer, aside *deadLetters, logger *slog.Logger) (*consumer, error) {
	c := &consumer{
		name: name, aside: aside, logger: logger,
		assigned: map[int32]*partition{}, unknown: bufferedsender.DefaultUnknownWait,
	}
	var err error
	c.sender, err = bufferedsender.New(indexer, &bufferedsender.Options[Product]{
		// With four requests in flight, partitions do not wait for each other, and records settle out of order.
		Limits:            bufferedsender.Limits{MaxInFlight: 4, MaxBatchActions: 200, MaxBufferedActions: 10 * pollLimit},
		AutoFlushInterval: 200 * time.Millisecond, // with few records, commits lag by about this much
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

// positionOf gives Track the mark and the position of an action.
func positionOf(of any) (*events.LowWatermark[int64], int64, bool) {
	t, ok := of.(tag)
	if !ok {
		return nil, 0, false
	}
	return &t.partition.water, t.record.Offset, true
}

// run polls, adds and commits until ctx ends or the consumer fails. Then call stop. After a failure a new consumer
// must start from the committed offsets.
func (c *consumer) run(ctx context.Context) error {
	for ctx.Err() == nil && c.failure() == nil {
		if room := c.room(); room > 0 {
			c.poll(ctx, room)
		} else {
			stage.Wait(ctx, pause)
		}
		c.commit(ctx)
		c.client.AllowRebalance() // also without polled records: a rebalance must always be possible
	}
	return c.failure()
}

// room returns how many records to poll: 0 while nothing can be sent, and never more than fit into the buffer, so
// that adding does not block. Records that are not polled stay safe in the log.
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
		return // commitEvery has passed
	}
	adding, cancel := context.WithTimeout(ctx, addFor)
	defer cancel()
	for _, r := range records {
		switch err := c.add(adding, r); {
		case ctx.Err() != nil:
			return // stopping; the mark stays below records that were not accepted
		case err != nil:
			c.fail(err)
			return
		}
	}
}

// add passes a record to the sender. Begin comes first: the mark cannot pass the record, whether or not the call
// succeeds.
func (c *consumer) add(ctx context.Context, r Record) error {
	p := c.partition(r.Partition)
	if p == nil {
		return nil // revoked or lost since the poll: its new owner reads the record
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
		return err // no verdict about the record
	}
	// The sender refused the record (illegal key, too large). No event follows.
	if err := c.aside.write(r, err); err != nil {
		return err
	}
	p.water.Settle(r.Offset)
	return nil
}

// skip decides about each failed action. A rejected record goes to the dead letters, and the mark passes it. A
// withdrawn record (see handOver) holds the mark: the next owner reads it. Any other failure ends the consumer, which
// is started again, because the mark cannot move.
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

// batchCompleted records when a request ended that the service may still be executing.
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

// onRevoked hands partitions over: it waits, commits and returns. Then the next owner gets them.
func (c *consumer) onRevoked(ctx context.Context, _ *Client, ids []int32) {
	c.commitOf(ctx, c.handOver(ids))
}

// onLost runs when another member already reads the partitions, so it cannot commit. Unsent actions must not
// overwrite the new owner's writes.
func (c *consumer) onLost(_ context.Context, _ *Client, ids []int32) { c.handOver(ids) }

// handOver returns when this consumer no longer writes to the given partitions.
//
//  1. Withdraw removes unsent actions and waits for the requests in flight. Their actions settle, so the marks are
//     final.
//  2. A request without a reply may still be executed, and could overwrite the next owner's writes. Within a sender
//     the next action of the key waits Options.UnknownWait; between two senders handOver has to wait.
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
	time.Sleep(time.Until(end)) // usually zero
	return gone
}

// commit commits the settled offsets of all assigned partitions.
func (c *consumer) commit(ctx context.Context) {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.assigned))
	c.mu.Unlock()
	c.commitOf(ctx, all)
}

// commitOf runs on the goroutines of run and of onRevoked. The lock keeps an older commit from replacing a newer one.
func (c *consumer) commitOf(ctx context.Context, partitions []*partition) {
	c.committing.Lock()
	defer c.committing.Unlock()
	for _, p := range partitions {
		// The mark is the last settled offset; a commit names the next offset to read.
		mark, ok := p.water.Mark()
		if !ok || mark+1 <= p.committed {
			continue
		}
		err := c.client.CommitOffsetsSync(ctx, map[int32]int64{p.id: mark + 1})
		switch {
		case err == nil:
			p.committed = mark + 1
		case ctx.Err() != nil: // stopping: onRevoked commits
		case !errors.Is(err, ErrNotOwner): // lost: onLost has been called or will be
			c.fail(err)
		}
	}
}

// stop ends the consumer after run. It sends what is buffered until ctx ends, so that the next owner repeats less,
// and then hands its partitions over.
func (c *consumer) stop(ctx context.Context) error {
	_ = c.sender.Flush(ctx, nil) // skip has already received the failures that it returns
	c.client.LeaveGroup()
	return c.sender.Close(ctx)
}

// member is a process of the group: a consumer that is replaced by a new one when it fails.
type member struct {
	name    string
	group   *Group
	indexer bufferedsender.Indexer
	aside   *deadLetters
	logger  *slog.Logger

	cancel  context.CancelFunc
	crashed bool       // set before cancel
	done    chan error // receives the error that ended the member
}

// start runs the member until stop or crash.
func (m *member) start(ctx context.Context) {
	ctx, m.cancel = context.WithCancel(ctx)
	m.done = make(chan error, 1) // buffered: the member does not wait for stop
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
		case m.crashed: // a crash commits nothing, and its buffered records are lost
			cancel()
			_ = c.sender.Close(closing)
			c.client.Kill()
			return nil
		case err == nil:
			return c.stop(closing)
		}
		// The failure says nothing about its record, so the record must be sent again. Its mark stands below it, and
		// the next consumer reads from there.
		m.logger.Warn("starting again from the committed offsets", "member", m.name, "error", err)
		cancel()
		_ = c.stop(closing) // the next consumer reads failed records again
		if !stage.Wait(ctx, time.Second) {
			return err
		}
	}
}

// stop ends the member and returns when its partitions are handed over.
func (m *member) stop() error {
	m.cancel()
	return <-m.done
}

// crash ends the member like a killed process.
func (m *member) crash() error {
	m.crashed = true
	return m.stop()
}
