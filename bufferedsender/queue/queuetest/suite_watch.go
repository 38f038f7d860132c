package queuetest

import (
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// watched watches a queue, and returns stop, and a function that counts the calls of wake.
func (c *trial) watched(q queue.Queue) (count func() int64, stop func()) {
	var calls atomic.Int64
	stop = q.Watch(func() { calls.Add(1) })
	return calls.Load, stop
}

// wakes fails unless do wakes a watcher.
func (c *trial) wakes(what string, do func()) {
	c.t.Helper()
	count, stop := c.watched(c.h.Queue)
	defer stop()
	before := count()
	do()
	if !c.h.Await(func() bool { return count() > before }) {
		c.t.Fatalf("no wake-up after %s", what)
	}
}

func watchPromises() []promise {
	return []promise{
		of("an Append wakes watchers", func(c *trial) {
			c.wakes("an Append", func() { c.add(upload("a", "1")) })
		}),
		of("a Release wakes watchers", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.wakes("a Release", func() { c.end(queue.Release, leases) })
		}),
		of("the end of a delay wakes watchers", func(c *trial) {
			c.add(upload("a", "1"))
			c.end(queue.Release, c.take(1, "a: upload 1"), after(time.Minute))
			c.h.Sleep(time.Minute - time.Second)
			c.wakes("the end of a delay", func() { c.h.Sleep(time.Second) })
			c.take(1, "a: upload 1")
		}),
		of("the end of an uncertainty wakes watchers", func(c *trial) {
			c.add(upload("a", "1"))
			c.end(queue.Release, c.take(1, "a: upload 1"), unsure(time.Minute))
			c.h.Sleep(time.Minute - time.Second)
			c.wakes("the end of an uncertainty", func() { c.h.Sleep(time.Second) })
			c.take(1, "a: upload 1")
		}),
		of("the end of a lease wakes watchers", func(c *trial) {
			c.add(upload("a", "1"))
			c.take(1, "a: upload 1")
			c.h.Sleep(lease - time.Second)
			c.wakes("the end of a lease", func() { c.h.Sleep(time.Second) })
			c.take(1, "a: upload 1")
		}),
		of("a commit with something behind it wakes watchers", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.add(upload("a", "2"))
			c.wakes("a commit", func() { c.commit(leases) })
		}),
		of("Resume and Unpark wake watchers", func(c *trial) {
			c.add(upload("a", "1"))
			c.noError(c.admin().Pause(c.ctx, "why"), "Pause")
			c.wakes("Resume", func() { c.noError(c.admin().Resume(c.ctx), "Resume") })
			c.end(queue.Park, c.take(1, "a: upload 1"))
			c.wakes("Unpark", func() {
				n, err := c.admin().Unpark(c.ctx, c.keys("a")...)
				c.did(n, err, 1, "Unpark")
			})
		}),
		of("each watcher is woken", func(c *trial) {
			one, stopOne := c.watched(c.h.Queue)
			two, stopTwo := c.watched(c.h.Queue)
			defer stopTwo()
			c.add(upload("a", "1"))
			if !c.h.Await(func() bool { return one() > 0 && two() > 0 }) {
				c.t.Fatalf("%d and %d wake-ups", one(), two())
			}
			stopOne()
			before, beforeTwo := one(), two()
			c.add(upload("b", "2"))
			if !c.h.Await(func() bool { return two() > beforeTwo }) {
				c.t.Fatal("no wake-up after the other watcher has stopped")
			}
			equal(c, one(), before, "wake-ups of the one that has stopped")
		}),
		of("a watcher may stop after Close", func(c *trial) {
			_, stop := c.watched(c.h.Queue)
			c.noError(c.h.Queue.Close(), "Close")
			stop()
		}),
	}
}
