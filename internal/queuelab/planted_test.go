package queuelab

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
	"github.com/go-azsearch/azsearch/models"
)

// faulty is the model's queue with a bug that runs before or after a call of the model.
type faulty struct {
	*ModelQueue
	append   func(m *Model, call *queue.Call)
	appended func(m *Model, now time.Time, call *queue.Call)
	expire   func(m *Model, now time.Time) // called before leases expire
	reserve  func(want *queue.Want)
	settle   func(m *Model, end *queue.End)
	settled  func(m *Model, now time.Time, end *queue.End)
}

func (f *faulty) Append(ctx context.Context, c queue.Call) (receipt queue.Receipt, err error) {
	err = f.call(ctx, func(m *Model, now time.Time) error {
		if f.append != nil {
			c.Records, c.Folds = slices.Clone(c.Records), slices.Clone(c.Folds)
			f.append(m, &c)
		}
		receipt, err = m.Append(now, c)
		if f.appended != nil && err == nil {
			f.appended(m, now, &c)
		}
		return err
	})
	return receipt, err
}

func (f *faulty) Reserve(ctx context.Context, want queue.Want) (leases []queue.Lease, err error) {
	err = f.call(ctx, func(m *Model, now time.Time) error {
		if f.expire != nil {
			f.expire(m, now)
		}
		if f.reserve != nil {
			f.reserve(&want)
		}
		leases, err = m.Reserve(now, want)
		return err
	})
	return leases, err
}

func (f *faulty) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	err = f.call(ctx, func(m *Model, now time.Time) error {
		if f.expire != nil {
			f.expire(m, now)
		}
		m.endLeases(now)
		for i := range ends {
			if f.settle != nil {
				f.settle(m, &ends[i])
			}
			late, err := m.Settle(now, ends[i])
			if err != nil {
				return err
			}
			stale = append(stale, late...)
			if f.settled != nil {
				f.settled(m, now, &ends[i])
			}
		}
		return nil
	})
	return stale, nil, err
}

func (f *faulty) Exchange(ctx context.Context, want queue.Want, ends ...queue.End) (leases, stale, failed []queue.Lease, err error) {
	if stale, failed, err = f.Settle(ctx, ends...); err != nil {
		return nil, stale, failed, err
	}
	leases, err = f.Reserve(ctx, want)
	return leases, stale, failed, err
}

