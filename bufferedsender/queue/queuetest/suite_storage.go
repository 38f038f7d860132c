package queuetest

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

//archtest:long a list of independent promises
func durablePromises() []promise {
	durable := func(name string, test func(c *trial, b Backend)) promise {
		return promise{name, func(b Backend) bool { return b.Durable }, Config{}, test}
	}
	// reopen opens the storage again. Leases have run out then.
	reopen := func(c *trial, b Backend) {
		c.t.Helper()
		c.h.Queue = c.h.Reopen(c.t)
		if !b.LeasesEnd {
			c.h.Sleep(lease)
		}
	}
	return []promise{
		durable("appended records survive, in their order", func(c *trial, b Backend) {
			c.add(upload("b", "1"), merge("b", "2"), remove("a", "3"), changed("c"))
			c.h.Sleep(time.Second)
			c.add(class(upload("d", "4"), 0), since(upload("e", "5"), c.h.Now().Add(-time.Hour)))
			reopen(c, b)
			c.counts(5, 0, 0)
			c.take(9, "e: upload 5", "b: upload 1 merge 2", "a: delete 3", "c: changed", "d: upload 4")
		}),
		durable("settled records do not come back", func(c *trial, b Backend) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			leases := c.take(2, "a: upload 1", "b: upload 2")
			c.add(upload("b", "4"))
			c.commit(leases)
			reopen(c, b)
			c.take(9, "c: upload 3", "b: upload 4")
		}),
		durable("leased records come back with the waiting ones, and count as expired", func(c *trial, b Backend) {
			c.add(upload("a", "1"), upload("b", "2"))
			zombie := c.take(2, "a: upload 1", "b: upload 2")
			c.add(merge("a", "3"), upload("b", "4"))
			reopen(c, b)
			leases := c.take(9, "a: upload 1 merge 3", "b: upload 4")
			equal(c, leases[0].Expired, 1, "Expired")
			c.stale(queue.Commit, zombie)
			c.commit(leases)
			c.counts(0, 0, 0)
		}),
		durable("the Uncertain of a reservation holds after the process has died", func(c *trial, b Backend) {
			c.add(upload("a", "1"))
			c.reserve(1, uncertain(time.Minute))
			reopen(c, b)
			c.nothing("the last request of the holder may be under way")
			c.h.Sleep(time.Minute)
			c.take(1, "a: upload 1")
		}),
		durable("a call that is repeated after the process has died is applied once", func(c *trial, b Backend) {
			call := c.call(merge("a", "1"))
			receipt := c.send(call)
			reopen(c, b)
			repeated := c.send(call)
			equal(c, repeated.Replaced, receipt.Replaced, "Replaced")
			c.take(1, "a: merge 1")
			c.add(merge("b", "2"))
			_, err := c.h.Queue.Append(c.ctx, call)
			c.is(err, queue.ErrTooOld, "the call before the last one")
		}),
		durable("parked keys stay parked, with their reasons and replaced records", func(c *trial, b Backend) {
			c.add(upload("a", "1"), upload("b", "2"))
			c.end(queue.Park, c.take(2, "a: upload 1", "b: upload 2"), reason("why"))
			c.add(merge("a", "3"), upload("b", "4"))
			reopen(c, b)
			c.counts(2, 0, 1)
			e := c.entry("a")
			equal(c, e.Reason, "why", "Reason")
			equal(c, c.line(e.Key, e.Parked), "a: upload 1", "Parked")
			equal(c, c.line(e.Key, e.Waiting), "a: merge 3", "Waiting")
			equal(c, string(c.entry("b").Replaced.Body), "2", "Replaced")
			c.take(9, "b: upload 4")
			n, err := c.admin().Unpark(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Unpark")
			c.take(9, "a: upload 1 merge 3")
		}),
		durable("dropped keys stay dropped", func(c *trial, b Backend) {
			c.add(upload("a", "1"))
			c.end(queue.Park, c.take(1, "a: upload 1"))
			n, err := c.admin().Drop(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Drop")
			reopen(c, b)
			c.counts(0, 0, 0)
		}),
		durable("a paused queue stays paused", func(c *trial, b Backend) {
			c.add(upload("a", "1"))
			c.noError(c.admin().Pause(c.ctx, "why"), "Pause")
			reopen(c, b)
			c.nothing("paused")
			equal(c, c.stats().PauseReason, "why", "Stats.PauseReason")
			c.noError(c.admin().Resume(c.ctx), "Resume")
			reopen(c, b)
			c.take(1, "a: upload 1")
		}),
		durable("a delay and an uncertainty outlive the process", func(c *trial, b Backend) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			leases := c.take(3, "a: upload 1", "b: upload 2", "c: upload 3")
			c.end(queue.Release, leases[:1], after(time.Hour), again)
			c.end(queue.Release, leases[1:2], unsure(time.Hour))
			c.end(queue.Commit, leases[2:], unsure(time.Hour))
			reopen(c, b)
			c.add(upload("c", "4"))
			c.nothing("none is due")
			c.h.Sleep(time.Hour)
			leases = c.take(9, "a: upload 1", "b: upload 2", "c: upload 4")
			equal(c, leases[0].Tries, 1, "Tries")
		}),
		durable("a fold survives", func(c *trial, b Backend) {
			var pile queue.Pile
			for i := range queue.PileLimit {
				if r := c.add(merge("a", fmt.Sprint(i))); len(r.Piles) > 0 {
					pile = r.Piles[0]
				}
			}
			call := c.call()
			call.Folds = []queue.Fold{{Key: pile.Key, Count: len(pile.Records), Last: pile.Records[len(pile.Records)-1].Seq, Records: []queue.Record{merge(pile.Key, "all")}}}
			equal(c, c.send(call).Folded, queue.PileLimit-1, "folded")
			c.add(merge("a", "later"))
			reopen(c, b)
			c.take(1, "a: merge all merge later")
		}),
		durable("a Position holds after the process has died", func(c *trial, b Backend) {
			at := c.add(upload("a", "1")).Position
			c.settled(at, false, "while a waits")
			reopen(c, b)
			c.settled(at, false, "while a waits")
			c.commit(c.take(1, "a: upload 1"))
			c.settled(at, true, "when a is committed")
		}),
		durable("a key that kills each process is parked even so", func(c *trial, b Backend) {
			c.add(upload("a", "1"))
			for i := range queue.MaxDeaths {
				leases := c.reserve(1, c.by(fmt.Sprint("process ", i)))
				c.expect(leases, "a: upload 1")
				c.request(leases...)
				reopen(c, b)
				c.take(0)
			}
			c.counts(0, 0, 1)
			equal(c, c.entry("a").Deaths, queue.MaxDeaths, "Deaths")
		}),
		durable("suspects stay suspects", func(c *trial, b Backend) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			c.take(3, "a: upload 1", "b: upload 2", "c: upload 3")
			reopen(c, b)
			c.request(c.take(9, "a: upload 1", "b: upload 2")[1])
			reopen(c, b)
			c.take(9, "b: upload 2")
			c.expect(c.reserve(9, c.by("B")), "a: upload 1", "c: upload 3")
		}),
		durable("a replaced record does not come back", func(c *trial, b Backend) {
			for i := range 10 {
				c.add(upload("a", fmt.Sprint(i)), upload("b", fmt.Sprint(i)))
			}
			reopen(c, b)
			c.counts(2, 0, 0)
			c.take(9, "a: upload 9", "b: upload 9")
		}),
		durable("a queue that is opened again and again keeps its order", func(c *trial, b Backend) {
			for i := range 5 {
				c.add(upload(string(rune('a'+i)), fmt.Sprint(i)))
				reopen(c, b)
			}
			c.add(upload("a", "5"))
			c.take(9, "a: upload 5", "b: upload 1", "c: upload 2", "d: upload 3", "e: upload 4")
		}),
		durable("a destroyed queue is empty when it is opened again", func(c *trial, b Backend) {
			call := c.call(upload("a", "1"))
			c.send(call)
			c.noError(c.admin().Pause(c.ctx, "why"), "Pause")
			c.noError(c.admin().Destroy(c.ctx), "Destroy")
			reopen(c, b)
			c.counts(0, 0, 0)
			equal(c, c.stats().Paused, false, "Stats.Paused")
			c.add(upload("b", "2"))
			c.take(9, "b: upload 2")
		}),
	}
}

