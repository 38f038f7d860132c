package queuetest

import (
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

//archtest:long a list of independent promises
func settlePromises() []promise {
	return []promise{
		of("Commit removes the leased records and nothing else", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			leases := c.take(1, "a: upload 1")
			c.add(merge("a", "3"))
			c.commit(leases)
			c.counts(2, 0, 0)
			c.take(9, "b: upload 2", "a: merge 3")
		}),
		of("records appended during a lease are delivered after the commit", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.add(upload("a", "1")) // the same value again is still a change
			c.commit(leases)
			c.commit(c.take(1, "a: upload 1"))
			c.counts(0, 0, 0)
		}),
		of("two reservations that overlap lose nothing", func(c *trial) {
			// The published Ick keeps all leased keys in one set, without a token. A larger second reservation then
			// moves the new change of a key into this set, and the commit of the first reservation removes it.
			c.add(upload("a", "1"))
			first := c.take(1, "a: upload 1")
			c.add(upload("a", "2"), upload("b", "3"))
			second := c.take(2, "b: upload 3")
			c.commit(first)
			c.commit(second)
			c.commit(c.take(9, "a: upload 2"))
			c.counts(0, 0, 0)
		}),
		of("a late commit of a dead holder does not end the lease of the next one", func(c *trial) {
			c.add(upload("a", "1"))
			zombie := c.take(1, "a: upload 1")
			c.h.Sleep(lease)
			live := c.reserve(1, c.by("B"))
			c.expect(live, "a: upload 1")
			c.add(upload("a", "2"))
			c.stale(queue.Commit, zombie)
			c.counts(1, 1, 0)
			c.nothing("B holds it")
			c.commit(live)
			c.take(1, "a: upload 2")
			equal(c, c.stats().Stale, 1, "Stats.Stale")
		}),
		of("a late settle of a dead holder is stale and changes nothing", func(c *trial) {
			c.add(upload("a", "1"))
			zombie := c.take(1, "a: upload 1")
			c.h.Sleep(lease)
			for _, fate := range []queue.Fate{queue.Commit, queue.Release, queue.Park} {
				c.stale(fate, zombie)
			}
			equal(c, c.stats().Stale, 3, "Stats.Stale")
			c.take(1, "a: upload 1")
		}),
		of("a lease ends once", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.commit(leases)
			c.stale(queue.Commit, leases)
			c.add(upload("a", "2"))
			leases = c.take(1, "a: upload 2")
			both := append(ends(queue.Release, leases), ends(queue.Commit, leases)...)
			equal(c, len(c.settle(both...)), 1, "stale")
			c.take(1, "a: upload 2")
		}),
		of("an end under another token is stale, and the others of its call are not", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			leases := c.take(2, "a: upload 1", "b: upload 2")
			wrong := queue.Lease{Key: leases[0].Key, Token: queue.NewID()}
			stale := c.settle(append(ends(queue.Commit, leases[1:]), ends(queue.Commit, []queue.Lease{wrong})...)...)
			equal(c, len(stale), 1, "stale")
			equal(c, stale[0].Key, wrong.Key, "Key of the stale one")
			equal(c, stale[0].Token, wrong.Token, "Token of the stale one")
			c.counts(0, 1, 0)
		}),
		of("an end of a key that is not there is stale", func(c *trial) {
			c.stale(queue.Commit, []queue.Lease{{Key: c.key("a"), Token: queue.NewID()}})
			c.counts(0, 0, 0)
		}),
		of("Release returns the records to their place, for any holder", func(c *trial) {
			c.add(upload("a", "1"))
			c.h.Sleep(time.Second)
			c.add(upload("b", "2"))
			leases := c.take(1, "a: upload 1")
			c.end(queue.Release, leases)
			leases = c.reserve(2, c.by("B"))
			c.expect(leases, "a: upload 1", "b: upload 2")
			equal(c, leases[0].Expired, 0, "Expired")
			equal(c, leases[0].Tries, 0, "Tries")
		}),
		of("Release puts the records in front of later ones", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.add(merge("a", "2"))
			c.end(queue.Release, leases)
			c.take(1, "a: upload 1 merge 2")
		}),
		of("a released record yields to one that replaced it, which gets the place", func(c *trial) {
			c.add(upload("a", "1"), merge("a", "2"))
			c.h.Sleep(time.Second)
			c.add(upload("b", "3"))
			leases := c.take(1, "a: upload 1 merge 2")
			c.h.Sleep(time.Second)
			c.add(upload("a", "4"), merge("a", "5"))
			c.end(queue.Release, leases)
			equal(c, c.stats().Replaced, 2, "Stats.Replaced")
			c.take(2, "a: upload 4 merge 5", "b: upload 3")
		}),
		of("a released key has the place that it had, even if a later change says that it is older", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			leases := c.take(3, "a: upload 1", "b: upload 2", "c: upload 3")
			old := c.h.Now().Add(-time.Hour)
			c.add(since(merge("c", "4"), old), since(upload("b", "5"), old))
			c.end(queue.Release, leases)
			c.take(9, "a: upload 1", "b: upload 5", "c: upload 3 merge 4")
		}),
		of("Release with Done keeps the later records", func(c *trial) {
			c.add(upload("a", "1"), merge("a", "2"), merge("a", "3"))
			leases := c.take(1, "a: upload 1 merge 2 merge 3")
			c.add(merge("a", "4"))
			c.end(queue.Release, leases, done(2))
			c.take(1, "a: merge 3 merge 4")
		}),
		of("a release or a parking with everything done is a commit", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			c.take(1, "a: upload 1")
			c.h.Sleep(lease)
			leases := append(c.take(3, "a: upload 1"), c.take(3, "b: upload 2", "c: upload 3")...)
			c.add(merge("a", "4"), merge("b", "5"))
			c.end(queue.Release, leases[:1], done(1), again, after(time.Hour))
			c.end(queue.Park, leases[1:], done(1))
			c.counts(2, 0, 0)
			leases = c.take(9, "a: merge 4", "b: merge 5")
			equal(c, leases[0].Expired+leases[0].Tries, 0, "Expired and Tries")
		}),
		of("a released key is not due for After", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			c.end(queue.Release, c.take(1, "a: upload 1"), after(time.Minute))
			c.add(merge("a", "3"))
			c.expect(c.reserve(9, lasting(time.Hour)), "b: upload 2")
			c.h.Sleep(time.Minute - time.Millisecond)
			c.nothing("a is not due")
			c.counts(1, 1, 0)
			c.h.Sleep(time.Millisecond)
			c.expect(c.reserve(9, c.by("B")), "a: upload 1 merge 3")
		}),
		of("a record that replaces ends the delay, others do not", func(c *trial) {
			c.add(merge("a", "1"), merge("b", "2"))
			c.end(queue.Release, c.take(2, "a: merge 1", "b: merge 2"), after(time.Hour))
			c.add(merge("a", "3"))
			c.nothing("a merge does not end the delay")
			c.add(upload("b", "4"))
			c.take(9, "b: upload 4")
		}),
		of("Release with Again counts in Tries, until a commit or a record that replaces", func(c *trial) {
			c.add(merge("a", "1"))
			for i := range 3 {
				leases := c.take(1, "a: merge 1")
				equal(c, leases[0].Tries, i, "Tries")
				c.end(queue.Release, leases, again)
			}
			c.add(merge("a", "2"))
			leases := c.reserve(1)
			equal(c, leases[0].Tries, 3, "Tries after a merge")
			c.end(queue.Release, leases)
			c.add(upload("a", "3"))
			leases = c.take(1, "a: upload 3")
			equal(c, leases[0].Tries, 0, "Tries after an upload")
			c.end(queue.Release, leases, again)
			leases = c.take(1, "a: upload 3")
			equal(c, leases[0].Tries, 1, "Tries")
			c.add(merge("a", "4"))
			c.commit(leases)
			equal(c, c.take(1, "a: merge 4")[0].Tries, 0, "Tries after a commit")
		}),
		of("no holder gets a key before Uncertain is over", func(c *trial) {
			c.add(upload("a", "1"))
			c.end(queue.Release, c.take(1, "a: upload 1"), unsure(time.Minute))
			c.h.Sleep(time.Minute - time.Millisecond)
			c.nothing("the result for a is uncertain")
			c.h.Sleep(time.Millisecond)
			c.take(1, "a: upload 1")
		}),
		of("Uncertain outlives a record that replaces", func(c *trial) {
			c.add(upload("a", "1"))
			c.end(queue.Release, c.take(1, "a: upload 1"), unsure(time.Minute), after(time.Second))
			c.add(upload("a", "2"))
			c.nothing("the result for a is uncertain")
			c.h.Sleep(time.Minute)
			c.take(1, "a: upload 2")
		}),
		of("Uncertain holds although nothing is left of the key", func(c *trial) {
			c.add(upload("a", "1"))
			c.end(queue.Commit, c.take(1, "a: upload 1"), unsure(time.Minute))
			c.counts(0, 0, 0)
			equal(c, c.contains(c.key("a"))[0], false, "Contains")
			c.h.Sleep(time.Second)
			c.add(upload("a", "2"), upload("b", "3"))
			c.take(9, "b: upload 3")
			c.h.Sleep(time.Minute - time.Second)
			c.take(9, "a: upload 2")
		}),
		of("After and Uncertain both have to be over", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			leases := c.take(2, "a: upload 1", "b: upload 2")
			c.end(queue.Release, leases[:1], after(time.Second), unsure(time.Minute))
			c.end(queue.Release, leases[1:], after(time.Minute), unsure(time.Second))
			c.h.Sleep(time.Second)
			c.nothing("one of them runs still")
			c.h.Sleep(time.Minute - time.Second)
			c.take(2, "a: upload 1", "b: upload 2")
		}),
	}
}