// planted are the bugs. Those that lose or repeat changes, or reserve a leased key, are also found without a model.
var planted = []struct {
	name  string
	alone bool // found without a model
	bug   func(q *ModelQueue) queue.Queue
}{
	{"two sets and no tokens, as the published Ick", true, func(q *ModelQueue) queue.Queue { return newIck(q) }},
	{"a commit does not compare the token", true, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, settle: func(m *Model, end *queue.End) {
			if e := m.keys[end.Lease.Key]; e != nil && len(e.leased) > 0 && end.Fate == queue.Commit {
				end.Lease.Token = e.lease.token
			}
		}}
	}},
	{"an expired lease drops the records behind it", true, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, expire: func(m *Model, now time.Time) {
			for _, e := range m.keys {
				if len(e.leased) > 0 && !e.until.After(now) {
					e.pile = nil
				}
			}
		}}
	}},
	{"a release loses the place", false, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, settled: func(m *Model, now time.Time, end *queue.End) {
			if e := m.keys[end.Lease.Key]; e != nil && end.Fate == queue.Release && len(e.pile) > 0 {
				e.place = m.newPlace(now, e.pile[0])
			}
		}}
	}},
	{"a fold does not compare", true, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, append: func(m *Model, call *queue.Call) {
			for i := range call.Folds {
				f := &call.Folds[i]
				if e := m.keys[f.Key]; e != nil && len(e.pile) > len(f.Records) {
					f.Count = min(f.Count, len(e.pile))
					f.Last = e.pile[f.Count-1].Seq
				}
			}
		}}
	}},
	{"records appended to a leased key are dropped", true, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, append: func(m *Model, call *queue.Call) {
			call.Records = slices.DeleteFunc(call.Records, func(r queue.Record) bool {
				return m.keys[r.Key] != nil && len(m.keys[r.Key].leased) > 0
			})
		}}
	}},
	{"a repeated call is applied twice", true, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, append: func(m *Model, call *queue.Call) {
			if m.adders[call.Adder].number == call.Number {
				delete(m.adders, call.Adder)
			}
		}}
	}},
	{"a lower number is accepted", true, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, append: func(m *Model, call *queue.Call) {
			if m.adders[call.Adder].number > call.Number {
				delete(m.adders, call.Adder)
			}
		}}
	}},
	{"Uncertain is ignored", true, func(q *ModelQueue) queue.Queue {
		return &faulty{
			ModelQueue: q,
			reserve:    func(want *queue.Want) { want.Uncertain = 0 },
			settle:     func(_ *Model, end *queue.End) { end.Uncertain = 0 },
		}
	}},
	{"a parked key loses the records behind it", true, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, settled: func(m *Model, _ time.Time, end *queue.End) {
			if e := m.keys[end.Lease.Key]; e != nil && len(e.parked) > 0 {
				e.pile = nil
			}
		}}
	}},
	{"a key that is replaced goes to the end", false, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, appended: func(m *Model, now time.Time, call *queue.Call) {
			for _, r := range call.Records {
				if e := m.keys[r.Key]; r.Replaces() && e != nil && len(e.pile) > 0 {
					e.place = m.newPlace(now, r)
				}
			}
		}}
	}},
	{"suspects that were in no request go alone", false, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, expire: func(m *Model, _ time.Time) {
			for _, e := range m.keys {
				e.requested = true
			}
		}}
	}},
	{"an expired lease goes behind records appended meanwhile", true, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, expire: func(m *Model, now time.Time) {
			for _, e := range m.keys {
				if len(e.leased) > 0 && !e.until.After(now) && len(e.pile) > 0 {
					e.leased, e.pile = e.pile, e.leased
				}
			}
		}}
	}},
	{"a stale end releases the key", true, func(q *ModelQueue) queue.Queue {
		return &faulty{ModelQueue: q, settle: func(m *Model, end *queue.End) {
			if e := m.keys[end.Lease.Key]; e != nil && len(e.leased) > 0 && e.lease.token != end.Lease.Token {
				m.giveBack(e, 0)
			}
		}}
	}},
}

// still is a back end whose clock only Sleep advances, without a bubble.
func still(open func(now func() time.Time, c queuetest.Config) queue.Queue) queuetest.Backend {
	return queuetest.Backend{Limited: true, Run: func(t *testing.T, c queuetest.Config, body func(*testing.T, *queuetest.Harness)) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		clock := func() time.Time { return now }
		q := open(clock, c)
		defer q.Close()
		body(t, &queuetest.Harness{
			Queue: q, Now: clock,
			Sleep: func(d time.Duration) { now = now.Add(d) },
			Await: func(cond func() bool) bool { return cond() },
		})
	}}
}

func TestPlantedBugsAreFoundWithin500Schedules(t *testing.T) {
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			b := still(func(now func() time.Time, c queuetest.Config) queue.Queue { return p.bug(NewModelQueue(now, c)) })
			for _, program := range []Program{{Seed: 1, Schedules: 500}, {Seed: 1, Schedules: 500, Spread: true}} {
				if program.Spread && !p.alone {
					continue
				}
				total, err := program.find(t, b)
				if err == nil {
					t.Fatalf("not found in %d schedules, without a model: %v", total.Schedules, program.Spread)
				}
				what, _, _ := strings.Cut(err.Error(), "\n")
				t.Log(what)
			}
		})
	}
}

