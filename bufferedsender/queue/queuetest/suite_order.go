package queuetest

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

//archtest:long a list of independent promises
func orderPromises() []promise {
	return []promise{
		of("keys are leased in the order of arrival", func(c *trial) {
			c.add(upload("c", "1"), upload("a", "2"))
			c.add(upload("b", "3"))
			c.take(1, "c: upload 1")
			c.take(2, "a: upload 2", "b: upload 3")
		}),
		of("an earlier change goes first", func(c *trial) {
			now := c.h.Now()
			c.add(since(upload("a", "1"), now.Add(-time.Second)), since(upload("b", "2"), now.Add(-time.Hour)), upload("c", "3"))
			c.take(3, "b: upload 2", "a: upload 1", "c: upload 3")
		}),
		of("Since counts in milliseconds", func(c *trial) {
			c.h.Sleep(time.Second)
			now := c.h.Now().Truncate(time.Millisecond)
			c.add(since(upload("a", "1"), now.Add(-time.Millisecond)), since(upload("b", "2"), now.Add(-2*time.Millisecond)),
				since(upload("c", "3"), now.Add(-2*time.Millisecond+time.Microsecond)))
			c.take(3, "b: upload 2", "c: upload 3", "a: upload 1")
		}),
		of("Since in the future is now", func(c *trial) {
			c.add(since(upload("a", "1"), c.h.Now().Add(time.Hour)))
			c.h.Sleep(time.Second)
			c.add(upload("b", "2"))
			c.take(2, "a: upload 1", "b: upload 2")
		}),
		of("Since counts as at most MaxSkew before now", func(c *trial) {
			now := c.h.Now()
			c.add(since(upload("a", "1"), now.Add(-queue.MaxSkew-time.Hour)), since(upload("b", "2"), now.Add(-queue.MaxSkew-2*time.Hour)))
			c.take(2, "a: upload 1", "b: upload 2")
		}),
		of("a more urgent class goes first, at any time", func(c *trial) {
			c.add(class(since(upload("a", "1"), c.h.Now().Add(-time.Hour)), 2), class(upload("b", "2"), 7), class(upload("c", "3"), 1), upload("d", "4"))
			c.take(4, "d: upload 4", "c: upload 3", "a: upload 1", "b: upload 2")
		}),
		of("a key has the most urgent class of its waiting records", func(c *trial) {
			c.add(class(upload("a", "1"), 5), class(upload("b", "2"), 4))
			c.add(class(merge("a", "3"), 3))
			c.add(class(merge("a", "4"), 6))
			c.take(2, "a: upload 1 merge 3 merge 4", "b: upload 2")
		}),
		of("a key that is replaced keeps its place", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			c.h.Sleep(time.Second)
			c.add(upload("a", "3"))
			c.add(since(remove("b", "4"), c.h.Now().Add(-time.Hour)))
			c.take(2, "a: upload 3", "b: delete 4")
		}),
		of("a key that changes all the time is not put off", func(c *trial) {
			c.add(upload("z", "0"))
			for i := range 10 {
				c.h.Sleep(time.Second)
				c.add(upload(string(rune('a'+i)), fmt.Sprint(i)), upload("z", fmt.Sprint(i)))
			}
			c.take(1, "z: upload 9")
		}),
		of("a key that changes all the time does not put off others", func(c *trial) {
			c.add(upload("a", "0"), upload("z", "0"))
			for i := range 10 {
				c.h.Sleep(time.Second)
				leases := c.reserve(1)
				c.add(upload("a", fmt.Sprint(i+1)))
				c.commit(leases)
				if leases[0].Key == c.key("z") {
					return
				}
			}
			c.t.Fatal("z has not had its turn in ten")
		}),
		of("records appended behind a lease have the place of their own first record", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.add(upload("b", "2"))
			c.h.Sleep(time.Second)
			c.add(merge("a", "3"))
			c.h.Sleep(time.Second)
			c.add(upload("c", "4"))
			c.add(merge("a", "5"))
			c.commit(leases)
			c.take(3, "b: upload 2", "a: merge 3 merge 5", "c: upload 4")
		}),
		of("a key that was committed gets a new place", func(c *trial) {
			c.add(upload("a", "1"))
			c.commit(c.take(1, "a: upload 1"))
			c.h.Sleep(time.Second)
			c.add(upload("b", "2"), upload("a", "3"))
			c.take(2, "b: upload 2", "a: upload 3")
		}),
		of("add, then reserve all, looks like a sorted set", func(c *trial) {
			now := c.h.Now()
			c.add(since(upload("a", "1"), now.Add(-5*time.Second)), since(upload("b", "2"), now.Add(-time.Second)),
				since(upload("c", "3"), now.Add(-3*time.Second)), since(upload("d", "4"), now.Add(-4*time.Second)),
				since(upload("e", "5"), now.Add(-2*time.Second)))
			c.take(3, "a: upload 1", "d: upload 4", "c: upload 3")
			c.take(3, "e: upload 5", "b: upload 2")
		}),
	}
}

