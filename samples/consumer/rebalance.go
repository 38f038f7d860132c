package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

func (c *consumer) onAssigned(_ context.Context, _ *Client, ids []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.assigned[id] = &partition{id: id}
	}
}

// onRevoked hands partitions over: wait, then commit, then return, which lets the
// next owner have them.
func (c *consumer) onRevoked(ctx context.Context, _ *Client, ids []int32) {
	gone := c.handOver(ids)
	if err := c.commitOf(ctx, gone); err != nil {
		c.fail(err)
	}
}

// onLost is called too late to commit: the next owner reads already. What has not
// been sent must not overwrite what it writes.
func (c *consumer) onLost(_ context.Context, _ *Client, ids []int32) { c.handOver(ids) }

// handOver returns when this consumer writes nothing of the given partitions any
// more.
//
//  1. What waits is taken back. Withdraw waits for the requests under way, whose
//     actions then settle, so the marks are final.
//  2. A request that had no reply may still be carried out, and would overwrite
//     what the next owner writes. Inside a sender the next action of a key waits
//     for that, Options.UnknownWait; between two senders we have to.
func (c *consumer) handOver(ids []int32) (gone []*partition) {
	c.mu.Lock()
	for _, id := range ids {
		if p := c.assigned[id]; p != nil {
			gone = append(gone, p)
			delete(c.assigned, id)
		}
	}
	c.mu.Unlock()
	c.sender.Withdraw(func(_ string, of any) bool {
		t, ok := of.(tag)
		return ok && slices.Contains(gone, t.partition)
	})
	c.mu.Lock()
	end := c.noReplyAt.Add(c.unknown)
	c.mu.Unlock()
	time.Sleep(time.Until(end)) // not at all, usually
	return gone
}

// commit stores how far the assigned partitions are settled.
func (c *consumer) commit(ctx context.Context) {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.assigned))
	c.mu.Unlock()
	if err := c.commitOf(ctx, all); err != nil {
		c.fail(err)
	}
}

// commitOf is called by run and by onRevoked: one after the other, so that no commit
// goes back.
func (c *consumer) commitOf(ctx context.Context, partitions []*partition) error {
	c.committing.Lock()
	defer c.committing.Unlock()
	for _, p := range partitions {
		// The mark is the last offset that is settled, the commit the next to be read.
		mark, ok := p.water.Mark()
		if !ok || mark+1 <= p.committed {
			continue
		}
		err := c.client.CommitOffsetsSync(ctx, map[int32]int64{p.id: mark + 1})
		if errors.Is(err, ErrNotOwner) {
			continue // it was lost, and onLost is about to be called or has been
		}
		if err != nil {
			return err
		}
		p.committed = mark + 1
	}
	return nil
}

// stop ends the consumer after run: what waits is sent, as long as ctx allows, so
// that the next owner has less to repeat; then the partitions are handed over.
func (c *consumer) stop(ctx context.Context) error {
	_ = c.sender.Flush(ctx, nil) // the failures it reports have been given to skip
	c.client.LeaveGroup()
	return c.sender.Close(ctx)
}

// crash ends the consumer as the end of its process would: nothing is committed,
// nothing is said, and what waits is lost here and read again by the next owner.
func (c *consumer) crash() {
	ended, end := context.WithCancel(context.Background())
	end()
	_ = c.sender.Close(ended)
	c.client.Kill()
}