//archtest:long a list of independent promises
func sharedPromises() []promise {
	shared := func(name string, test func(c *trial, other queue.Queue)) promise {
		return promise{name, func(b Backend) bool { return b.Shared }, Config{}, func(c *trial, _ Backend) {
			other := c.h.Second(c.t)
			defer other.Close()
			test(c, other)
		}}
	}
	// with runs do against the other object.
	with := func(c *trial, q queue.Queue, do func()) {
		c.t.Helper()
		mine := c.h.Queue
		defer func() { c.h.Queue = mine }()
		c.h.Queue = q
		do()
	}
	return []promise{
		shared("one object appends, the other reserves", func(c *trial, other queue.Queue) {
			c.add(upload("a", "1"), upload("b", "2"))
			with(c, other, func() {
				leases := c.take(1, "a: upload 1")
				c.nothing("a is leased", only("a"))
				c.commit(leases)
			})
			c.counts(1, 0, 0)
			c.take(9, "b: upload 2")
		}),
		shared("a key that is held through one object is not leased through the other", func(c *trial, other queue.Queue) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			with(c, other, func() { c.nothing("a is leased", c.by("B")) })
			c.commit(leases)
		}),
		shared("a dead holder of one object ends nothing of another object", func(c *trial, other queue.Queue) {
			c.add(upload("a", "1"))
			zombie := c.take(1, "a: upload 1")
			c.h.Sleep(lease)
			with(c, other, func() { c.expect(c.reserve(1, c.by("B")), "a: upload 1") })
			c.stale(queue.Commit, zombie)
			c.extend(lease, 1, zombie...)
			c.counts(0, 1, 0)
		}),
		shared("leases may be settled and extended through another object", func(c *trial, other queue.Queue) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			with(c, other, func() {
				c.extend(2*lease, 0, leases...)
				c.h.Sleep(lease)
				c.commit(leases)
			})
			c.counts(0, 0, 0)
		}),
		shared("a call that is repeated through another object is applied once", func(c *trial, other queue.Queue) {
			call := c.call(merge("a", "1"))
			at := c.send(call).Position
			with(c, other, func() { equal(c, c.send(call).Position, at, "Position") })
			c.take(1, "a: merge 1")
		}),
		shared("Pause and Resume are for all", func(c *trial, other queue.Queue) {
			c.add(upload("a", "1"))
			with(c, other, func() { c.noError(c.admin().Pause(c.ctx, "why"), "Pause") })
			c.nothing("paused")
			c.noError(c.admin().Resume(c.ctx), "Resume")
			with(c, other, func() { c.take(1, "a: upload 1") })
		}),
		shared("an Append elsewhere wakes watchers", func(c *trial, other queue.Queue) {
			c.wakes("an Append through the other object", func() {
				with(c, other, func() { c.add(upload("a", "1")) })
			})
		}),
		shared("a Release elsewhere wakes watchers", func(c *trial, other queue.Queue) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.wakes("a Release through the other object", func() {
				with(c, other, func() { c.end(queue.Release, leases) })
			})
		}),
		shared("Settled waits for appends through any object", func(c *trial, other queue.Queue) {
			c.add(upload("a", "1"))
			with(c, other, func() {
				c.adder, c.number = queue.NewID(), 0
				at := c.add(upload("b", "2")).Position
				c.settled(at, false, "while both wait")
				c.commit(c.take(2, "a: upload 1", "b: upload 2"))
				c.settled(at, true, "when both are committed")
			})
		}),
		shared("the object that is closed takes nothing with it", func(c *trial, other queue.Queue) {
			with(c, other, func() {
				c.add(upload("a", "1"))
				c.reserve(1)
				c.noError(other.Close(), "Close")
			})
			c.nothing("a is leased until that runs out")
			c.h.Sleep(lease)
			c.take(1, "a: upload 1")
		}),
	}
}
