package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/redisqueue"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Doc is one document. Its version is the number of the write that it comes from.
type Doc struct {
	ID      string `json:"id" search:"key"`
	Version int64  `json:"version" search:"filterable"`
	Text    string `json:"text" search:"searchable"`
}

const (
	indexName = "durable"
	// perCall is how many documents an adding call has: they share an fsync, or a round trip.
	perCall = 50
	// stretch is how many writes have their keys in common, and keysEach how many keys that are: few,
	// so that they change often.
	stretch, keysEach = 2000, 400
)

// job is what a worker does.
type job struct {
	Role       string // add, send, both
	Redis, Dir string // where the queue is: a server, or a directory
	Name       string // of the queue
	Endpoint   string
	Kill       bool
	Adder      int   // its number among those that add
	Next       int64 // the number of its first write
}

type openQueue interface {
	queue.Queue
	queue.Admin
}

func (j *job) open() (openQueue, error) {
	if j.Redis != "" {
		redisqueue.Silence() // what is wrong is in the errors
		return redisqueue.Open(j.Redis, j.Name, &redisqueue.Options{Index: indexName})
	}
	return filequeue.Open(j.Dir, &filequeue.Options{Index: indexName, SegmentBytes: 4 << 20})
}

// newSender returns a sender of a queue; one that only adds has no client.
func (j *job) newSender(q queue.Queue, logger *slog.Logger) (*bufferedsender.BufferedSender[Doc], error) {
	opts := &bufferedsender.Options[Doc]{
		Queue:  q,
		Limits: bufferedsender.Limits{MaxBatchActions: 200, MaxInFlight: 2},
		// Small batches soon. A program that has time sends less often, and folds more.
		AutoFlushInterval: 50 * time.Millisecond,
		Logger:            logger,
	}
	if j.Kill {
		// What takes a minute in a program: its keys are with others soon after it has died.
		opts.RequestTimeout = 150 * time.Millisecond
		opts.UnknownWait = 200 * time.Millisecond
		// A machine that is busy with all of this answers some requests too late.
		opts.Retry = retry.Options{MaxRetries: 1000, Delay: 20 * time.Millisecond, MaxDelay: 100 * time.Millisecond}
		trips, err := breaker.New(&breaker.Options{OpenFor: 50 * time.Millisecond, MaxOpenFor: 200 * time.Millisecond})
		if err != nil {
			return nil, err
		}
		opts.Outage = bufferedsender.Hold{Breaker: trips}
	}
	if j.Role == "add" {
		return bufferedsender.New(nil, opts)
	}
	client, err := search.NewClientWithKey(j.Endpoint, indexName, azcore.NewKeyCredential(searchtest.AdminKey), nil)
	if err != nil {
		return nil, err
	}
	return bufferedsender.New(client, opts)
}

// work is the whole of a worker. It reports each write on out before and after adding it, and ends
// when in says so: "stop" leaves in the queue what is not sent, "drain" sends all of it first.
func (j *job) work(ctx context.Context, logger *slog.Logger, in io.Reader, out io.Writer) error {
	q, err := j.open()
	if err != nil {
		return err
	}
	defer q.Close()
	sender, err := j.newSender(q, logger)
	if err != nil {
		return err
	}
	ended := stage.Orders(in)
	if _, err = fmt.Fprintln(out, "ready"); err != nil {
		return err
	}

	var order string
	if j.Role == "send" {
		order = <-ended
	} else if order, err = j.add(ctx, sender, ended, out); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if order == "drain\n" && j.Role != "add" {
		if err := untilEmpty(ctx, q); err != nil {
			return err
		}
	}
	if err := sender.Close(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "end", sender.Stats().Kept, 0)
	return err
}

// add writes until it is told to stop.
func (j *job) add(ctx context.Context, sender *bufferedsender.BufferedSender[Doc], ended <-chan string, out io.Writer) (order string, err error) {
	for next := j.Next; ; next += perCall {
		select {
		case order := <-ended:
			return order, nil
		case <-time.After(5 * time.Millisecond):
		}
		docs := make([]Doc, perCall)
		for i := range docs {
			n := next + int64(i)
			docs[i] = Doc{ID: keyOf(j.Adder, n), Version: n, Text: fmt.Sprintf("This is write %d of adder %d.", n, j.Adder)}
		}
		if _, err := fmt.Fprintln(out, "try", next, next+perCall-1); err != nil {
			return "", err
		}
		// nil: whatever happens to this process now, they will be in the index.
		if err := sender.UploadDocuments(ctx, docs...); err != nil {
			return "", err
		}
		if _, err := fmt.Fprintln(out, "ack", next, next+perCall-1); err != nil {
			return "", err
		}
	}
}

// untilEmpty waits until nothing is in the queue any more. A key that was alone with three holders
// when they died is set aside by the queue, because it may be what has killed them. Here something else
// has, so it is released, as azsearch queue release does.
func untilEmpty(ctx context.Context, q openQueue) error {
	for {
		s, err := q.Stats(ctx)
		if err != nil || s.Waiting+s.Leased+s.Parked == 0 {
			return err
		}
		parked, err := q.Inspect(ctx, queue.Inspection{States: queue.Parked, Limit: 1000})
		if err != nil {
			return err
		}
		for _, p := range parked {
			if _, err := q.Unpark(ctx, p.Key); err != nil {
				return err
			}
		}
		if !stage.Wait(ctx, 20*time.Millisecond) {
			return fmt.Errorf("%d keys wait, %d are leased and %d parked: %w", s.Waiting, s.Leased, s.Parked, ctx.Err())
		}
	}
}
