package queuetest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

//archtest:long a list of independent promises
func argumentPromises() []promise {
	one := func(c *trial, change func(*queue.Call)) error {
		call := c.call(upload("a", "1"))
		change(&call)
		_, err := c.h.Queue.Append(c.ctx, call)
		return err
	}
	fold := func(c *trial, f queue.Fold) error {
		return one(c, func(call *queue.Call) { call.Folds = []queue.Fold{f} })
	}
	calls := []struct {
		name string
		do   func(c *trial) error
	}{
		{"a call without an adder", func(c *trial) error { return one(c, func(call *queue.Call) { call.Adder = queue.ID{} }) }},
		{"a call without a number", func(c *trial) error { return one(c, func(call *queue.Call) { call.Number = 0 }) }},
		{"a record without a key", func(c *trial) error { return one(c, func(call *queue.Call) { call.Records[0].Key = "" }) }},
		{"a key of 1025 bytes", func(c *trial) error {
			return one(c, func(call *queue.Call) { call.Records[0].Key = strings.Repeat("k", 1025) })
		}},
		{"an unknown operation", func(c *trial) error {
			return one(c, func(call *queue.Call) { call.Records[0].Op = models.ActionType("destroy") })
		}},
		{"an upload without a body", func(c *trial) error { return one(c, func(call *queue.Call) { call.Records[0].Body = nil }) }},
		{"a body without an operation", func(c *trial) error { return one(c, func(call *queue.Call) { call.Records[0].Op = "" }) }},
		{"a class above 7", func(c *trial) error { return one(c, func(call *queue.Call) { call.Records[0].Class = 8 }) }},
		{"a bad record behind good ones", func(c *trial) error {
			return one(c, func(call *queue.Call) { call.Records = append(call.Records, merge("b", "2"), upload("", "3")) })
		}},
		{"more than MaxCall records", func(c *trial) error {
			return one(c, func(call *queue.Call) {
				for range queue.MaxCall {
					call.Records = append(call.Records, merge("b", "2"))
				}
			})
		}},
		{"a fold that saves nothing", func(c *trial) error {
			return fold(c, queue.Fold{Key: "a", Count: 1, Last: 1, Records: []queue.Record{merge("a", "1")}})
		}},
		{"a fold without records", func(c *trial) error { return fold(c, queue.Fold{Key: "a", Count: 2, Last: 1}) }},
		{"a fold of two keys", func(c *trial) error {
			return fold(c, queue.Fold{Key: "a", Count: 2, Last: 1, Records: []queue.Record{merge("b", "1")}})
		}},
		{"a fold of a bad record", func(c *trial) error {
			return fold(c, queue.Fold{Key: "a", Count: 2, Last: 1, Records: []queue.Record{merge("a", "")}})
		}},
	}
	wants := []struct {
		name   string
		change asking
	}{
		{"a reservation without a token", func(w *queue.Want) { w.Token = queue.ID{} }},
		{"leases that last for no time", func(w *queue.Want) { w.For = 0 }},
		{"leases of negative duration", func(w *queue.Want) { w.For = -1 }},
		{"less than no keys", func(w *queue.Want) { w.Keys = -1 }},
		{"less than no bytes", func(w *queue.Want) { w.Bytes = -1 }},
		{"a negative uncertainty", func(w *queue.Want) { w.Uncertain = -1 }},
		{"more than MaxCall keys", func(w *queue.Want) { w.Keys = queue.MaxCall + 1 }},
		{"more than MaxCall names", func(w *queue.Want) { w.Only = make([]string, queue.MaxCall+1) }},
	}
	endings := []struct {
		name   string
		change func(*queue.End)
	}{
		{"an end without a kind", func(e *queue.End) { e.Fate = 0 }},
		{"an unknown fate", func(e *queue.End) { e.Fate = queue.Park + 1 }},
		{"fewer than no records done", func(e *queue.End) { e.Done = -1 }},
		{"a negative delay", func(e *queue.End) { e.After = -1 }},
		{"an end with a negative uncertainty", func(e *queue.End) { e.Uncertain = -1 }},
	}
	return []promise{
		of("a bogus call is refused, and nothing of it is kept", func(c *trial) {
			for _, bogus := range calls {
				c.refused(bogus.do(c), bogus.name)
				if found := c.contains("a", "b", c.key("a")); found[0] || found[1] || found[2] {
					c.t.Errorf("%s: something of it was kept", bogus.name)
				}
			}
			c.counts(0, 0, 0)
			equal(c, c.stats().Appended, 0, "Stats.Appended")
		}),
		of("all that is wrong with a call is named at once", func(c *trial) {
			_, err := c.h.Queue.Append(c.ctx, queue.Call{Records: []queue.Record{{Op: models.ActionTypeUpload}}})
			c.refused(err, "a call without anything")
			for _, word := range []string{"Adder", "Number", "key"} {
				if !strings.Contains(err.Error(), word) {
					c.t.Errorf("%q is not named in: %v", word, err)
				}
			}
		}),
		of("a bogus reservation is refused, and leases nothing", func(c *trial) {
			c.add(upload("a", "1"))
			for _, bogus := range wants {
				_, err := c.h.Queue.Reserve(c.ctx, c.want(1, bogus.change))
				c.refused(err, bogus.name)
				_, _, _, err = c.h.Queue.(queue.Exchanger).Exchange(c.ctx, c.want(1, bogus.change))
				c.refused(err, bogus.name+", in Exchange")
			}
			c.counts(1, 0, 0)
		}),
		of("a bogus end is refused, and nothing of its call is settled", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			leases := c.take(2, "a: upload 1", "b: upload 2")
			for _, bogus := range endings {
				all := append(ends(queue.Commit, leases[:1]), ends(queue.Release, leases[1:], bogus.change)...)
				_, _, err := c.h.Queue.Settle(c.ctx, all...)
				c.refused(err, bogus.name)
				_, _, _, err = c.h.Queue.(queue.Exchanger).Exchange(c.ctx, c.want(1), all...)
				c.refused(err, bogus.name+", in Exchange")
			}
			_, _, err := c.h.Queue.Settle(c.ctx, make([]queue.End, queue.MaxCall+1)...)
			c.refused(err, "more than MaxCall ends")
			c.counts(0, 2, 0)
			c.commit(leases)
		}),
	}
}

