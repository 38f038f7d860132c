package queue

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/buffered"
	"github.com/go-azsearch/azsearch/bench/internal/child"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/models"
)

// The cost of a queue for a sender: producers add documents, and all arrive at the sink of the other benchmarks,
// another process on loopback that replies at once.
var senders = []contestant{
	{Name: "sender without a queue", Measure: throughSender(sendWithout)},
	{Name: "sender with a filequeue", Measure: throughSender(sendWith)},
	{Name: "filequeue without a sender", Measure: throughSender(sendAlone)},
}

const perAdd = 100 // documents per adding call

// document is about bodyBytes long when encoded.
type document struct {
	ID   string `json:"id" search:"key"`
	Text string `json:"text"`
}

// throughSender measures with one producer and with eight.
func throughSender(send func(ctx context.Context, sink *child.Sink, dir string, producers, each int) error) func(context.Context, *plan, string) ([]figure, error) {
	return func(ctx context.Context, p *plan, dir string) (figures []figure, err error) {
		for _, producers := range []int{1, 8} {
			each := p.Scaled(2000/producers, 2) * perAdd
			sink, err := child.StartSink(ctx)
			if err != nil {
				return nil, err
			}
			var clock measure.Clock
			clock.Start()
			err = send(ctx, sink, filepath.Join(dir, fmt.Sprint(producers)), producers, each)
			u := clock.Stop()
			if err := errors.Join(err, sink.Stop()); err != nil {
				return nil, err
			}
			name := "1 producer, "
			if producers > 1 {
				name = fmt.Sprint(producers, " producers, ")
			}
			for _, f := range costs(u, producers*each) {
				figures = append(figures, figure{Name: name + f.Name, Value: f.Value})
			}
		}
		return figures, nil
	}
}

// produce lets producers add documents, perAdd per call.
func produce(producers, each int, add func(producer, first int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, producers)
	for p := range producers {
		wg.Go(func() {
			for i := 0; i < each && errs[p] == nil; i += perAdd {
				errs[p] = add(p, p*each+i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func sendWithout(ctx context.Context, sink *child.Sink, _ string, producers, each int) error {
	return throughSink(ctx, sink, nil, producers, each)
}

func sendWith(ctx context.Context, sink *child.Sink, dir string, producers, each int) error {
	q, err := filequeue.Open(dir, nil)
	if err != nil {
		return err
	}
	return errors.Join(throughSink(ctx, sink, q, producers, each), q.Close())
}

func throughSink(ctx context.Context, sink *child.Sink, q queue.Queue, producers, each int) error {
	sender, err := buffered.New(sink.Address, &bufferedsender.Options[document]{Queue: q})
	if err != nil {
		return err
	}
	filler := strings.Repeat("x", bodyBytes-50)
	err = produce(producers, each, func(_, first int) error {
		docs := make([]document, perAdd)
		for i, key := range keysFrom(first, perAdd) {
			docs[i] = document{key, filler}
		}
		return sender.UploadDocuments(ctx, docs...)
	})
	if err == nil {
		err = sender.Flush(ctx, nil)
	}
	if err = errors.Join(err, sender.Close(ctx)); err != nil {
		return err
	}
	counts, err := sink.Counts(ctx)
	if err == nil && counts.Distinct != int64(producers*each) {
		err = fmt.Errorf("%d of %d documents have arrived", counts.Distinct, producers*each)
	}
	return err
}

// sendAlone takes and commits the producers' documents without a sender, a request's worth at a time.
func sendAlone(ctx context.Context, _ *child.Sink, dir string, producers, each int) error {
	q, err := filequeue.Open(dir, nil)
	if err != nil {
		return err
	}
	wake := make(chan struct{}, 1)
	stop := q.Watch(func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	taken := make(chan error, 1)
	go func() { taken <- takeAll(ctx, q, producers*each, wake) }()
	calls := make([]queue.Call, producers)
	for p := range calls {
		calls[p].Adder = queue.NewID()
	}
	err = produce(producers, each, func(p, first int) error {
		c := &calls[p]
		c.Number++
		c.Records = c.Records[:0]
		for _, key := range keysFrom(first, perAdd) {
			c.Records = append(c.Records, queue.Record{Key: key, Op: models.ActionTypeUpload, Body: body})
		}
		_, err := q.Append(ctx, *c)
		return err
	})
	if err == nil {
		err = <-taken
	}
	stop()
	return errors.Join(err, q.Close())
}

func takeAll(ctx context.Context, q *filequeue.Queue, documents int, wake <-chan struct{}) error {
	want := queue.Want{Holder: queue.NewID(), Keys: perCall, Bytes: 1 << 30, For: time.Minute}
	var ends []queue.End
	for documents > 0 {
		want.Token = queue.NewID()
		leases, _, _, err := q.Exchange(ctx, want, ends...)
		if err != nil {
			return err
		}
		documents -= len(ends)
		ends = ends[:0]
		for i := range leases {
			ends = append(ends, queue.End{Lease: leases[i], Fate: queue.Commit})
		}
		if len(leases) > 0 || documents == 0 {
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