//archtest:long a list of independent promises
func reservePromises() []promise {
	return []promise{
		of("a leased key is not leased again, not even to its holder", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			c.take(1, "a: upload 1")
			c.add(upload("a", "3"))
			c.expect(c.reserve(9, c.by("B")), "b: upload 2")
			c.nothing("all of them are leased")
			c.nothing("all of them are leased", c.by("B"))
		}),
		of("Reserve of no keys returns none, also while some are leased", func(c *trial) {
			c.take(0)
			c.add(upload("a", "1"), upload("b", "2"))
			c.take(1, "a: upload 1")
			c.take(0)
			c.counts(1, 1, 0)
		}),
		of("the same token again gets its leases and nothing else", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			w := c.want(2)
			leases := c.reserve(0, exactly(w))
			c.expect(leases, "a: upload 1", "b: upload 2")
			c.add(upload("a", "4"), upload("d", "5"))
			c.expectAny(c.reserve(0, exactly(w)), "a: upload 1", "b: upload 2")
			c.commit(leases[:1])
			c.expect(c.reserve(0, exactly(w)), "b: upload 2")
			c.counts(3, 1, 0)
		}),
		of("a repeated Reserve does not make its leases last longer", func(c *trial) {
			c.add(upload("a", "1"))
			w := c.want(1)
			c.reserve(0, exactly(w))
			c.h.Sleep(lease / 2)
			leases := c.reserve(0, exactly(w))
			c.expect(leases, "a: upload 1")
			c.h.Sleep(lease / 2)
			c.stale(queue.Commit, leases)
		}),
		of("the number of bytes bounds a reservation", func(c *trial) {
			n := len(c.key("a")) + 10
			c.add(upload("a", "0123456789"), upload("b", "0123456789"), upload("c", "0123456789"), upload("d", "0123456789"))
			c.expect(c.reserve(9, bytes(2*n)), "a: upload 0123456789", "b: upload 0123456789")
			c.expect(c.reserve(9, bytes(2*n-1)), "c: upload 0123456789")
			c.expect(c.reserve(9, bytes(2*n-1)), "d: upload 0123456789")
		}),
		of("one key is leased however large it is", func(c *trial) {
			c.add(upload("a", "0123456789"), upload("b", "1"))
			c.expect(c.reserve(9, bytes(1)), "a: upload 0123456789")
			c.expect(c.reserve(9, bytes(0)), "b: upload 1")
		}),
		of("of a pile that does not fit the oldest records go, and the others keep the place", func(c *trial) {
			n := len(c.key("a")) + 1
			c.add(upload("a", "1"), merge("a", "2"), merge("a", "3"))
			c.h.Sleep(time.Second)
			c.add(upload("b", "4"))
			leases := c.reserve(9, bytes(2*n))
			c.expect(leases, "a: upload 1 merge 2")
			c.expect(c.reserve(1), "b: upload 4")
			c.add(upload("c", "5"))
			c.commit(leases)
			c.take(2, "a: merge 3", "c: upload 5")
		}),
		of("at least one record of the first key is leased", func(c *trial) {
			c.add(upload("a", "0123456789"), merge("a", "2"))
			leases := c.reserve(9, bytes(1))
			c.expect(leases, "a: upload 0123456789")
			c.commit(leases)
			c.take(1, "a: merge 2")
		}),
		of("the rest of a pile is in front when the lease is released", func(c *trial) {
			c.add(upload("a", "1"), merge("a", "2"))
			leases := c.reserve(9, bytes(1))
			c.add(merge("a", "3"))
			c.end(queue.Release, leases)
			c.take(1, "a: upload 1 merge 2 merge 3")
		}),
		of("named keys are leased in place of the oldest, in the order named", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			c.expect(c.reserve(0, only("c", "b")), "c: upload 3", "b: upload 2")
			c.nothing("b and c are leased, z is not there", only("c", "b", "z"))
			c.take(9, "a: upload 1")
		}),
		of("named keys are leased although they are not due", func(c *trial) {
			c.add(upload("a", "1"))
			c.end(queue.Release, c.take(1, "a: upload 1"), after(time.Hour))
			c.nothing("a is not due")
			c.expect(c.reserve(0, only("a")), "a: upload 1")
		}),
		of("named keys are not leased while Uncertain runs, nor parked ones", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			c.end(queue.Release, c.reserve(0, only("a")), unsure(time.Minute))
			c.end(queue.Park, c.reserve(0, only("b")))
			c.nothing("a is uncertain, b is parked", only("a", "b"))
			c.h.Sleep(time.Minute)
			c.expect(c.reserve(0, only("a", "b")), "a: upload 1")
		}),
		of("a paused queue leases nothing until Resume, and accepts records", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			leases := c.take(1, "a: upload 1")
			c.noError(c.admin().Pause(c.ctx, "the index is being rebuilt"), "Pause")
			c.nothing("paused")
			c.nothing("paused", only("b"))
			c.add(upload("c", "3"))
			c.commit(leases)
			s := c.stats()
			equal(c, s.Paused, true, "Stats.Paused")
			equal(c, s.PauseReason, "the index is being rebuilt", "Stats.PauseReason")
			c.noError(c.admin().Resume(c.ctx), "Resume")
			equal(c, c.stats().Paused, false, "Stats.Paused")
			c.take(2, "b: upload 2", "c: upload 3")
		}),
		of("Exchange settles before it reserves", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"), upload("c", "3"))
			leases := c.take(2, "a: upload 1", "b: upload 2")
			c.add(upload("a", "4"))
			leases, stale := c.exchange(c.want(9), ends(queue.Commit, leases)...)
			equal(c, len(stale), 0, "stale")
			c.expect(leases, "c: upload 3", "a: upload 4")
			leases, _ = c.exchange(c.want(9), ends(queue.Release, leases)...)
			c.expect(leases, "c: upload 3", "a: upload 4")
		}),
		of("Exchange commits leased records only", func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			leases := c.take(1, "a: upload 1")
			// b waits, and is not leased under this token; the record that waits behind a does not belong to a's lease
			// either.
			c.add(upload("a", "3"))
			both := append(ends(queue.Commit, leases), queue.End{Lease: queue.Lease{Key: c.key("b"), Token: leases[0].Token}, Fate: queue.Commit})
			leases, stale := c.exchange(c.want(9), both...)
			equal(c, len(stale), 1, "stale")
			c.expect(leases, "b: upload 2", "a: upload 3")
		}),
		of("Exchange without ends reserves, and for no keys settles", func(c *trial) {
			c.add(upload("a", "1"))
			leases, _ := c.exchange(c.want(1))
			c.expect(leases, "a: upload 1")
			leases, _ = c.exchange(c.want(0), ends(queue.Commit, leases)...)
			c.expect(leases)
			c.counts(0, 0, 0)
		}),
	}
}

func (c *trial) exchange(want queue.Want, ends ...queue.End) (leases, stale []queue.Lease) {
	c.t.Helper()
	x, ok := c.h.Queue.(queue.Exchanger)
	if !ok {
		c.t.Fatal("the queue does not implement queue.Exchanger")
	}
	leases, stale, failed, err := x.Exchange(c.ctx, want, ends...)
	c.noError(err, "Exchange")
	if len(failed) > 0 {
		c.t.Fatalf("Exchange: %d failed without an error", len(failed))
	}
	return leases, stale
}
