package queuetest

import (
	"fmt"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// limited returns a promise for back ends that enforce bounds.
func limited(name string, config Config, test func(c *trial)) promise {
	return promise{name, func(b Backend) bool { return b.Limited }, config, func(c *trial, _ Backend) { test(c) }}
}

// full appends records that must be refused because the queue is full.
func (c *trial) full(records ...queue.Record) {
	c.t.Helper()
	_, err := c.h.Queue.Append(c.ctx, c.call(records...))
	c.is(err, queue.ErrFull, "Append")
}

func limitPromises() []promise {
	return []promise{
		limited("a queue with as many keys as it may have takes no others", Config{MaxKeys: 3}, func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			c.full(upload("c", "3"), upload("d", "4"))
			equal(c, c.contains(c.key("c"))[0], false, "c was kept")
			c.add(upload("c", "5"))
			c.full(upload("d", "6"))
			c.full(upload("a", "7"), upload("d", "8"))
			c.commit(c.take(1, "a: upload 1"))
			c.add(upload("d", "9"))
			c.take(9, "b: upload 2", "c: upload 5", "d: upload 9")
		}),
		limited("a full queue accepts calls about its own keys", Config{MaxKeys: 2}, func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			c.take(1, "a: upload 1")
			c.add(upload("a", "3"), merge("b", "4"))
			c.add(upload("b", "5"))
			c.take(9, "b: upload 5")
		}),
		limited("leased keys count", Config{MaxKeys: 2}, func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			leases := c.take(2, "a: upload 1", "b: upload 2")
			c.full(upload("c", "3"))
			c.end(queue.Commit, leases)
			c.add(upload("c", "3"))
		}),
		limited("a refused call may be repeated under its number", Config{MaxKeys: 1}, func(c *trial) {
			c.add(upload("a", "1"))
			call := c.call(upload("b", "2"))
			_, err := c.h.Queue.Append(c.ctx, call)
			c.is(err, queue.ErrFull, "Append")
			c.commit(c.take(1, "a: upload 1"))
			c.send(call)
			c.take(1, "b: upload 2")
		}),
		limited("a repeat of a call that was applied needs no room", Config{MaxKeys: 1}, func(c *trial) {
			call := c.call(upload("a", "1"))
			c.send(call)
			c.send(call)
		}),
		limited("a queue with as many bytes as it may have takes nothing that makes it larger", Config{MaxBytes: 10_000}, func(c *trial) {
			body := func(n int) string { return strings.Repeat("x", n) }
			c.add(upload("a", body(9000)))
			c.full(upload("b", body(9000)))
			c.full(merge("a", body(9000)))
			c.add(upload("a", body(9000)))
			c.add(upload("a", body(100)))
			c.add(upload("b", body(9000)))
		}),
	}
}

