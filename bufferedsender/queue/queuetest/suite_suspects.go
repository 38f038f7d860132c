package queuetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// request marks leases as about to be sent in a request.
func (c *trial) request(leases ...queue.Lease) {
	c.t.Helper()
	leases = slices.Clone(leases)
	for i := range leases {
		leases[i].Requested = true
	}
	lost, err := c.h.Queue.Extend(c.ctx, lease, leases...)
	c.noError(err, "Extend")
	if len(lost) > 0 {
		c.t.Fatalf("lost: %q", c.lines(lost))
	}
}

// die makes a new holder reserve keys, mark them as in a request, and die.
func (c *trial) die(keys int, lines ...string) {
	c.t.Helper()
	leases := c.reserve(keys, c.by(fmt.Sprint(len(c.people))))
	c.expect(leases, lines...)
	c.request(leases...)
	c.h.Sleep(lease)
}

// died makes a holder die with n keys, which are named in order from a.
func (c *trial) died(n int) (lines []string) {
	c.t.Helper()
	var records []queue.Record
	for i := range n {
		l := string(rune('a' + i))
		records = append(records, upload(l, "1"))
		lines = append(lines, l+": upload 1")
	}
	c.add(records...)
	c.die(n, lines...)
	return lines
}

//archtest:long a list of independent promises
func suspectPromises() []promise {
	return []promise{
		of("the keys of a dead holder go in parts of about the root of them, the others with the next Reserve", func(c *trial) {
			lines := c.died(17)
			c.add(upload("x", "1"))
			leases := c.take(24, lines[:5]...)
			equal(c, leases[0].Expired, 1, "Expired")
			equal(c, c.entry("a").Deaths, 1, "Deaths")
			c.take(24, "x: upload 1")
			c.expect(c.reserve(24, c.by("B")), lines[5:9]...)
			c.commit(leases)
			c.take(24, lines[9:12]...)
		}),
		of("Keys bounds a part", func(c *trial) {
			lines := c.died(17)
			c.take(2, lines[:2]...)
		}),
		of("a Reserve of no keys gets no suspects", func(c *trial) {
			lines := c.died(17)
			c.reserve(0)
			c.die(24, lines[:5]...)
			c.reserve(0)
			c.take(24, lines[0])
		}),
		of("suspects are forgotten when they are committed, and not when they are released", func(c *trial) {
			lines := c.died(4)
			c.end(queue.Release, c.take(24, lines[:2]...))
			c.commit(c.take(24, lines[:2]...))
			c.commit(c.take(24, lines[2:]...))
			c.add(upload("a", "2"), upload("b", "3"), upload("c", "4"))
			leases := c.take(24, "a: upload 2", "b: upload 3", "c: upload 4")
			equal(c, leases[0].Expired, 0, "Expired")
			equal(c, c.entry("a").Deaths, 0, "Deaths")
		}),
		of("only the requested keys of a part go alone, to any number of holders", func(c *trial) {
			lines := c.died(17)
			c.request(c.take(24, lines[:5]...)[1:3]...)
			c.h.Sleep(lease)
			first := c.take(24, lines[1])
			c.nothing("A has a suspect that goes alone")
			second := c.reserve(24, c.by("B"))
			c.expect(second, lines[2])
			c.expect(c.reserve(24, c.by("C")), lines[0], lines[3], lines[4], lines[5])
			equal(c, c.entry("a").Deaths, 1, "Deaths of a")
			equal(c, c.entry("b").Deaths, 2, "Deaths of b")
			c.commit(first)
			c.commit(second)
			c.take(24, lines[6:10]...)
		}),
		of("a request is noted until the lease ends", func(c *trial) {
			lines := c.died(1)
			leases := c.take(9, lines...)
			c.request(leases...)
			lost, err := c.h.Queue.Extend(c.ctx, lease, leases...)
			c.noError(err, "Extend")
			equal(c, len(lost), 0, "lost")
			c.h.Sleep(lease)
			equal(c, c.entry("a").Deaths, 2, "Deaths")
			leases = c.take(9, lines...)
			c.request(leases...)
			c.end(queue.Release, leases)
			c.take(9, lines...)
			c.h.Sleep(lease)
			equal(c, c.entry("a").Deaths, 2, "Deaths")
			equal(c, c.entry("a").Expired, 3, "Expired")
		}),
		of("a stale request is lost, and notes nothing", func(c *trial) {
			lines := c.died(1)
			zombie := c.take(9, lines...)
			zombie[0].Requested = true
			c.h.Sleep(lease)
			c.take(9, lines...)
			lost, err := c.h.Queue.Extend(c.ctx, lease, zombie...)
			c.noError(err, "Extend")
			equal(c, len(lost), 1, "lost")
			c.h.Sleep(lease)
			equal(c, c.entry("a").Deaths, 1, "Deaths")
		}),
		of("while a suspect waits to go alone, a holder with leases gets nothing until it has none", func(c *trial) {
			c.add(upload("x", "1"))
			busy := c.reserve(1, lasting(time.Hour))
			lines := c.died(1)
			c.die(24, lines...)
			c.add(upload("y", "2"))
			c.nothing("A has x")
			c.commit(busy)
			c.commit(c.take(24, lines...))
			c.take(24, "y: upload 2")
		}),
		of("a lease that never ends keeps a holder from others for the length of a lease, and not for the next one", func(c *trial) {
			c.add(upload("x", "1"))
			c.reserve(1, lasting(time.Hour))
			lines := c.died(1)
			c.die(24, lines...)
			c.nothing("A has x")
			c.h.Sleep(lease / 2)
			c.add(upload("y", "2"), upload("z", "3"))
			c.nothing("A has x")
			c.h.Sleep(lease / 2)
			c.take(1, "y: upload 2")
			c.h.Sleep(lease)
			c.nothing("A has x and y")
			c.commit(c.reserve(24, c.by("B")))
			c.take(24, "y: upload 2")
			c.take(24, "z: upload 3")
		}),
		of("a suspect that goes alone and never ends keeps its holder from others no longer", func(c *trial) {
			lines := c.died(1)
			c.die(24, lines...)
			c.add(upload("x", "1"))
			alone := c.reserve(9, lasting(time.Hour))
			c.expect(alone, lines...)
			c.nothing("A has a suspect that goes alone")
			c.h.Sleep(lease)
			c.take(9, "x: upload 1")
			c.request(alone...)
			c.h.Sleep(time.Hour)
			equal(c, c.entry("a").Deaths, 2, "Deaths of a key that is no longer alone")
			c.take(9, lines...)
		}),
		of("a named suspect is leased before its turn, and not alone with another one", func(c *trial) {
			lines := c.died(17)
			c.die(24, lines[:5]...)
			c.expect(c.reserve(0, only("b", "q")), lines[1], lines[16])
			c.expect(c.reserve(0, c.by("B"), only("c")), lines[2])
			leases, err := c.h.Queue.Reserve(c.ctx, c.want(9, c.by("C")))
			c.noError(err, "Reserve")
			c.expect(leases, lines[0])
			c.die(0)
			c.counts(17, 0, 0)
		}),
		of("a key is parked with the third holder that dies, alone with it", func(c *trial) {
			lines := c.died(1)
			for i := 1; i < queue.MaxDeaths; i++ {
				equal(c, c.entry("a").Deaths, i, "Deaths")
				c.take(9, lines...)
				c.h.Sleep(lease)
				equal(c, c.entry("a").Deaths, i, "Deaths without a request")
				c.die(9, lines...)
			}
			c.nothing("a is parked")
			c.counts(0, 0, 1)
			e := c.entry("a")
			equal(c, e.State, queue.Parked, "State")
			equal(c, e.Deaths, queue.MaxDeaths, "Deaths")
			equal(c, e.Expired, 2*queue.MaxDeaths-1, "Expired")
			if e.Reason == "" {
				c.t.Fatal("parked without a reason")
			}
		}),
		of("new work on a suspect is suspected, too", func(c *trial) {
			lines := c.died(17)
			c.die(24, lines[:5]...)
			c.add(upload("a", "2"))
			c.commit(c.take(24, "a: upload 2"))
			c.take(24, lines[1])
		}),
		of("a parked key that is replaced goes alone, and is parked when it kills again", func(c *trial) {
			lines := c.died(1)
			for i := 1; i < queue.MaxDeaths; i++ {
				c.die(9, lines...)
			}
			c.counts(0, 0, 1)
			c.add(upload("a", "2"))
			c.counts(1, 0, 0)
			e := c.entry("a")
			equal(c, e.Deaths, queue.MaxDeaths, "Deaths")
			equal(c, string(e.Replaced.Body), "1", "Replaced")
			c.die(9, "a: upload 2")
			c.nothing("a is parked again")
			e = c.entry("a")
			equal(c, e.Deaths, queue.MaxDeaths+1, "Deaths")
			equal(c, string(e.Parked[0].Body), "2", "Parked")
		}),
		of("records appended while the third holder died are new work", func(c *trial) {
			lines := c.died(1)
			c.die(9, lines...)
			c.request(c.take(9, lines...)...)
			c.add(merge("a", "2"))
			c.h.Sleep(lease)
			c.counts(1, 0, 1) // the merge waits behind the parked record
			c.add(upload("a", "3"))
			c.counts(1, 0, 0)
			c.commit(c.take(9, "a: upload 3"))
			c.counts(0, 0, 0)
		}),
		of("of 8000 keys one that kills costs three holders, and the others are sent in 30 seconds", func(c *trial) {
			killer(c, 8000, 50)
		}),
		of("a few keys with one that kills cost three holders", func(c *trial) {
			for _, index := range []int{0, 5, 8} {
				killer(c, 9, index)
			}
		}),
	}
}