// refused fails unless err is an error other than the sentinels, which describe the state of the queue.
func (c *trial) refused(err error, what string) {
	c.t.Helper()
	if err == nil {
		c.t.Errorf("%s is accepted", what)
		return
	}
	for _, sentinel := range []error{queue.ErrClosed, queue.ErrFull, queue.ErrUnknown, queue.ErrTooOld, queue.ErrLost, queue.ErrFailed} {
		if errors.Is(err, sentinel) {
			c.t.Errorf("%s: error %v", what, err)
		}
	}
}

func emptyPromises() []promise {
	return []promise{
		of("empty calls on an empty queue return empty answers", func(c *trial) {
			receipt := c.add()
			equal(c, receipt.Replaced+receipt.Folded+len(receipt.Piles), 0, "of the receipt")
			c.take(9)
			equal(c, len(c.settle()), 0, "stale")
			c.extend(lease, 0)
			leases, stale := c.exchange(c.want(0))
			equal(c, len(leases)+len(stale), 0, "of Exchange")
			equal(c, len(c.contains()), 0, "length of Contains")
			c.inspects(queue.Inspection{})
			a := c.admin()
			for what, f := range map[string]func() (int, error){
				"Park":   func() (int, error) { return a.Park(c.ctx, "") },
				"Unpark": func() (int, error) { return a.Unpark(c.ctx) },
				"Drop":   func() (int, error) { return a.Drop(c.ctx) },
			} {
				n, err := f()
				c.did(n, err, 0, what)
			}
			c.noError(a.Resume(c.ctx), "Resume of a queue that is not paused")
			c.counts(0, 0, 0)
		}),
	}
}

func closePromises() []promise {
	return []promise{
		of("a Position that no queue gives is an error, and not settled", func(c *trial) {
			c.add(upload("a", "1"))
			c.commit(c.take(1, "a: upload 1"))
			if settled, err := c.h.Queue.Settled(c.ctx, "?"); err == nil || settled {
				c.t.Errorf("Settled: %v, error %v", settled, err)
			}
		}),
		of("a closed queue says so", func(c *trial) {
			c.noError(c.h.Queue.Close(), "Close")
			q, a := c.h.Queue, c.admin()
			for what, f := range map[string]func(context.Context) error{
				"Append":  func(ctx context.Context) error { _, err := q.Append(ctx, c.call(upload("a", "1"))); return err },
				"Reserve": func(ctx context.Context) error { _, err := q.Reserve(ctx, c.want(1)); return err },
				"Settle": func(ctx context.Context) error {
					_, _, err := q.Settle(ctx, queue.End{Lease: queue.Lease{Key: "a", Token: queue.NewID()}, Fate: queue.Commit})
					return err
				},
				"Extend": func(ctx context.Context) error {
					_, err := q.Extend(ctx, time.Second, queue.Lease{Key: "a", Token: queue.NewID()})
					return err
				},
				"Settled":  func(ctx context.Context) error { _, err := q.Settled(ctx, ""); return err },
				"Stats":    func(ctx context.Context) error { _, err := q.Stats(ctx); return err },
				"Inspect":  func(ctx context.Context) error { _, err := a.Inspect(ctx, queue.Inspection{}); return err },
				"Park":     func(ctx context.Context) error { _, err := a.Park(ctx, "", "a"); return err },
				"Unpark":   func(ctx context.Context) error { _, err := a.Unpark(ctx, "a"); return err },
				"Drop":     func(ctx context.Context) error { _, err := a.Drop(ctx, "a"); return err },
				"Pause":    func(ctx context.Context) error { return a.Pause(ctx, "") },
				"Resume":   a.Resume,
				"Contains": func(ctx context.Context) error { _, err := q.(queue.Membership).Contains(ctx, "a"); return err },
				"Exchange": func(ctx context.Context) error {
					_, _, _, err := q.(queue.Exchanger).Exchange(ctx, c.want(1))
					return err
				},
			} {
				if err := f(c.ctx); !errors.Is(err, queue.ErrClosed) {
					c.t.Errorf("%s: error %v, want %v", what, err, queue.ErrClosed)
				}
			}
			c.noError(c.h.Queue.Close(), "Close again")
		}),
	}
}
