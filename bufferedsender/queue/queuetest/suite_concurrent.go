package queuetest

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

func concurrentPromises() []promise {
	return []promise{
		of("adders and holders at the same time lose and mix up nothing", func(c *trial) {
			const adders, holders, calls, keys = 4, 4, 25, 10
			var (
				all   sync.WaitGroup
				added = make(chan struct{})
				mu    sync.Mutex
				held  = map[string]bool{}
				sent  = map[string]string{} // the last body of each key
			)
			for a := range adders { // each adder has its own keys, so that the last change is known
				all.Go(func() {
					adder := queue.NewID()
					for n := range calls {
						call := queue.Call{Adder: adder, Number: uint64(n) + 1}
						for k := range keys {
							call.Records = append(call.Records, upload(fmt.Sprintf("%d of adder %d", k, a), fmt.Sprint(n)))
						}
						if _, err := c.h.Queue.Append(c.ctx, call); err != nil {
							c.t.Errorf("Append: %v", err)
							return
						}
					}
				})
			}
			var drains sync.WaitGroup
			for i := range holders {
				want := c.want(7, c.by(fmt.Sprint("holder ", i)))
				drains.Go(func() {
					for {
						over := false
						select {
						case <-added:
							over = true
						default:
						}
						want.Token = queue.NewID()
						leases, err := c.h.Queue.Reserve(c.ctx, want)
						if err != nil {
							c.t.Errorf("Reserve: %v", err)
							return
						}
						mu.Lock()
						for _, l := range leases {
							if held[l.Key] {
								c.t.Errorf("%s is held twice", l.Key)
							}
							held[l.Key] = true
							sent[l.Key] = string(l.Records[len(l.Records)-1].Body)
						}
						mu.Unlock()
						runtime.Gosched()
						mu.Lock()
						for _, l := range leases {
							delete(held, l.Key) // before it is settled: then another holder may lease it
						}
						mu.Unlock()
						stale, failed, err := c.h.Queue.Settle(c.ctx, ends(queue.Commit, leases)...)
						if err != nil || len(stale)+len(failed) > 0 {
							c.t.Errorf("Settle: %d stale, %d failed: %v", len(stale), len(failed), err)
							return
						}
						if over && len(leases) == 0 {
							return
						}
					}
				})
			}
			all.Wait()
			close(added)
			drains.Wait()
			c.counts(0, 0, 0)
			equal(c, len(sent), adders*keys, "keys that were sent")
			for k, body := range sent {
				equal(c, body, fmt.Sprint(calls-1), "the last body of "+k)
			}
		}),
	}
}
