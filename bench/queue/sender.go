package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/models"
)

// What a sender gains and loses by a queue: producers add documents, and all of them arrive at a sink in this
// process that answers at once.
var (
	withoutQueue = contestant{name: "sender without a queue", send: sendWithout}
	withQueue    = contestant{name: "sender with a filequeue", send: sendWith}
	queueAlone   = contestant{name: "filequeue without a sender", send: sendAlone}
)

const perAdd = 100 // documents an adding call

// document is encoded to about bodyBytes.
type document struct {
	ID   string `json:"id" search:"key"`
	Text string `json:"text"`
}

// sink is an Indexer that answers at once. It looks for the keys, which all have the same length.
type sink struct{ documents atomic.Int64 }

func (s *sink) IndexDocumentsRaw(_ context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	const before, width = `"id":"`, len("hotel-000000000000")
	result := models.IndexDocumentsResult{StatusCode: 200}
	for at := bytes.Index(raw, []byte(before)); at >= 0; at = bytes.Index(raw, []byte(before)) {
		raw = raw[at+len(before):]
		result.Results = append(result.Results, models.IndexingResult{Key: string(raw[:width]), Succeeded: true, StatusCode: 200})
	}
	s.documents.Add(int64(len(result.Results)))
	return result, nil
}

func (*sink) KeyFieldName(context.Context) (string, error) { return "id", nil }

// throughSender measures one producer and eight.
func throughSender(ctx context.Context, p *plan, dir string, c contestant) (figures []figure, err error) {
	for _, producers := range []int{1, 8} {
		each := p.scaled(2000/producers, 2) * perAdd
		var clock measure.Clock
		clock.Start()
		if err := c.send(ctx, filepath.Join(dir, fmt.Sprint(producers)), producers, each); err != nil {
			return nil, err
		}
		u := clock.Stop()
		name := "1 producer, "
		if producers > 1 {
			name = fmt.Sprint(producers, " producers, ")
		}
		for _, f := range costs(u, producers*each) {
			figures = append(figures, figure{name + f.name, f.value})
		}
	}
	return figures, nil
}

// produce has producers add documents, perAdd a call.
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

func sendWithout(ctx context.Context, _ string, producers, each int) error {
	return throughSink(ctx, &bufferedsender.Options[document]{}, producers, each)
}

func sendWith(ctx context.Context, dir string, producers, each int) error {
	q, err := filequeue.Open(dir, nil)
	if err != nil {
		return err
	}
	return errors.Join(throughSink(ctx, &bufferedsender.Options[document]{Queue: q}, producers, each), q.Close())
}

func throughSink(ctx context.Context, opts *bufferedsender.Options[document], producers, each int) error {
	s := &sink{}
	sender, err := bufferedsender.New(s, opts)
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
	err = errors.Join(err, sender.Close(ctx))
	if n := s.documents.Load(); err == nil && n != int64(producers*each) {
		err = fmt.Errorf("%d of %d documents have arrived", n, producers*each)
	}
	return err
}

// sendAlone takes and commits without a sender what producers append, a request's worth at a time.
func sendAlone(ctx context.Context, dir string, producers, each int) error {
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
