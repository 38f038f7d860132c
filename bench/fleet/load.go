package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/corpus"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
)

const (
	slots        = 8
	batchActions = 500 // with 8 slots and 50 ms: 80 000 documents a second at the most
)

// perSlot is how many documents a second a slot takes.
const perSlot = batchActions * float64(time.Second) / float64(takes)

var quiet = slog.New(slog.DiscardHandler)

type (
	options = bufferedsender.Options[corpus.Hotel]
	sender  = *bufferedsender.BufferedSender[corpus.Hotel]
)

// documents are what is sent: some hundred contents, with a key of its own each time.
var documents = sync.OnceValue(func() *corpus.Workload[corpus.Hotel] {
	return corpus.New(300, 300, corpus.NewHotel, func(h *corpus.Hotel, key string) { h.ID = key })
})

// producer adds documents to a sender. It is for one goroutine.
type producer struct {
	sender sender
	index  *index
	docs   []corpus.Hotel
	next   int // number of the next key
	added  int
}

// producerOf returns producer number. Its keys are its own, and each call adds perCall documents.
func producerOf(s sender, x *index, number, perCall int) *producer {
	return &producer{sender: s, index: x, docs: make([]corpus.Hotel, perCall), next: number * (corpus.MaxDocuments / 200)}
}

// add adds a call's worth. The last document is stamped, if so wanted.
func (p *producer) add(ctx context.Context, stamp bool) error {
	keys, all := corpus.KeysOf(p.next, p.next+len(p.docs)), documents()
	for i := range p.docs {
		all.DocumentWithKey(p.next+i, keys.At(i), &p.docs[i])
	}
	if stamp {
		last := &p.docs[len(p.docs)-1]
		last.ID = stampPrefix + last.ID[len(keyPrefix):]
		p.index.stamps.Store(last.ID, time.Now())
	}
	p.next += len(p.docs)
	err := p.sender.UploadDocuments(ctx, p.docs...)
	if err == nil {
		p.added += len(p.docs)
	} else if part := (*bufferedsender.AddError)(nil); errors.As(err, &part) {
		p.added += part.Accepted
	}
	return err
}

// load is producers at work.
type load struct {
	stop context.CancelFunc
	wait sync.WaitGroup

	mu  sync.Mutex // guards err
	err error
}

// start has each producer add as fast as it can or, with an interval, once in it; they take turns in it then.
func start(ctx context.Context, producers []*producer, every time.Duration, stamp bool) *load {
	l := &load{}
	ctx, l.stop = context.WithCancel(ctx)
	for i, p := range producers {
		l.wait.Go(func() {
			next := time.Now().Add(every * time.Duration(i) / time.Duration(len(producers)))
			for ctx.Err() == nil {
				if every > 0 {
					select {
					case <-time.After(time.Until(next)):
						next = next.Add(every)
					case <-ctx.Done():
						return
					}
				}
				if err := p.add(ctx, stamp); err != nil && ctx.Err() == nil {
					l.mu.Lock()
					l.err = errors.Join(l.err, err)
					l.mu.Unlock()
					return
				}
			}
		})
	}
	return l
}

// end stops the producers, and returns what went wrong.
func (l *load) end() error {
	l.stop()
	l.wait.Wait()
	return l.err
}

// added is how many documents producers have added. They must have ended.
func added(producers ...*producer) (n int64) {
	for _, p := range producers {
		n += int64(p.added)
	}
	return n
}

// newFleet returns a fleet with the default budget, and that many slots in each half.
func newFleet(s *service, expedited, shared int) (*fleet.Fleet, error) {
	return fleet.New(s, &fleet.Options{Logger: quiet, Pool: &pool.Options{Expedited: expedited, Shared: shared}})
}

// senderOptions are those of all senders here, but for what a row changes.
func senderOptions() *options {
	return &options{Logger: quiet, Limits: bufferedsender.Limits{MaxBatchActions: batchActions}, AutoFlushInterval: 20 * time.Millisecond}
}

// finish closes a fleet, or a lone sender, quickly, and reports an error if a document is missing.
func finish(ctx context.Context, s *service, c interface{ Close(context.Context) error }, all []*index, added int64) error {
	s.hurry.Store(true)
	err := c.Close(ctx)
	s.hurry.Store(false)
	var applied int64
	for _, x := range all {
		applied += x.applied.Load()
	}
	if err == nil && applied != added {
		err = fmt.Errorf("%d documents were added and %d applied", added, applied)
	}
	return err
}

// labelled has the samples of a profile say whose they are.
func labelled(ctx context.Context, whose string, do func(ctx context.Context) error) (err error) {
	pprof.Do(ctx, pprof.Labels("of", whose), func(ctx context.Context) { err = do(ctx) })
	return err
}

// p99 is in milliseconds.
func p99(took []time.Duration) float64 {
	if len(took) == 0 {
		return math.NaN()
	}
	slices.Sort(took)
	return float64(took[min(len(took)*99/100, len(took)-1)]) / float64(time.Millisecond)
}
