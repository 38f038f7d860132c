package simulate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// outcome is the result of a simulation.
type outcome struct {
	plan    *plan
	seconds []second
	starts  []int // the second in which each phase began, and the end of the last

	// shares has, for each phase, the documents settled by each process that lived through this and all earlier
	// phases.
	shares [][]float64

	accepted, completed, failed int64
	held                        int64 // accepted by killed processes and not settled
	twice                       int64 // applications of documents after their first
	settledAfter                time.Duration
	unsettled                   int64          // documents without an outcome at the end
	reasons                     map[string]int // of failures
	wrong                       []string       // the first broken promises
}

// complain records broken promises, ten at most.
func (o *outcome) complain(more ...string) {
	o.wrong = append(o.wrong, more[:min(len(more), 10-min(10, len(o.wrong)))]...)
}

// simulate runs the plan. It must be called in a bubble of testing/synctest.
func simulate(p *plan) (*outcome, error) {
	f := &fleet{plan: p, service: newService(p.seed)}
	o := &outcome{plan: p, reasons: map[string]int{}}
	f.begin(&p.phases[0])
	if err := f.replenish(); err != nil {
		return nil, err
	}
	for i := range p.phases {
		if err := f.live(&p.phases[i], o); err != nil {
			return nil, err
		}
	}
	f.end(o)
	return o, nil
}

func (f *fleet) begin(now *phase) {
	f.load.Store(int64(now.load * 1000))
	f.service.setCapacity(now.capacity * f.plan.capacity)
}

// replenish starts the missing processes.
func (f *fleet) replenish() error {
	for living := len(f.living()); living < f.plan.processes; living++ {
		p, err := f.startProcess(len(f.all))
		if err != nil {
			return err
		}
		f.all = append(f.all, p)
	}
	return nil
}

func (f *fleet) living() (all []*process) {
	for _, p := range f.all {
		if !p.dead.Load() {
			all = append(all, p)
		}
	}
	return all
}

// live runs one phase.
func (f *fleet) live(now *phase, o *outcome) error {
	f.begin(now)
	o.starts = append(o.starts, f.second())
	if now.kill > 0 {
		for _, p := range f.living()[:int(now.kill*float64(f.plan.processes))] {
			p.die()
		}
	}
	before := map[*process]int64{}
	for _, p := range f.living() {
		before[p] = p.settled()
	}
	for from := f.second(); f.second()-from < int(now.lasts/time.Second); {
		if now.kill > 0 && f.second()-from == int(now.lasts.Seconds()*replaced) {
			if err := f.replenish(); err != nil {
				return err
			}
		}
		f.service.note(f.waiting())
		time.Sleep(time.Until(f.service.began.Add(time.Duration(f.second()+1) * time.Second)))
	}
	var shares []float64
	for _, p := range f.living() {
		if settled, ok := before[p]; ok {
			shares = append(shares, float64(p.settled()-settled))
		}
	}
	o.shares = append(o.shares, shares)
	return nil
}

// second returns the number of seconds since the start.
func (f *fleet) second() int { return int(time.Since(f.service.began) / time.Second) }

// waiting returns the number of accepted, unsettled documents, without those of killed processes.
func (f *fleet) waiting() (n int64) {
	for _, p := range f.living() {
		for _, s := range p.senders {
			n += int64(s.Stats().PendingActions)
		}
	}
	return n
}

// end stops the producers, closes the senders and counts the outcomes.
func (f *fleet) end(o *outcome) {
	o.starts = append(o.starts, f.second())
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), f.plan.settle)
	defer cancel()
	var closing sync.WaitGroup
	var mu sync.Mutex // guards o.wrong
	for _, p := range f.living() {
		p.stop()
		for _, s := range p.senders {
			closing.Go(func() {
				p.producers.Wait()
				if err := s.Close(ctx); err != nil && !errors.As(err, new(*bufferedsender.CloseError)) {
					mu.Lock()
					defer mu.Unlock()
					o.complain(fmt.Sprintf("Close of %s: %v", s.index, err))
				}
			})
		}
	}
	closing.Wait()
	o.settledAfter = time.Since(began)
	o.seconds = f.service.seconds
	for _, p := range f.all {
		for _, s := range p.senders {
			s.count(o)
		}
	}
}

// count adds the outcomes of the sender's documents. Documents of a killed process are already counted, and later
// reports of its senders do not count.
func (s *sender) count(o *outcome) {
	l := &s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	o.complain(l.wrong...)
	o.twice += l.twice
	stats := s.Stats()
	if s.process.dead.Load() {
		stats = s.atDeath
		o.held += int64(stats.PendingActions)
	}
	o.accepted += stats.Accepted
	o.completed += stats.Completed
	o.failed += stats.Failed
	o.unsettled += stats.Unsent
	if s.process.dead.Load() {
		return
	}
	for reason, n := range l.reasons {
		o.reasons[reason] += n
	}
	if stats.Accepted != l.completed+l.failed || stats.PendingActions != 0 {
		o.complain(fmt.Sprintf("%s: %d accepted, but %d completed and %d failed, %d pending", l.prefix, stats.Accepted, l.completed, l.failed, stats.PendingActions))
	}
}
