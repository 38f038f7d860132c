package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// story is a simulated run of a simple sender and a simple service, both honest, so that the correct result of the
// check is known.
type story struct {
	plan      *plan
	ledger    *ledger
	testimony *testimony
	final     final

	rnd     *rand.Rand
	waiting map[int32][]int64 // accepted and not settled, by key, in order
	tries   map[int64]int
	clock   time.Time
	seq     uint64
}

const storyAttempts = 3

// newStory returns a story of about forty actions.
func newStory(seed uint64) *story {
	p := newPlan(shape{documents: 40, size: 20, hot: 0.1, seed: seed})
	s := &story{
		plan: p, ledger: newLedger(p), testimony: &testimony{Index: map[string]state{}},
		rnd: rand.New(rand.NewPCG(seed, 7)), waiting: map[int32][]int64{}, tries: map[int64]int{},
		clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for producer := range producers {
		// The last two of each are not accepted.
		for i := p.first[producer]; i < p.first[producer+1]-2; i++ {
			s.ledger.accounts[i].accepted = true
			s.waiting[p.actions[i].key] = append(s.waiting[p.actions[i].key], int64(i)+1)
		}
	}
	// In every third story Close comes half-way.
	for n := 0; len(s.waiting) > 0 && (seed%3 != 0 || n < 6); n++ {
		s.request()
	}
	if len(s.waiting) > 0 {
		s.close()
	}
	c := tally{}
	for i := range s.ledger.accounts {
		a := &s.ledger.accounts[i]
		c.Accepted += btoi(a.accepted)
		c.Completed += btoi(a.outcome == completed)
		c.Failed += btoi(a.outcome == failed)
		c.Unsent += btoi(a.outcome == unsent)
		c.Unknown += btoi(a.outcome == unsent && a.unknown)
	}
	s.final.stats = bufferedsender.Stats{Accepted: int64(c.Accepted), Completed: int64(c.Completed), Failed: int64(c.Failed), Unsent: int64(c.Unsent)}
	s.final.closeErr = &bufferedsender.CloseError{Failed: c.Failed, Unsent: c.Unsent - c.Unknown, Unknown: c.Unknown}
	return s
}

// request sends the first actions of some keys, with a random fault.
func (s *story) request() {
	s.clock = s.clock.Add(time.Second)
	r := received{ID: fmt.Sprintf("request-%d", len(s.testimony.Requests)), Arrived: s.clock, Ended: s.clock.Add(time.Millisecond), Status: 200}
	var revs []int64
	for key := range int32(s.plan.keys) {
		if len(s.waiting[key]) > 0 && s.rnd.IntN(2) == 0 {
			revs = append(revs, s.waiting[key][0])
		}
	}
	fate := s.rnd.IntN(10)
	for _, rev := range revs {
		s.tries[rev]++
		a := s.plan.actions[rev-1]
		s.ledger.actionSent(context.Background(), &events.ActionSent[document]{Action: s.plan.send(rev), Key: s.plan.key(a.key), BatchID: r.ID})
		c := carried{Key: s.plan.key(a.key), Action: a.typ, Rev: rev, Sets: a.sets}
		if a.typ == models.ActionTypeDelete {
			c.Rev = 0
		}
		if fate > 2 {
			s.apply(a, rev, &c)
		}
		r.Carried = append(r.Carried, c)
	}
	switch fate {
	case 0: // the whole request is refused
		r.Status, r.Fault = 503, true
	case 1: // cut before it was applied
		r.Broken = true
	case 2: // no connection: nothing arrives
	case 3: // cut after it was applied
		r.Broken = true
	}
	if fate != 2 {
		s.testimony.Requests = append(s.testimony.Requests, r)
	}
	for i, rev := range revs {
		switch {
		case fate == 0:
			s.retry(rev, 503, false)
		case fate == 1 || fate == 3:
			s.retry(rev, 0, true)
		case fate == 2:
			s.retry(rev, 0, false)
		case r.Carried[i].applied():
			s.settle(rev, completed, 200, false)
		case r.Carried[i].Status == 503:
			s.retry(rev, 503, false)
		default:
			s.settle(rev, failed, r.Carried[i].Status, false)
		}
	}
}

// apply simulates the service's handling of an action.
func (s *story) apply(a action, rev int64, c *carried) {
	s.seq++
	c.Seq = s.seq
	next, possible := s.testimony.Index[c.Key].after(a, rev, s.plan.text)
	switch {
	case s.rnd.IntN(10) == 0:
		c.Status = 503
	case !possible:
		c.Status = 404
	default:
		c.Status = 200
		s.testimony.Index[c.Key] = next
		if !next.exists() {
			delete(s.testimony.Index, c.Key)
		}
	}
}

// retry leaves an action waiting, or fails it.
func (s *story) retry(rev int64, status int, unknown bool) {
	a := &s.ledger.accounts[rev-1]
	a.unknown = a.unknown || unknown // stays set whatever comes later
	if s.tries[rev] == storyAttempts {
		s.settle(rev, failed, status, a.unknown)
	}
}

func (s *story) settle(rev int64, how outcome, status int, unknown bool) {
	a := s.plan.actions[rev-1]
	key := s.plan.key(a.key)
	switch how {
	case completed:
		s.ledger.accounts[rev-1].unknown = false
		s.ledger.actionCompleted(context.Background(), &events.ActionCompleted[document]{Action: s.plan.send(rev), Key: key})
	default:
		err := &bufferedsender.ActionError{Key: key, Type: a.typ, Status: status, Unknown: unknown}
		if how == unsent {
			err.Err = bufferedsender.ErrClosed
		}
		s.ledger.actionFailed(context.Background(), &events.ActionFailed[document]{Action: s.plan.send(rev), Key: key, Err: err, Unknown: unknown})
	}
	if s.waiting[a.key] = s.waiting[a.key][1:]; len(s.waiting[a.key]) == 0 {
		delete(s.waiting, a.key)
	}
}

// close gives up the waiting actions.
func (s *story) close() {
	for key := range int32(s.plan.keys) {
		for len(s.waiting[key]) > 0 {
			rev := s.waiting[key][0]
			s.settle(rev, unsent, 0, s.ledger.accounts[rev-1].unknown)
		}
	}
}

// check checks the story. Every failure is expected.
func (s *story) check() *checker {
	return check(s.plan, s.ledger, s.testimony, s.final, func(*plan, action, int) bool { return true })
}

// unknown reports whether any action of a key has an unknown outcome.
func (s *story) unknown(key int32) bool {
	_, found := s.find(func(rev int64, a *account) bool { return s.plan.actions[rev-1].key == key && a.unknown })
	return found
}

// find returns the number of the first action that satisfies f.
func (s *story) find(f func(rev int64, a *account) bool) (int64, bool) {
	for i := range s.ledger.accounts {
		if f(int64(i)+1, &s.ledger.accounts[i]) {
			return int64(i) + 1, true
		}
	}
	return 0, false
}

// arrivals returns the arrivals of an action.
func (s *story) arrivals(rev int64) (found []*carried) {
	for _, v := range check(s.plan, s.ledger, s.testimony, s.final, nil).visits[rev-1] {
		found = append(found, v.carried)
	}
	return found
}
