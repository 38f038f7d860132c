package queuetest

import (
	"context"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

//archtest:long a list of independent promises
func parkedPromises() []promise {
	// parked parks the key a with the records given, and the reason "why".
	parked := func(c *trial, records ...queue.Record) {
		c.t.Helper()
		c.add(records...)
		c.end(queue.Park, c.reserve(1), reason("why"))
	}
	return []promise{
		of("Park sets a key aside with its reason", func(c *trial) {
			c.add(upload("a", "1"), merge("a", "2"), upload("b", "3"))
			leases := c.take(1, "a: upload 1 merge 2")
			c.h.Sleep(time.Second)
			c.end(queue.Park, leases, reason("status 400"))
			c.counts(1, 0, 1)
			e := c.entry("a")
			equal(c, e.State, queue.Parked, "State")
			equal(c, e.Reason, "status 400", "Reason")
			equal(c, e.ParkedAt.UnixMilli(), c.h.Now().UnixMilli(), "ParkedAt")
			equal(c, c.line(e.Key, e.Parked), "a: upload 1 merge 2", "Parked")
			c.take(9, "b: upload 3")
		}),
		of("Park with Done parks the later records", func(c *trial) {
			c.add(merge("a", "1"), merge("a", "2"), merge("a", "3"))
			c.end(queue.Park, c.reserve(1), done(2))
			e := c.entry("a")
			equal(c, c.line(e.Key, e.Parked), "a: merge 3", "Parked")
		}),
		of("records appended to a parked key wait behind it", func(c *trial) {
			parked(c, upload("a", "1"))
			equal(c, c.add(merge("a", "2"), merge("a", "3")).Replaced, 0, "replaced")
			c.nothing("a is parked")
			e := c.entry("a")
			equal(c, e.State, queue.Parked|queue.Waiting, "State")
			equal(c, c.line(e.Key, e.Waiting), "a: merge 2 merge 3", "Waiting")
		}),
		of("records appended during a lease wait behind the key when it is parked", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.reserve(1)
			c.add(merge("a", "2"))
			c.end(queue.Park, leases)
			c.nothing("a is parked")
			e := c.entry("a")
			equal(c, c.line(e.Key, e.Waiting), "a: merge 2", "Waiting")
		}),
		of("a record that replaces unparks the key, and the newest parked record is kept", func(c *trial) {
			parked(c, upload("a", "1"), merge("a", "2"))
			c.add(merge("a", "3"), merge("a", "4"))
			equal(c, c.add(upload("a", "5")).Replaced, 4, "replaced")
			e := c.entry("a")
			equal(c, e.State, queue.Waiting, "State")
			equal(c, string(e.Replaced.Body), "2", "Replaced")
			equal(c, e.ReplacedReason, "why", "ReplacedReason")
			c.take(9, "a: upload 5")
			equal(c, string(c.entry("a").Replaced.Body), "2", "Replaced, while the key is leased")
			c.counts(0, 1, 0)
		}),
		of("a replaced record is dropped when the key is committed", func(c *trial) {
			parked(c, upload("a", "1"))
			c.add(upload("a", "2"))
			leases := c.take(1, "a: upload 2")
			c.add(merge("a", "3"))
			c.commit(leases)
			if e := c.entry("a"); e.Replaced != nil || e.ReplacedReason != "" {
				c.t.Fatalf("Replaced is %v, for %q", e.Replaced, e.ReplacedReason)
			}
		}),
		of("a key that is parked again keeps the newest record that was replaced", func(c *trial) {
			parked(c, upload("a", "1"))
			parked(c, upload("a", "2"))
			c.add(upload("a", "3"))
			equal(c, string(c.entry("a").Replaced.Body), "2", "Replaced")
		}),
		of("a key that was parked and replaced has a new place", func(c *trial) {
			parked(c, upload("a", "1"))
			c.h.Sleep(time.Second)
			c.add(upload("b", "2"))
			c.add(merge("a", "3"))
			c.h.Sleep(time.Second)
			c.add(upload("a", "4"))
			c.take(9, "b: upload 2", "a: upload 4")
		}),
		of("Tries are forgotten when a parked key is replaced, Expired is not", func(c *trial) {
			c.add(upload("a", "1"))
			c.reserve(1)
			c.h.Sleep(lease)
			c.end(queue.Release, c.reserve(1), again)
			leases := c.reserve(1)
			equal(c, leases[0].Tries, 1, "Tries")
			c.end(queue.Park, leases)
			c.add(upload("a", "2"))
			leases = c.take(1, "a: upload 2")
			equal(c, leases[0].Tries, 0, "Tries")
			equal(c, leases[0].Expired, 1, "Expired")
		}),
		of("a key that is parked although it was replaced is unparked at once", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.reserve(1)
			c.add(upload("a", "2"), merge("a", "3"))
			c.end(queue.Park, leases, reason("why"))
			c.counts(1, 0, 0)
			e := c.entry("a")
			equal(c, string(e.Replaced.Body), "1", "Replaced")
			equal(c, e.ReplacedReason, "why", "ReplacedReason")
			c.take(9, "a: upload 2 merge 3")
			equal(c, c.stats().Replaced, 1, "Stats.Replaced")
		}),
		of("Uncertain holds for a key that is parked and replaced", func(c *trial) {
			c.add(upload("a", "1"))
			c.end(queue.Park, c.reserve(1), unsure(time.Minute))
			c.add(upload("a", "2"))
			c.nothing("the result for a is uncertain")
			c.h.Sleep(time.Minute)
			c.take(9, "a: upload 2")
		}),
		of("an operator parks keys that are not leased", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), merge("b", "3"))
			c.take(1, "a: upload 1")
			n, err := c.admin().Park(c.ctx, "by hand", c.keys("a", "b", "c")...)
			c.did(n, err, 1, "Park")
			c.counts(0, 1, 1)
			e := c.entry("b")
			equal(c, e.Reason, "by hand", "Reason")
			equal(c, c.line(e.Key, e.Parked), "b: upload 2 merge 3", "Parked")
		}),
		of("an operator parks a key whose lease has expired, with its waiting records", func(c *trial) {
			c.add(upload("a", "1"))
			c.take(1, "a: upload 1")
			c.add(merge("a", "2"))
			c.h.Sleep(lease)
			n, err := c.admin().Park(c.ctx, "by hand", c.keys("a")...)
			c.did(n, err, 1, "Park")
			e := c.entry("a")
			equal(c, c.line(e.Key, e.Parked), "a: upload 1 merge 2", "Parked")
		}),
		of("an operator unparks keys, which wait at their old places with later records", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.end(queue.Release, leases, again)
			c.end(queue.Park, c.reserve(1))
			c.h.Sleep(time.Second)
			c.add(upload("b", "2"), merge("a", "3"))
			n, err := c.admin().Unpark(c.ctx, c.keys("a", "b", "c")...)
			c.did(n, err, 1, "Unpark")
			c.counts(2, 0, 0)
			leases = c.take(9, "a: upload 1 merge 3", "b: upload 2")
			equal(c, leases[0].Tries, 0, "Tries")
		}),
		of("an operator unparks a key that has killed, and its deaths are dropped", func(c *trial) {
			c.add(upload("a", "1"))
			for range queue.MaxDeaths {
				c.die(1, "a: upload 1")
			}
			c.counts(0, 0, 1)
			n, err := c.admin().Unpark(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Unpark")
			equal(c, c.entry("a").Deaths, 0, "Deaths")
			c.take(1, "a: upload 1")
		}),
		of("an operator drops parked records, and later records wait", func(c *trial) {
			parked(c, upload("a", "1"))
			parked(c, upload("b", "2"))
			c.add(merge("a", "3"), upload("c", "4"))
			n, err := c.admin().Drop(c.ctx, c.keys("a", "b", "c", "d")...)
			c.did(n, err, 2, "Drop")
			c.counts(2, 0, 0)
			c.expectAny(c.reserve(9), "a: merge 3", "c: upload 4")
		}),
		of("records behind dropped records are not suspects", func(c *trial) {
			c.add(upload("a", "1"))
			c.take(1, "a: upload 1")
			c.h.Sleep(lease)
			c.end(queue.Park, c.take(1, "a: upload 1"))
			c.add(merge("a", "2"))
			n, err := c.admin().Drop(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Drop")
			equal(c, c.take(1, "a: merge 2")[0].Expired, 0, "Expired")
		}),
		of("parked keys are found, and are missing after a drop", func(c *trial) {
			parked(c, upload("a", "1"))
			equal(c, c.contains(c.key("a"))[0], true, "Contains")
			n, err := c.admin().Drop(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Drop")
			equal(c, c.contains(c.key("a"))[0], false, "Contains")
		}),
		of("a parked key that is appended to folds again from a new pile when it was dropped", func(c *trial) {
			parked(c, upload("a", "1"))
			n, err := c.admin().Drop(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Drop")
			c.add(upload("a", "2"))
			c.take(1, "a: upload 2")
		}),
	}
}

//archtest:long a list of independent promises
func settledPromises() []promise {
	return []promise{
		of("an append is settled when its records are committed, not before", func(c *trial) {
			at := c.add(upload("a", "1"), upload("b", "2")).Position
			c.settled(at, false, "while both wait")
			leases := c.take(2, "a: upload 1", "b: upload 2")
			c.settled(at, false, "while both are leased")
			c.commit(leases[:1])
			c.settled(at, false, "while one is leased")
			c.commit(leases[1:])
			c.settled(at, true, "when both are committed")
		}),
		of("a Position covers all earlier calls", func(c *trial) {
			c.add(upload("a", "1"))
			c.adder, c.number = queue.NewID(), 0
			at := c.add(upload("b", "2")).Position
			c.settled(at, false, "while both wait")
			c.commit(c.reserve(0, only("b")))
			c.settled(at, false, "while the first waits")
			c.commit(c.reserve(0, only("a")))
			c.settled(at, true, "when both are committed")
		}),
		of("the Position of nothing is settled", func(c *trial) {
			c.settled("", true, "in an empty queue")
			c.settled(c.add().Position, true, "after an empty call")
			c.add(upload("a", "1"))
			c.settled("", true, "of before everything")
		}),
		of("later changes are not waited for", func(c *trial) {
			at := c.add(upload("a", "1")).Position
			c.settled(at, false, "while a waits")
			leases := c.take(1, "a: upload 1")
			c.add(upload("a", "2"), upload("b", "3"))
			c.settled(at, false, "while a is leased")
			c.commit(leases)
			c.settled(at, true, "when a is committed, although later changes wait")
		}),
		of("a change that is replaced waits in the one that replaced it", func(c *trial) {
			at := c.add(upload("a", "1")).Position
			c.settled(at, false, "while a waits")
			c.add(upload("a", "2"))
			c.settled(at, false, "while the change that replaced it waits")
			c.commit(c.take(1, "a: upload 2"))
			c.settled(at, true, "when that is committed")
		}),
		of("a released change that gives way to a later one waits in that one", func(c *trial) {
			at := c.add(upload("a", "1")).Position
			c.settled(at, false, "while a waits")
			leases := c.take(1, "a: upload 1")
			c.add(upload("a", "2"))
			c.end(queue.Release, leases)
			c.settled(at, false, "while its replacement waits")
			c.commit(c.take(1, "a: upload 2"))
			c.settled(at, true, "when that is committed")
		}),
		of("a released change waits", func(c *trial) {
			at := c.add(upload("a", "1")).Position
			c.settled(at, false, "while a waits")
			c.end(queue.Release, c.take(1, "a: upload 1"), after(time.Hour))
			c.settled(at, false, "while a is not due")
		}),
		of("a lease that runs out leaves its changes unsettled", func(c *trial) {
			at := c.add(upload("a", "1")).Position
			c.settled(at, false, "while a waits")
			c.take(1, "a: upload 1")
			c.h.Sleep(lease)
			c.settled(at, false, "when the lease has run out")
			c.commit(c.take(1, "a: upload 1"))
			c.settled(at, true, "when a is committed")
		}),
		of("parked records are settled, and so are records behind them", func(c *trial) {
			c.add(upload("a", "1"))
			at := c.add(merge("a", "2")).Position
			c.settled(at, false, "while a waits")
			leases := c.reserve(1)
			at = c.add(merge("a", "3")).Position
			c.settled(at, false, "while a is leased")
			c.end(queue.Park, leases)
			c.settled(at, true, "when a is parked")
			at = c.add(merge("a", "4")).Position
			c.settled(at, true, "when more records wait behind the parked ones")
			c.settled(at, true, "when called again")
			at = c.add(upload("a", "5")).Position
			c.settled(at, false, "when a is unparked by a record that replaces")
			c.commit(c.take(1, "a: upload 5"))
			c.settled(at, true, "when that is committed")
		}),
		of("records that an operator parks or drops are settled", func(c *trial) {
			at := c.add(upload("a", "1")).Position
			c.settled(at, false, "while a waits")
			n, err := c.admin().Park(c.ctx, "", c.keys("a")...)
			c.did(n, err, 1, "Park")
			c.settled(at, true, "when a is parked")
			n, err = c.admin().Drop(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Drop")
			c.settled(at, true, "when a is dropped")
		}),
		of("records that were settled by a park stay settled after an unpark", func(c *trial) {
			at := c.add(upload("a", "1")).Position
			c.settled(at, false, "while a waits")
			n, err := c.admin().Park(c.ctx, "", c.keys("a")...)
			c.did(n, err, 1, "Park")
			c.settled(at, true, "when a is parked")
			n, err = c.admin().Unpark(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Unpark")
			c.settled(at, true, "when a waits again")
			at = c.add().Position
			c.settled(at, false, "of a call after the unparking")
			c.commit(c.take(1, "a: upload 1"))
			c.settled(at, true, "when a is committed")
		}),
		of("records that wait behind parked ones stay settled after these are unparked or dropped", func(c *trial) {
			ends := map[string]func(context.Context, ...string) (int, error){"Unpark": c.admin().Unpark, "Drop": c.admin().Drop}
			for _, end := range []string{"Unpark", "Drop"} {
				at := c.add(upload("a", "1")).Position
				n, err := c.admin().Park(c.ctx, "", c.keys("a")...)
				c.did(n, err, 1, "Park")
				behind := c.add(merge("a", "2")).Position
				c.settled(behind, true, "while it waits behind parked records")
				n, err = ends[end](c.ctx, c.keys("a")...)
				c.did(n, err, 1, end)
				c.settled(at, true, "after the "+end)
				c.settled(behind, true, "after the "+end)
				c.settled(c.add().Position, false, "of a call after the "+end)
				c.commit(c.take(1, map[string]string{"Unpark": "a: upload 1 merge 2", "Drop": "a: merge 2"}[end]))
			}
		}),
		of("records behind dropped records count again", func(c *trial) {
			c.add(upload("a", "1"))
			n, err := c.admin().Park(c.ctx, "", c.keys("a")...)
			c.did(n, err, 1, "Park")
			at := c.add(merge("a", "2")).Position
			c.settled(at, true, "while it waits behind parked records")
			n, err = c.admin().Drop(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Drop")
			at = c.add().Position
			c.settled(at, false, "while it waits")
			c.commit(c.take(1, "a: merge 2"))
			c.settled(at, true, "when it is committed")
		}),
		of("a repeated call is answered with the Position of the first time", func(c *trial) {
			call := c.call(upload("a", "1"))
			at := c.send(call).Position
			c.settled(at, false, "while a waits")
			c.commit(c.take(1, "a: upload 1"))
			c.adder, c.number = queue.NewID(), 0
			c.add(upload("b", "2"))
			equal(c, c.send(call).Position, at, "Position")
			c.settled(at, true, "when a is committed")
		}),
	}
}