// The schedule that shows the fault: reserve, append, a larger reserve, commit.
func TestThePublishedIckLosesAChange(t *testing.T) {
	b := still(func(now func() time.Time, c queuetest.Config) queue.Queue { return newIck(NewModelQueue(now, c)) })
	b.Run(t, queuetest.Config{}, func(t *testing.T, h *queuetest.Harness) {
		q, adder := h.Queue, queue.NewID()
		add := func(number uint64, keys ...string) {
			c := queue.Call{Adder: adder, Number: number}
			for _, key := range keys {
				c.Records = append(c.Records, queue.Record{Key: key, Op: models.ActionTypeUpload, Body: []byte("x")})
			}
			if _, err := q.Append(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		reserve := func(keys int) []queue.Lease {
			leases, err := q.Reserve(t.Context(), queue.Want{Keys: keys})
			if err != nil {
				t.Fatal(err)
			}
			return leases
		}
		add(1, "a")
		first := reserve(1)
		if len(first) != 1 || first[0].Key != "a" {
			t.Fatalf("got %v, want a", first)
		}
		add(2, "a", "b")
		reserve(2)
		if _, _, err := q.Settle(t.Context(), queue.End{Lease: first[0], Fate: queue.Commit}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for _, l := range reserve(9) {
				if l.Key == "a" {
					t.Fatal("the change is there: this is not the published Ick")
				}
			}
		}
	})
}

// ick is the published algorithm: a producer set and a consumer set ordered by score, without tokens or leases.
// Reserve moves keys from one set to the other until that has enough, and returns its first ones to any caller;
// commit removes them.
type ick struct {
	*ModelQueue // for the methods that an Ick does not have
	pset, cset  map[string]*scored
	added       int
	last        map[queue.ID]queue.Receipt
	numbers     map[queue.ID]uint64
}

type scored struct {
	score   int
	records []queue.Record
}

func newIck(q *ModelQueue) *ick {
	return &ick{ModelQueue: q, pset: map[string]*scored{}, cset: map[string]*scored{}, last: map[queue.ID]queue.Receipt{}, numbers: map[queue.ID]uint64{}}
}

// fold adds records to a member of a set, with the lower of two scores.
func fold(set map[string]*scored, key string, score int, records []queue.Record) {
	m := set[key]
	if m == nil {
		m = &scored{score: score}
		set[key] = m
	}
	m.score = min(m.score, score)
	for _, r := range records {
		if r.Replaces() {
			m.records = nil
		}
		m.records = append(m.records, r)
	}
}

func (q *ick) Append(_ context.Context, c queue.Call) (queue.Receipt, error) {
	switch {
	case c.Number == q.numbers[c.Adder]:
		return q.last[c.Adder], nil
	case c.Number < q.numbers[c.Adder]:
		return queue.Receipt{}, queue.ErrTooOld
	}
	receipt := queue.Receipt{}
	for i, r := range c.Records {
		q.added++
		r.From, r.Seq = queue.Origin{Adder: c.Adder, Number: c.Number, Index: i}, uint64(q.added)
		if m := q.pset[r.Key]; m != nil && r.Replaces() {
			receipt.Replaced += len(m.records)
		}
		fold(q.pset, r.Key, q.added, []queue.Record{r})
	}
	q.last[c.Adder], q.numbers[c.Adder] = receipt, c.Number
	return receipt, nil
}

// lowest returns the members of a set by score.
func lowest(set map[string]*scored) []string {
	var keys []string
	for k := range set {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return set[a].score - set[b].score })
	return keys
}

func (q *ick) Reserve(_ context.Context, want queue.Want) (leases []queue.Lease, err error) {
	if q.model.paused {
		return nil, nil
	}
	for _, k := range lowest(q.pset) {
		if len(q.cset) >= want.Keys {
			break
		}
		fold(q.cset, k, q.pset[k].score, q.pset[k].records)
		delete(q.pset, k)
	}
	for _, k := range lowest(q.cset)[:min(want.Keys, len(q.cset))] {
		leases = append(leases, queue.Lease{Key: k, Token: want.Token, Records: slices.Clone(q.cset[k].records)})
	}
	return leases, nil
}

func (q *ick) Settle(_ context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	for _, e := range ends {
		if q.cset[e.Lease.Key] == nil {
			stale = append(stale, e.Lease)
		} else if e.Fate == queue.Commit {
			delete(q.cset, e.Lease.Key)
		}
	}
	return stale, nil, nil
}

func (q *ick) Exchange(ctx context.Context, want queue.Want, ends ...queue.End) (leases, stale, failed []queue.Lease, err error) {
	stale, _, _ = q.Settle(ctx, ends...)
	leases, err = q.Reserve(ctx, want)
	return leases, stale, nil, err
}
