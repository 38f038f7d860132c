package queuetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

//archtest:long promises in a list, each by itself
func suspectPromises() []promise {
	// die has a holder that nobody has heard of reserve keys, and never settle.
	die := func(c *trial, keys int, lines ...string) []queue.Lease {
		c.t.Helper()
		leases := c.reserve(keys, c.by(fmt.Sprint(len(c.people))))
		if lines != nil {
			c.expect(leases, lines...)
		}
		c.h.Sleep(lease)
		return leases
	}
	// suspicious makes n keys suspects, named key after key from a, that were in one reservation.
	suspicious := func(c *trial, n int) (lines []string) {
		var records []queue.Record
		for i := range n {
			l := string(rune('a' + i))
			records = append(records, upload(l, "1"))
			lines = append(lines, l+": upload 1")
		}
		c.add(records...)
		die(c, n, lines...)
		die(c, n, lines...)
		return lines
	}
	return []promise{
		of("a key whose leases run out is delivered in full company twice, then in an eighth", func(c *trial) {
			lines := suspicious(c, 24)
			leases := c.take(24, lines[:3]...)
			for _, l := range leases {
				equal(c, l.Expired, 2, "Expired")
			}
		}),
		of("as soon as such a group has settled the next one is doubled", func(c *trial) {
			lines := suspicious(c, 17)
			c.commit(c.take(24, lines[:2]...))
			c.end(queue.Release, c.take(24, lines[2:6]...)) // which also ends it other than by running out
			c.commit(c.take(24, lines[2:10]...))
			c.commit(c.take(24, lines[10:17]...))
			c.counts(0, 0, 0)
		}),
		of("Keys bounds a group of suspects, too", func(c *trial) {
			lines := suspicious(c, 24)
			c.take(2, lines[:2]...)
		}),
		of("the group shrinks to an eighth each time, down to one", func(c *trial) {
			lines := suspicious(c, 16)
			die(c, 24, lines[:2]...)
			die(c, 24, lines[:1]...)
			c.take(24, lines[0])
		}),
		of("a group that has ended in part by running out has run out", func(c *trial) {
			lines := suspicious(c, 24)
			leases := c.take(24, lines[:3]...)
			c.commit(leases[:2])
			c.h.Sleep(lease)
			c.expect(c.reserve(24, c.by("B")), lines[2])
		}),
		of("suspects are forgotten when they are committed", func(c *trial) {
			lines := suspicious(c, 8)
			c.commit(c.take(24, lines[0]))
			c.commit(c.take(24, lines[1:3]...))
			c.commit(c.take(24, lines[3:7]...))
			c.commit(c.take(24, lines[7]))
			c.add(upload("a", "2"), upload("b", "3"))
			leases := c.take(24, "a: upload 2", "b: upload 3")
			equal(c, leases[0].Expired, 0, "Expired")
		}),
		of("one holder tries suspects, the others pass them", func(c *trial) {
			lines := suspicious(c, 16)
			c.add(upload("x", "1"), upload("y", "2"))
			c.take(24, lines[:2]...)
			c.nothing("A has suspects")
			c.expect(c.reserve(1, c.by("B")), "x: upload 1")
			c.expect(c.reserve(9, c.by("C")), "y: upload 2")
			c.nothing("A tries the suspects", c.by("B"))
		}),
		of("a holder that has other leases gets nothing until they have ended, then suspects", func(c *trial) {
			c.add(upload("x", "1"))
			busy := c.reserve(1, lasting(time.Hour))
			lines := suspicious(c, 16)
			c.add(upload("y", "2"))
			c.nothing("A holds x, and is to try suspects")
			c.expect(c.reserve(9, c.by("B")), "y: upload 2")
			c.commit(busy)
			c.take(24, lines[:2]...)
		}),
		of("whoever tries suspects is replaced when its time is over", func(c *trial) {
			lines := suspicious(c, 16)
			c.take(24, lines[:2]...)
			c.h.Sleep(lease)
			c.expect(c.reserve(24, c.by("B")), lines[0])
			c.nothing("B tries the suspects", c.by("A"))
		}),
		of("whoever is to try suspects is that for one lease, however often it asks", func(c *trial) {
			c.add(upload("x", "1"))
			c.reserve(1, lasting(time.Hour)) // which A never gives up
			lines := suspicious(c, 16)
			c.nothing("A holds x, and is to try suspects")
			c.h.Sleep(lease / 2)
			c.nothing("A holds x, and is to try suspects")
			c.nothing("A is to try suspects", c.by("B"))
			c.h.Sleep(lease / 2)
			c.expect(c.reserve(24, c.by("B")), lines[:2]...)
		}),
		of("whoever asks for no keys is not to try suspects", func(c *trial) {
			lines := suspicious(c, 16)
			c.reserve(0, c.by("B"))
			c.take(24, lines[:2]...)
		}),
		of("a suspect that is named is leased whatever the group", func(c *trial) {
			suspicious(c, 16)
			c.expect(c.reserve(0, only("p", "o")), "p: upload 1", "o: upload 1")
		}),
		of("a key whose holders have died three times while it was alone is parked", func(c *trial) {
			suspicious(c, 1)
			for i := range queue.MaxDeaths {
				equal(c, c.entry("a").Deaths, i, "Deaths")
				die(c, 9, "a: upload 1")
			}
			c.nothing("a is parked")
			c.counts(0, 0, 1)
			e := c.entry("a")
			equal(c, e.State, queue.Parked, "State")
			equal(c, e.Deaths, queue.MaxDeaths, "Deaths")
			equal(c, e.Expired, queue.Suspicious+queue.MaxDeaths, "Expired")
			if e.Reason == "" {
				c.t.Fatal("parked without a reason")
			}
		}),
		of("a suspect that a holder has died with goes alone", func(c *trial) {
			lines := suspicious(c, 8)
			die(c, 9, lines[0])
			c.add(upload("a", "2")) // new work, and the key is a suspect still
			c.commit(c.take(24, "a: upload 2"))
			c.take(24, lines[1:3]...)
		}),
		of("a group ends before a suspect that goes alone", func(c *trial) {
			lines := suspicious(c, 16)
			c.reserve(0, only("c"), c.by("Z")) // and dies, alone with c
			c.h.Sleep(lease)
			equal(c, c.entry("c").Deaths, 1, "Deaths")
			c.commit(c.take(24, lines[0]))
			c.commit(c.take(24, lines[1]))
			c.commit(c.take(24, lines[2]))
			c.commit(c.take(24, lines[3:11]...))
		}),
		of("a parked key that is replaced goes alone, and is parked when it kills again", func(c *trial) {
			suspicious(c, 1)
			for range queue.MaxDeaths {
				die(c, 9)
			}
			c.counts(0, 0, 1)
			c.add(upload("a", "2"))
			c.counts(1, 0, 0)
			e := c.entry("a")
			equal(c, e.Deaths, queue.MaxDeaths, "Deaths")
			equal(c, string(e.Replaced.Body), "1", "Replaced")
			die(c, 9, "a: upload 2")
			c.nothing("a is parked again")
			e = c.entry("a")
			equal(c, e.Deaths, queue.MaxDeaths+1, "Deaths")
			equal(c, string(e.Parked[0].Body), "2", "Parked")
		}),
		of("what was appended while the third holder died is new work", func(c *trial) {
			suspicious(c, 1)
			die(c, 9)
			die(c, 9)
			c.take(9, "a: upload 1")
			c.add(merge("a", "2"))
			c.h.Sleep(lease)
			c.counts(1, 0, 1) // the merge waits behind what is parked
			c.add(upload("a", "3"))
			c.counts(1, 0, 0)
			c.commit(c.take(9, "a: upload 3"))
			c.counts(0, 0, 0)
		}),
		of("a key that kills every holder is parked, and its neighbours are delivered", func(c *trial) {
			poison(c, 0, 64, 64, 8, 1, 1, 1)
		}),
		of("a key in the middle that kills every holder is parked, and its neighbours are delivered in between", func(c *trial) {
			poison(c, 17, 64, 64, 16, 8, 4, 1, 1, 1)
		}),
		of("a sick neighbour does not keep the group small", func(c *trial) {
			lines := suspicious(c, 9)
			die(c, 24, lines[0])
			c.add(upload("a", "2"))
			for _, group := range [][]string{{"a: upload 2"}, lines[1:3], lines[3:7], lines[7:9]} {
				c.commit(c.take(24, group...))
			}
		}),
	}
}

// poison has one key of 64, the one with that index, kill each process that sends it, and compares the sizes of
// the reservations that are lost.
func poison(c *trial, index int, want ...int) {
	keys := c.h.together(64)
	var records []queue.Record
	for _, k := range keys {
		records = append(records, upload(k, "1"))
	}
	c.add(records...)
	delivered := map[string]bool{}
	var lost []int
	for process := range 100 {
		leases := c.reserve(64, c.by(fmt.Sprint("process ", process)))
		if len(leases) == 0 {
			break
		}
		if slices.ContainsFunc(leases, func(l queue.Lease) bool { return l.Key == keys[index] }) {
			lost = append(lost, len(leases))
			c.h.Sleep(lease)
			continue
		}
		for _, l := range leases {
			delivered[l.Key] = true
		}
		c.commit(leases)
		c.h.Sleep(lease) // so that the next process may try suspects
	}
	if delivered[keys[index]] || len(delivered) != 63 {
		c.t.Fatalf("%d neighbours of 63 were delivered; that which kills: %v", len(delivered), delivered[keys[index]])
	}
	c.counts(0, 0, 1)
	if !slices.Equal(lost, want) {
		c.t.Fatalf("reservations of %d keys ran out, want %d", lost, want)
	}
}
