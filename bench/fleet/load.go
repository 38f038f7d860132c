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
	batchActions = 500 // with 8 slots and 50 ms: at most 80 000 documents per second
)

// perSlot is the maximum rate of a slot, in documents per second.
const perSlot = batchActions * float64(time.Second) / float64(takes)

var quiet = slog.New(slog.DiscardHandler)

type (
	options = bufferedsender.Options[corpus.Hotel]
	sender  = *bufferedsender.BufferedSender[corpus.Hotel]
)

// documents are the contents to send. Each document gets its own key.
var documents = sync.OnceValue(func() *corpus.Workload[corpus.Hotel] {
	return corpus.New(300, 300, corpus.NewHotel, func(h *corpus.Hotel, key string) { h.ID = key })
})

// producer adds documents to a sender, in one goroutine.
type producer struct {
	sender sender
	index  *index
	docs   []corpus.Hotel
	next   int // number of the next key
	added  int
}

// producerOf returns a producer with its own keys. Each call adds perCall documents.
func producerOf(s sender, x *index, number, perCall int) *producer {
	return &producer{sender: s, index: x, docs: make([]corpus.Hotel, perCall), next: number * (corpus.MaxDocuments / 200)}
}

// add makes one adding call. With stamp it records when the last document was added.
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

// load is a group of running producers.
type load struct {
	stop context.CancelFunc
	wait sync.WaitGroup

	mu  sync.Mutex // guards err
	err error
}

// start starts producers. Without an interval each adds without pause; with one each adds once per interval, evenly
// spread.
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

// end stops the producers and returns their errors.
func (l *load) end() error {
	l.stop()
	l.wait.Wait()
	return l.err
}

// added returns the number of documents that producers have added. Call it after their end.
func added(producers ...*producer) (n int64) {
	for _, p := range producers {
		n += int64(p.added)
	}
	return n
}

// newFleet returns a fleet with the default budget and the given slots.
func newFleet(s *service, expedited, shared int) (*fleet.Fleet, error) {
	return fleet.New(s, &fleet.Options{Logger: quiet, Pool: &pool.Options{Expedited: expedited, Shared: shared}})
}

// senderOptions returns the common options of all senders.
func senderOptions() *options {
	return &options{Logger: quiet, Limits: bufferedsender.Limits{MaxBatchActions: batchActions}, AutoFlushInterval: 20 * time.Millisecond}
}

// finish closes a fleet or a lone sender quickly. It returns an error if a document is missing.
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

// labelled labels the samples of a profile.
func labelled(ctx context.Context, whose string, do func(ctx context.Context) error) (err error) {
	pprof.Do(ctx, pprof.Labels("of", whose), func(ctx context.Context) { err = do(ctx) })
	return err
}

// p99 returns milliseconds.
func p99(took []time.Duration) float64 {
	if len(took) == 0 {
		return math.NaN()
	}
	slices.Sort(took)
	return float64(took[min(len(took)*99/100, len(took)-1)]) / float64(time.Millisecond)
}
