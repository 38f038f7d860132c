package queuetest

import (
	"fmt"
	"math"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

func statsPromises() []promise {
	return []promise{
		of("Stats of an empty queue are zero", func(c *trial) {
			s := c.stats()
			s.Bytes, s.Estimated = 0, false
			equal(c, s, queue.Stats{}, "Stats")
			c.add(upload("a", "1"))
			c.commit(c.take(1, "a: upload 1"))
			c.counts(0, 0, 0)
			equal(c, c.stats().Oldest.IsZero(), true, "no Oldest")
		}),
		of("Stats count keys by state", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), merge("b", "3"), upload("c", "4"), upload("d", "5"))
			c.counts(4, 0, 0)
			leases := c.reserve(2)
			c.counts(2, 2, 0)
			c.add(upload("a", "6"), merge("b", "7"))
			c.counts(4, 2, 0)
			c.end(queue.Park, leases[1:])
			c.counts(4, 1, 1)
			c.commit(leases[:1])
			c.counts(4, 0, 1)
		}),
		of("Stats has the size of the queue", func(c *trial) {
			c.add(upload("a", "0123456789"))
			if s := c.stats(); s.Bytes < 10 {
				c.t.Fatalf("Bytes is %d, and a body has 10", s.Bytes)
			}
		}),
		of("Stats say since when the oldest key waits", func(c *trial) {
			first := c.h.Now()
			c.add(upload("a", "1"))
			c.h.Sleep(time.Second)
			second := c.h.Now()
			c.add(upload("b", "2"), since(upload("c", "3"), first.Add(-time.Minute)))
			equal(c, c.stats().Oldest.UnixMilli(), first.Add(-time.Minute).UnixMilli(), "Oldest")
			c.commit(c.take(1, "c: upload 3"))
			c.add(upload("a", "4"))
			equal(c, c.stats().Oldest.UnixMilli(), first.UnixMilli(), "Oldest")
			c.commit(c.take(1, "a: upload 4"))
			equal(c, c.stats().Oldest.UnixMilli(), second.UnixMilli(), "Oldest")
			c.end(queue.Release, c.take(1, "b: upload 2"), after(time.Hour))
			equal(c, c.stats().Oldest.UnixMilli(), second.UnixMilli(), "Oldest, of a key that is not due")
		}),
		of("Stats return the time of the last Reserve", func(c *trial) {
			equal(c, c.stats().LastReserved.IsZero(), true, "before the first Reserve")
			c.reserve(1)
			at := c.h.Now()
			c.h.Sleep(time.Second)
			equal(c, c.stats().LastReserved.UnixMilli(), at.UnixMilli(), "LastReserved")
		}),
	}
}