//archtest:long a list of independent promises
func leasePromises() []promise {
	return []promise{
		of("a lease lasts as long as requested", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.h.Sleep(lease - time.Millisecond)
			c.nothing("a is leased still")
			c.commit(leases)
		}),
		of("a lease that has run out gives the key to the next one, and is counted", func(c *trial) {
			c.add(upload("a", "1"))
			c.h.Sleep(time.Second)
			c.add(upload("b", "2"))
			c.take(1, "a: upload 1")
			c.h.Sleep(lease)
			leases := append(c.reserve(9, c.by("B")), c.reserve(9, c.by("B"))...)
			c.expect(leases, "a: upload 1", "b: upload 2")
			equal(c, leases[0].Expired, 1, "Expired")
			equal(c, leases[1].Expired, 0, "Expired of b")
			equal(c, c.stats().Expired, 1, "Stats.Expired")
			c.add(upload("a", "3"))
			c.commit(leases)
			equal(c, c.take(1, "a: upload 3")[0].Expired, 0, "Expired after a commit")
		}),
		of("later records are not lost when a lease expires", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			c.take(2, "a: upload 1", "b: upload 2")
			c.add(merge("a", "3"), upload("b", "4"))
			c.h.Sleep(lease)
			c.take(2, "a: upload 1 merge 3", "b: upload 4")
			equal(c, c.stats().Replaced, 1, "Stats.Replaced")
		}),
		of("a release does not count in Expired", func(c *trial) {
			c.add(upload("a", "1"))
			for range 3 {
				leases := c.take(1, "a: upload 1")
				equal(c, leases[0].Expired, 0, "Expired")
				c.end(queue.Release, leases, again)
			}
		}),
		of("no holder gets a key before the Uncertain of a lease that ran out is over", func(c *trial) {
			c.add(upload("a", "1"))
			c.reserve(1, uncertain(time.Minute))
			c.h.Sleep(lease)
			c.nothing("the last request of the holder may be under way")
			c.h.Sleep(time.Minute - time.Millisecond)
			c.nothing("the last request of the holder may be under way")
			c.h.Sleep(time.Millisecond)
			c.take(1, "a: upload 1")
		}),
		of("the Uncertain of a lease that ran out counts from its end, whenever that is noticed", func(c *trial) {
			c.add(upload("a", "1"))
			c.reserve(1, uncertain(time.Minute))
			c.h.Sleep(lease + time.Minute)
			c.take(1, "a: upload 1")
		}),
		of("a lease that was settled leaves no Uncertain of its reservation", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.reserve(1, uncertain(time.Hour))
			c.end(queue.Release, leases)
			c.take(1, "a: upload 1")
		}),
		of("Extend makes leases last", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			leases := c.take(2, "a: upload 1", "b: upload 2")
			c.h.Sleep(lease / 2)
			c.extend(lease, 0, leases[0])
			c.h.Sleep(lease / 2)
			c.expect(c.reserve(9, c.by("B")), "b: upload 2")
			c.h.Sleep(lease/2 - time.Millisecond)
			c.nothing("a is leased still")
			c.commit(leases[:1])
		}),
		of("Extend counts from now, and can make a lease shorter", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.extend(time.Second, 0, leases...)
			c.h.Sleep(time.Second)
			c.stale(queue.Commit, leases)
			c.take(1, "a: upload 1")
		}),
		of("Extend returns leases that have ended, and counts them", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			leases := c.take(3, "a: upload 1", "b: upload 2", "c: upload 3")
			c.commit(leases[:1])
			c.extend(2*lease, 0, leases[2])
			c.h.Sleep(lease)
			live := c.reserve(9, c.by("B"))
			c.expect(live, "b: upload 2")
			lost := c.extend(lease, 2, leases...)
			c.expectKeys(lost, "a", "b")
			equal(c, c.stats().Stale, 2, "Stats.Stale")
			c.h.Sleep(lease - time.Millisecond)
			c.commit(live)
			c.commit(leases[2:])
		}),
		of("Extend of nothing loses nothing", func(c *trial) { c.extend(lease, 0) }),
		of("a crash between the request and the settling delivers again, to the next holder", func(c *trial) {
			c.add(upload("a", "1"))
			c.take(1, "a: upload 1") // the index has it, but the queue is not notified
			c.h.Sleep(lease)
			c.commit(c.reserve(1, c.by("B")))
			c.counts(0, 0, 0)
		}),
	}
}

// extend extends leases; lost is how many of them must have ended before.
func (c *trial) extend(d time.Duration, lost int, leases ...queue.Lease) []queue.Lease {
	c.t.Helper()
	gone, err := c.h.Queue.Extend(c.ctx, d, leases...)
	c.noError(err, "Extend")
	if len(gone) != lost {
		c.t.Fatalf("Extend: %d lost, want %d", len(gone), lost)
	}
	return gone
}

// expectKeys compares the keys of leases, in any order.
func (c *trial) expectKeys(leases []queue.Lease, words ...string) {
	c.t.Helper()
	var bare []queue.Lease
	var lines []string
	for _, l := range leases {
		bare = append(bare, queue.Lease{Key: l.Key})
	}
	for _, w := range words {
		lines = append(lines, w+":")
	}
	c.expectAny(bare, lines...)
}