// parkedLimits are promises about parked keys, which only operators remove.
//
//archtest:long a list of independent promises
func parkedLimits() []promise {
	return []promise{
		limited("parked keys have their own share, and only more than that takes room from others", Config{MaxKeys: 2}, func(c *trial) {
			park := func(keys ...string) {
				c.t.Helper()
				n, err := c.admin().Park(c.ctx, "why", c.keys(keys...)...)
				c.did(n, err, len(keys), "Park")
			}
			c.add(upload("a", "1"), upload("b", "2"))
			park("a", "b")
			c.add(upload("c", "3"), upload("d", "4"))
			c.full(upload("e", "5"))
			park("c", "d")
			c.full(upload("e", "5"))
			n, err := c.admin().Drop(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Drop")
			c.add(upload("e", "5"))
			c.full(upload("f", "6"))
			c.add(upload("b", "7"))
			c.full(upload("f", "6"))
			c.take(9, "e: upload 5", "b: upload 7")
		}),
		limited("a call that unparks a key and brings another needs room for both", Config{MaxKeys: 2}, func(c *trial) {
			c.add(upload("a", "1"), upload("b", "2"))
			n, err := c.admin().Park(c.ctx, "why", c.keys("a", "b")...)
			c.did(n, err, 2, "Park")
			c.add(upload("c", "3"))
			c.full(upload("a", "4"), upload("d", "5"), upload("a", "6"))
			c.add(upload("d", "5"))
			c.add(upload("a", "6"))
		}),
		limited("bytes that are parked have a share of their own", Config{MaxBytes: 10_000}, func(c *trial) {
			body := strings.Repeat("x", 9000)
			c.add(upload("a", body))
			c.end(queue.Park, c.reserve(1))
			c.add(upload("b", body))
			c.end(queue.Park, c.reserve(1))
			c.full(upload("c", body))
			c.add(upload("c", body[:1000]))
			n, err := c.admin().Unpark(c.ctx, c.keys("a")...)
			c.did(n, err, 1, "Unpark")
			c.full(upload("d", body[:1000]))
		}),
		limited("a record that replaces parked bytes needs room only for more than these, and is not counted twice", Config{MaxBytes: 10_000}, func(c *trial) {
			body := strings.Repeat("x", 6000)
			c.add(upload("a", body))
			c.end(queue.Park, c.reserve(1))
			c.add(upload("a", body))
			c.add(upload("b", body[:3000]))
			c.full(upload("c", body[:3000]))
		}),
		limited("a queue whose parked keys have used up their share says so, and how many they are", Config{MaxKeys: 2}, func(c *trial) {
			fault := func() error {
				c.t.Helper()
				f, ok := c.h.Queue.(queue.Faulty)
				if !ok {
					c.t.Fatal("the queue does not implement queue.Faulty")
				}
				c.stats() // Fault may be as old as the last call
				return f.Fault()
			}
			c.add(upload("a", "1"), upload("b", "2"))
			c.end(queue.Park, c.reserve(1))
			c.noError(fault(), "Fault")
			c.end(queue.Park, c.reserve(1))
			named := func(err error, what, words string) {
				c.t.Helper()
				c.is(err, queue.ErrFull, what)
				if !strings.Contains(err.Error(), words) {
					c.t.Fatalf("%s: error %q does not say %q", what, err, words)
				}
			}
			named(fault(), "Fault", "2 keys are parked")
			c.add(upload("c", "3"), upload("d", "4"))
			c.end(queue.Park, c.reserve(2))
			_, err := c.h.Queue.Append(c.ctx, c.call(upload("e", "5")))
			named(err, "Append", "4 are parked")
			n, err := c.admin().Drop(c.ctx, c.keys("a", "b", "c")...)
			c.did(n, err, 3, "Drop")
			c.noError(fault(), "Fault")
		}),
	}
}

func bigPromises() []promise {
	// all appends n keys, reserves, extends and settles them, in one call each.
	all := func(n int) func(*trial) {
		return func(c *trial) {
			var records []queue.Record
			for i := range n {
				records = append(records, upload(fmt.Sprintf("big %d", i), "1"))
			}
			equal(c, c.add(records...).Replaced, 0, "replaced")
			equal(c, c.add(records...).Replaced, n, "replaced")
			c.counts(int64(n), 0, 0)
			leases := c.reserve(n)
			equal(c, len(leases), n, "leases")
			c.extend(2*lease, 0, leases...)
			c.commit(leases)
			c.counts(0, 0, 0)
		}
	}
	return []promise{
		of("8000 records in a call", all(8000)),
		of("8010 records in a call", all(8010)),
		of("MaxCall records in a call", all(queue.MaxCall)),
		of("8010 keys by name, in each call that takes names", func(c *trial) {
			const n = 8010
			var records []queue.Record
			var keys []string
			for i := range n {
				keys = append(keys, fmt.Sprintf("big %d", i))
				records = append(records, upload(keys[i], "1"))
			}
			c.add(records...)
			equal(c, len(c.contains(keys...)), n, "Contains")
			did, err := c.admin().Park(c.ctx, "why", keys...)
			c.did(did, err, n, "Park")
			did, err = c.admin().Unpark(c.ctx, keys...)
			c.did(did, err, n, "Unpark")
			leases := c.reserve(0, only(keys...))
			equal(c, len(leases), n, "leases")
			c.end(queue.Park, leases)
			did, err = c.admin().Drop(c.ctx, keys...)
			c.did(did, err, n, "Drop")
			c.counts(0, 0, 0)
		}),
		of("a body of a megabyte", func(c *trial) {
			c.add(upload("a", strings.Repeat("x", 1<<20)))
			leases := c.reserve(1)
			equal(c, len(leases[0].Records[0].Body), 1<<20, "length")
			c.commit(leases)
		}),
		of("a thousand keys that change in any order are delivered with their last change", func(c *trial) {
			want := map[string]string{}
			for round := range 20 {
				var records []queue.Record
				for i := range 100 {
					key, body := fmt.Sprint("big ", (i*37+round*61)%1000), fmt.Sprint(round)
					records = append(records, upload(key, body))
					want[key] = body
				}
				c.add(records...)
			}
			for len(want) > 0 {
				leases := c.reserve(64)
				if len(leases) == 0 {
					c.t.Fatalf("%d keys are missing", len(want))
				}
				for _, l := range leases {
					equal(c, string(l.Records[0].Body), want[l.Key], "body of "+l.Key)
					delete(want, l.Key)
				}
				c.commit(leases)
			}
			c.counts(0, 0, 0)
		}),
	}
}