//archtest:long a list of independent promises
func adminPromises() []promise {
	return []promise{
		of("Inspect returns entries in the order of their places, parked ones last", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"), upload("d", "4"))
			c.end(queue.Park, c.reserve(0, only("b")))
			c.h.Sleep(time.Second)
			c.end(queue.Park, c.reserve(0, only("a")))
			c.reserve(0, only("d"))
			c.inspects(queue.Inspection{}, "c: waiting", "d: leased", "b: parked", "a: parked")
		}),
		of("Inspect selects by state and by key", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			c.reserve(1)
			c.add(upload("a", "4"))
			n, err := c.admin().Park(c.ctx, "", c.keys("b")...)
			c.did(n, err, 1, "Park")
			c.inspects(queue.Inspection{States: queue.Waiting}, "a: waiting leased", "c: waiting")
			c.inspects(queue.Inspection{States: queue.Leased}, "a: waiting leased")
			c.inspects(queue.Inspection{States: queue.Parked}, "b: parked")
			c.inspects(queue.Inspection{States: queue.Parked | queue.Leased}, "a: waiting leased", "b: parked")
			c.inspects(queue.Inspection{Keys: c.keys("c", "b", "z")}, "c: waiting", "b: parked")
			c.inspects(queue.Inspection{Keys: []string{}})
			c.inspects(queue.Inspection{Keys: c.keys("c", "b"), States: queue.Waiting}, "c: waiting")
		}),
		of("Inspect returns a hundred entries by default", func(c *trial) {
			var records []queue.Record
			for i := range 120 {
				records = append(records, upload(fmt.Sprint("many ", i), "1"))
			}
			c.add(records...)
			entries, err := c.admin().Inspect(c.ctx, queue.Inspection{})
			c.noError(err, "Inspect")
			equal(c, len(entries), 100, "entries")
			entries, err = c.admin().Inspect(c.ctx, queue.Inspection{Limit: 7})
			c.noError(err, "Inspect")
			equal(c, len(entries), 7, "entries")
			entries, err = c.admin().Inspect(c.ctx, queue.Inspection{Limit: 1000})
			c.noError(err, "Inspect")
			equal(c, len(entries), 120, "entries")
		}),
		of("Inspect takes any Limit", func(c *trial) {
			var records []queue.Record
			for i := range 2100 {
				records = append(records, upload(fmt.Sprint("many ", i), "1"))
			}
			c.add(records...)
			for limit, want := range map[int]int{math.MinInt: 100, -1: 100, 1: 1, math.MaxInt/4 + 1: len(records), math.MaxInt: len(records)} {
				entries, err := c.admin().Inspect(c.ctx, queue.Inspection{Limit: limit})
				c.noError(err, "Inspect")
				equal(c, len(entries), want, fmt.Sprint("entries of Limit ", limit))
			}
		}),
		of("Inspect returns the holder of a key, and when a key is due", func(c *trial) {
			c.add(class(since(upload("a", "1"), c.h.Now().Add(-time.Minute)), 3), upload("b", "2"))
			c.end(queue.Release, c.reserve(0, only("b")), after(time.Minute))
			since, now := c.h.Now().Add(-time.Minute), c.h.Now()
			c.expect(c.reserve(1, c.by("the holder")), "a: upload 1")
			c.add(merge("a", "3"))
			e := c.entry("a")
			equal(c, e.Holder, "the holder", "Holder")
			equal(c, e.Until.UnixMilli(), now.Add(lease).UnixMilli(), "Until")
			equal(c, e.Since.UnixMilli(), since.UnixMilli(), "Since")
			equal(c, e.Class, 3, "Class")
			equal(c, c.line(e.Key, e.Leased), "a: upload 1", "Leased")
			equal(c, c.line(e.Key, e.Waiting), "a: merge 3", "Waiting")
			e = c.entry("b")
			equal(c, e.Due.UnixMilli(), now.Add(time.Minute).UnixMilli(), "Due")
			equal(c, e.Holder, "", "Holder")
			c.h.Sleep(time.Minute)
			equal(c, c.entry("b").Due.IsZero(), true, "due now")
		}),
		of("Inspect omits bodies unless they are requested", func(c *trial) {
			c.add(upload("a", "1"))
			entries, err := c.admin().Inspect(c.ctx, queue.Inspection{})
			c.noError(err, "Inspect")
			equal(c, len(entries[0].Waiting), 1, "records")
			equal(c, len(entries[0].Waiting[0].Body), 0, "length of the body")
			equal(c, string(c.entry("a").Waiting[0].Body), "1", "body")
		}),
		of("Contains finds waiting, leased and parked keys", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			c.commit(c.take(1, "a: upload 1"))
			c.end(queue.Park, c.take(1, "b: upload 2"))
			c.add(upload("d", "4"))
			c.take(1, "c: upload 3")
			equal(c, fmt.Sprint(c.contains(c.keys("a", "b", "c", "d", "e")...)), "[false true true true false]", "Contains")
			equal(c, len(c.contains()), 0, "length of Contains of nothing")
		}),
		of("Destroy removes everything and closes", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			c.take(1, "a: upload 1")
			c.noError(c.admin().Destroy(c.ctx), "Destroy")
			_, err := c.h.Queue.Stats(c.ctx)
			c.is(err, queue.ErrClosed, "Stats after Destroy")
			c.noError(c.h.Queue.Close(), "Close after Destroy")
		}),
	}
}

// inspects compares entries with lines of key and states.
func (c *trial) inspects(what queue.Inspection, lines ...string) {
	c.t.Helper()
	entries, err := c.admin().Inspect(c.ctx, what)
	c.noError(err, "Inspect")
	var have []string
	for _, e := range entries {
		line := c.line(e.Key, nil)
		for i, word := range []string{"waiting", "leased", "parked"} {
			if e.State&(1<<i) != 0 {
				line += " " + word
			}
		}
		have = append(have, line)
	}
	equal(c, fmt.Sprintf("%q", have), fmt.Sprintf("%q", lines), "Inspect")
}
