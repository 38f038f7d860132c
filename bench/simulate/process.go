package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// process is one simulated program: senders that share a pool, and their producers.
type process struct {
	fleet     *fleet
	senders   []*sender
	adds      context.Context
	stop      context.CancelFunc // ends the adding calls, and with them the producers
	producers sync.WaitGroup
	dead      atomic.Bool
}

// sender is a sender of a process with its Indexer.
type sender struct {
	*bufferedsender.BufferedSender[document]
	ledger  ledger
	process *process
	index   string
	random  *rand.Rand // for its producer
	atDeath bufferedsender.Stats
}

// startProcess starts a process with a new number.
func (f *fleet) startProcess(number int) (*process, error) {
	each := max(1, f.plan.buffered/f.plan.senders) // the floor, guaranteed also in an outage
	shared, err := pool.New(&pool.Options{BufferedActions: f.plan.buffered, FloorActions: each})
	if err != nil {
		return nil, err
	}
	p := &process{fleet: f}
	p.adds, p.stop = context.WithCancel(context.Background())
	random := rand.New(rand.NewPCG(f.plan.seed, uint64(number)+1))
	for i, index := range random.Perm(f.plan.indexes)[:f.plan.senders] {
		s := &sender{
			ledger: ledger{prefix: fmt.Sprintf("%d-%d-", number, i)}, process: p, index: fmt.Sprintf("index-%d", index),
			random: rand.New(rand.NewPCG(random.Uint64(), 0)),
		}
		member, err := shared.Join(s.index)
		if err != nil {
			return nil, err
		}
		s.BufferedSender, err = bufferedsender.New(s, &bufferedsender.Options[document]{
			Limits:            bufferedsender.Limits{MaxInFlight: 4, MaxBufferedActions: each},
			AutoFlushInterval: f.plan.flush,
			Tuning:            f.plan.policy,
			Share:             member,
			Handlers:          events.Handlers[document]{ActionCompleted: s.ledger.complete, ActionFailed: s.ledger.fail},
			Logger:            slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return nil, err
		}
		p.senders = append(p.senders, s)
		p.producers.Go(s.produce)
	}
	return p, nil
}

// between is the mean interval between the adding calls of a producer.
const between = 3 * time.Second

// produce adds documents at the rate of the fleet. It skips documents for which the buffer has no room.
func (s *sender) produce() {
	owed, wait := 0.0, time.Duration(s.random.Int64N(int64(between)))
	for {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.process.adds.Done():
			timer.Stop()
			return
		}
		owed += s.process.fleet.rate() * wait.Seconds()
		if n := int(owed); n > 0 {
			owed -= float64(n)
			added := n
			err := s.UploadDocuments(s.process.adds, s.ledger.next(n)...)
			if partly := new(*bufferedsender.AddError); errors.As(err, partly) {
				added = (*partly).Accepted
			}
			s.process.fleet.accepted.Add(int64(added))
			if err != nil {
				return
			}
		}
		wait = between/2 + time.Duration(s.random.Int64N(int64(between)))
	}
}

// IndexDocumentsRaw implements bufferedsender.Indexer.
func (s *sender) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	if s.process.dead.Load() {
		return models.IndexDocumentsResult{}, context.Canceled
	}
	return s.process.fleet.service.answer(ctx, &s.ledger, body)
}

// IndexName is the name of the index in telemetry.
func (s *sender) IndexName() string { return s.index }

// settled returns the number of the process's documents with an outcome.
func (p *process) settled() (n int64) {
	for _, s := range p.senders {
		n += s.ledger.settled()
	}
	return n
}

// die ends the process like a crash, from the service's view.
func (p *process) die() {
	p.dead.Store(true)
	p.stop()
	p.producers.Wait()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	for _, s := range p.senders {
		s.atDeath = s.Stats()
		_ = s.Close(now) // discards all buffered documents
	}
}

// fleet is the set of all processes, with their service.
type fleet struct {
	plan    *plan
	service *service
	all     []*process // includes killed ones

	load     atomic.Int64 // of all processes, in thousandths of the capacity
	accepted atomic.Int64
}

// rate returns the documents per second that one sender should add.
func (f *fleet) rate() float64 {
	return float64(f.load.Load()) / 1000 * f.plan.capacity / float64(f.plan.processes*f.plan.senders)
}
