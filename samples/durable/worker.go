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

// Doc is one document. Version is the number of its write.
type Doc struct {
	ID      string `json:"id" search:"key"`
	Version int64  `json:"version" search:"filterable"`
	Text    string `json:"text" search:"searchable"`
}

const (
	indexName = "durable"
	// perCall is the number of documents in one adding call. They share an fsync or a round trip.
	perCall = 50
	// stretch writes share a set of keysEach keys. The set is small, so that keys change often.
	stretch, keysEach = 2000, 400
)

// job is the configuration of a worker process.
type job struct {
	Role       string // add, send, both
	Redis, Dir string // where the queue is: a server or a directory
	Name       string // of the queue
	Endpoint   string
	Kill       bool
	Adder      int   // number of the adder
	Next       int64 // the number of its first write
}

type openQueue interface {
	queue.Queue
	queue.Admin
}

func (j *job) open() (openQueue, error) {
	if j.Redis != "" {
		redisqueue.Silence() // its errors are returned as well
		return redisqueue.Open(j.Redis, j.Name, &redisqueue.Options{Index: indexName})
	}
	return filequeue.Open(j.Dir, &filequeue.Options{Index: indexName, SegmentBytes: 4 << 20})
}

// newSender returns a sender for a queue. A process that only adds has no client.
func (j *job) newSender(q queue.Queue, logger *slog.Logger) (*bufferedsender.BufferedSender[Doc], error) {
	opts := &bufferedsender.Options[Doc]{
		Queue:  q,
		Limits: bufferedsender.Limits{MaxBatchActions: 200, MaxInFlight: 2},
		// Short, so that documents arrive soon. A longer interval sends less often and folds more.
		AutoFlushInterval: 50 * time.Millisecond,
		Logger:            logger,
	}
	if j.Kill {
		// A real program uses longer times, and the leases of a dead process delay its keys for longer.
		opts.RequestTimeout = 150 * time.Millisecond
		opts.UnknownWait = 200 * time.Millisecond
		// On a machine that is busy with these processes, some requests time out.
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

// work is the whole life of a worker. It reports each write on out before and after adding it. It ends after an order
// from in: "stop" leaves unsent keys in the queue, "drain" sends them first.
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

// add writes until an order arrives.
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
		// nil: the documents will be indexed, even if this process dies now.
		if err := sender.UploadDocuments(ctx, docs...); err != nil {
			return "", err
		}
		if _, err := fmt.Fprintln(out, "ack", next, next+perCall-1); err != nil {
			return "", err
		}
	}
}

// untilEmpty waits until the queue is empty. The queue parks a key that was reserved alone by three holders when they
// died, because the document may have killed them. Here the deaths have another cause, so the key is unparked, as
// azsearch queue release does.
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
