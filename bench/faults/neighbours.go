package faults

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// neighbours are rows in which the sender belongs to a fleet, and the other indexes fail or use all that they can
// get.
func neighbours(setting) []row {
	sick := map[string]neighbour{
		"hangs":     {answer: hang},
		"fails":     {answer: always(503)},
		"forbidden": {answer: always(403)},
		"gone":      {answer: always(404)},
	}
	backfill := map[string]neighbour{}
	for i := range 4 {
		backfill[fmt.Sprint("backfill", i)] = neighbour{class: models.ClassBestEffort, answer: slowly}
	}
	hung := map[string]neighbour{}
	for i := range 19 {
		hung[fmt.Sprint("neighbour", i)] = neighbour{answer: slowly}
		if i < 4 {
			hung[fmt.Sprint("neighbour", i)] = neighbour{answer: hang}
		}
	}
	return []row{
		{
			name: "hang-4-of-20", what: "four of twenty indexes of a fleet with two slots hang; all are fed as fast as they take it", spread: 4 * time.Second,
			beside: hung, needs: map[string]int{"neighbours' requests": 20}, limit: 15 * time.Second,
		},
		{
			name: "idle-beside-sick", what: "two other indexes of a fleet are answered 500; the index has nothing to do for 3 s, and its first change must not wait",
			beside: map[string]neighbour{"fails": {answer: always(500)}, "fails too": {answer: always(500)}},
			idle:   3 * time.Second, phases: []phase{{at: 3 * time.Second, over: true, do: func(context.Context, *run) error { return nil }}},
			recovery: afterPhase, needs: map[string]int{"neighbours' requests": 6}, recoverWithin: 5 * time.Second, limit: 30 * time.Second,
		},
		{
			name: "fleet-sick", what: "four other indexes of a fleet with two slots hang, or answer 503, 403, 404; all are fed as fast as they take it", spread: 4 * time.Second,
			beside: sick, needs: map[string]int{"neighbours held": 2},
		},
		{
			name: "fleet-backfill", what: "four other indexes of a fleet are filled in BestEffort, as fast as they take it", spread: 4 * time.Second,
			beside: backfill, needs: map[string]int{"neighbours' requests": 20},
		},
	}
}

// neighbour is another index of the fleet.
type neighbour struct {
	class  models.Class
	answer func(ctx context.Context, keys []string) (models.IndexDocumentsResult, error)
}

// hang returns after the caller has given up.
func hang(ctx context.Context, _ []string) (models.IndexDocumentsResult, error) {
	<-ctx.Done()
	return models.IndexDocumentsResult{}, ctx.Err()
}

func always(status int) func(context.Context, []string) (models.IndexDocumentsResult, error) {
	return func(context.Context, []string) (models.IndexDocumentsResult, error) {
		return models.IndexDocumentsResult{}, slow.Refusal{Status: status}
	}
}

// slowly accepts every document after 20 ms.
func slowly(ctx context.Context, keys []string) (models.IndexDocumentsResult, error) {
	if err := slow.Wait(ctx, 20*time.Millisecond); err != nil {
		return models.IndexDocumentsResult{}, err
	}
	return slow.Applied(keys), nil
}

// IndexDocumentsRaw implements bufferedsender.Indexer.
func (n neighbour) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	keys, err := slow.Keys(body)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	return n.answer(ctx, keys)
}

// keyed is a document of a neighbour.
type keyed struct {
	Key  string `json:"id" search:"key"`
	Text string `json:"text"`
}

// block is the fleet of a row: its sender and the neighbours.
type block struct {
	fleet *fleet.Fleet
	all   []*bufferedsender.BufferedSender[keyed]
	stop  context.CancelFunc
	feeds sync.WaitGroup
}

// moveIn creates the sender of a row in a fleet with two expedited and two shared slots. The fleet's buffer is a
// quarter of a single sender's default.
func moveIn(r *row, s setting, indexer bufferedsender.Indexer, opts *bufferedsender.Options[document]) (*bufferedsender.BufferedSender[document], *block, error) {
	service := fleet.From(func(index string) (bufferedsender.Indexer, error) {
		if index == indexName {
			return indexer, nil
		}
		return r.beside[index], nil
	}, nil)
	opts.Outage = nil // a fleet has its own breakers
	f, err := fleet.New(service, &fleet.Options{
		Breaker: s.breaker(), Logger: opts.Logger,
		Pool: &pool.Options{Expedited: 2, Shared: 2, BufferedActions: bufferedsender.DefaultMaxBufferedActions / 4},
	})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &block{fleet: f, stop: cancel}
	for name, n := range r.beside {
		one, err := fleet.Sender(f, name, &bufferedsender.Options[keyed]{
			Class: n.class, AutoFlushInterval: opts.AutoFlushInterval, RequestTimeout: opts.RequestTimeout, Retry: opts.Retry,
			Handlers: events.Handlers[keyed]{ActionSent: func(context.Context, *events.ActionSent[keyed]) {}},
		})
		if err != nil {
			b.moveOut()
			return nil, nil, err
		}
		b.all = append(b.all, one)
		b.feeds.Go(func() {
			for i := 0; one.UploadDocuments(ctx, keyed{Key: fmt.Sprint(i), Text: name}) == nil; i++ {
			}
		})
	}
	sender, err := fleet.Sender(f, indexName, opts)
	if err != nil {
		b.moveOut()
		return nil, nil, err
	}
	return sender, b, nil
}

// moveOut ends the neighbours and returns their counts.
func (b *block) moveOut() (met map[string]int) {
	met = map[string]int{}
	if b == nil {
		return met
	}
	for _, one := range b.all {
		if one.Health().State == events.HealthStateCircuitOpen || one.Health().State == events.HealthStateHalfOpen {
			met["neighbours held"]++
		}
		met["neighbours' requests"] += int(one.Stats().Requests)
	}
	b.stop()
	b.feeds.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // discard their buffered documents
	_ = b.fleet.Close(ctx)
	return met
}