// killer simulates that the key with this index, of n keys, kills each process that sends it. A request takes 50 ms.
func killer(c *trial, n, index int) {
	c.t.Helper()
	keys := c.h.together(n)
	records := make([]queue.Record, n)
	for i, k := range keys {
		records[i] = upload(k, "1")
	}
	c.add(records...)
	deaths, delivered, spent := 0, 0, time.Duration(0)
	for {
		leases := c.reserve(n, c.by(fmt.Sprint("process ", n, index, deaths)))
		if len(leases) == 0 {
			break
		}
		if leases[0].Expired > 0 {
			c.request(leases...)
		}
		if slices.ContainsFunc(leases, func(l queue.Lease) bool { return l.Key == keys[index] }) {
			deaths++
			c.h.Sleep(lease)
			continue
		}
		c.h.Sleep(50 * time.Millisecond)
		spent += 50 * time.Millisecond
		delivered += len(leases)
		c.commit(leases)
	}
	c.t.Logf("%d of %d keys were sent in %v, with %d deaths", delivered, n, spent, deaths)
	c.counts(0, 0, 1)
	e := c.entry(keys[index])
	equal(c, e.State, queue.Parked, "State")
	equal(c, deaths, 3, "deaths")
	equal(c, delivered, n-1, "keys that were sent")
	if spent > 30*time.Second {
		c.t.Fatalf("they were sent in %v", spent)
	}
	got, err := c.admin().Drop(c.ctx, keys[index])
	c.did(got, err, 1, "Drop")
}
