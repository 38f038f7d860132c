package main

import (
	"context"
	"sync"
)

// ClientOptions are the options of a Client. Callbacks run one at a time, on a
// goroutine of the client's. See the options of the same names of franz-go's kgo.
type ClientOptions struct {
	// OnPartitionsAssigned is called before records of these partitions are polled.
	OnPartitionsAssigned func(context.Context, *Client, []int32)
	// OnPartitionsRevoked is called before these partitions go to another member,
	// who gets them when it returns. Until then they can be committed.
	OnPartitionsRevoked func(context.Context, *Client, []int32)
	// OnPartitionsLost is called when these partitions have gone to another member
	// already: nothing of them can be committed any more.
	OnPartitionsLost func(context.Context, *Client, []int32)
}

// Client is a member of a group.
type Client struct {
	group *Group
	opts  ClientOptions
	ended sync.WaitGroup // the goroutine that manages the partitions

	// Guarded by the lock of the group.
	reading map[int32]int64 // the assigned partitions, and the next offset to poll
	polled  bool            // between PollRecords and AllowRebalance
	leaving bool
	killed  bool
	last    int32 // partition that was polled last
}

// NewClient returns a new member of a group.
func NewClient(g *Group, opts ClientOptions) *Client {
	c := &Client{group: g, opts: opts, reading: map[int32]int64{}}
	g.mu.Lock()
	g.join(c)
	g.mu.Unlock()
	c.ended.Go(c.manage)
	return c
}

// PollRecords returns up to limit records, and waits until there is one. From then
// on no partition is taken away until AllowRebalance.
func (c *Client) PollRecords(ctx context.Context, limit int) ([]Record, error) {
	g := c.group
	for {
		g.mu.Lock()
		for i := range g.partitions {
			p := (c.last + 1 + int32(i)) % int32(len(g.partitions))
			at, ok := c.reading[p]
			if !ok || c.killed {
				continue
			}
			if records := from(g.partitions[p], at, limit); len(records) > 0 {
				c.reading[p] = records[len(records)-1].Offset + 1
				c.last, c.polled = p, true
				g.mu.Unlock()
				return records, nil
			}
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// AllowRebalance ends what PollRecords began.
func (c *Client) AllowRebalance() {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	c.polled = false
	c.group.notify()
}

// CommitOffsetsSync stores the next offset to be read of partitions. It fails with
// ErrNotOwner, and stores nothing, if one of them is not assigned to this member.
func (c *Client) CommitOffsetsSync(_ context.Context, offsets map[int32]int64) error {
	return c.group.commit(c, offsets)
}

// LeaveGroup has all partitions revoked, and returns when they are.
func (c *Client) LeaveGroup() {
	c.group.mu.Lock()
	c.leaving = true
	c.group.leave(c)
	c.group.mu.Unlock()
	c.ended.Wait()
}

// Kill is a crash of the process: no callback runs, nothing is committed, and the
// partitions go to others when the group has noticed, which is at once.
func (c *Client) Kill() {
	c.group.mu.Lock()
	c.killed, c.leaving = true, true
	c.free(c.held())
	c.group.leave(c)
	c.group.mu.Unlock()
	c.ended.Wait()
}

// Expire is what the group does to a member from which it has not heard for too
// long: the partitions are gone, and may be assigned to it again later.
func (c *Client) Expire() {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	c.free(c.held())
	c.group.notify()
}

// manage hands over what others are to have, and takes what this member is to have.
func (c *Client) manage() {
	g := c.group
	ctx := context.Background()
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		var lost, revoked, assigned []int32
		for p := range g.owner {
			_, reads := c.reading[int32(p)]
			switch {
			case reads && g.owner[p] != c:
				lost = append(lost, int32(p))
			case reads && g.target[p] != c:
				revoked = append(revoked, int32(p))
			case !reads && g.owner[p] == nil && g.target[p] == c:
				assigned = append(assigned, int32(p))
			}
		}
		switch {
		case c.killed:
			return
		case c.polled: // until AllowRebalance
			c.wait()
		case len(lost) > 0:
			c.drop(lost)
			c.call(ctx, c.opts.OnPartitionsLost, lost)
		case len(revoked) > 0:
			c.drop(revoked)
			c.call(ctx, c.opts.OnPartitionsRevoked, revoked)
			c.free(revoked)
			g.notify()
		case c.leaving:
			return
		case len(assigned) > 0:
			for _, p := range assigned {
				g.owner[p] = c
			}
			c.call(ctx, c.opts.OnPartitionsAssigned, assigned)
			for _, p := range assigned {
				c.reading[p] = g.committed[p]
			}
			g.notify()
		default:
			c.wait()
		}
	}
}

func (c *Client) wait() {
	changed := c.group.changed
	c.group.mu.Unlock()
	<-changed
	c.group.mu.Lock()
}

func (c *Client) call(ctx context.Context, callback func(context.Context, *Client, []int32), partitions []int32) {
	if callback == nil {
		return
	}
	c.group.mu.Unlock()
	defer c.group.mu.Lock()
	callback(ctx, c, partitions)
}

// drop ends the polling of partitions, and free lets others have them.
func (c *Client) drop(partitions []int32) {
	for _, p := range partitions {
		delete(c.reading, p)
	}
}

func (c *Client) free(partitions []int32) {
	for _, p := range partitions {
		if c.group.owner[p] == c {
			c.group.owner[p] = nil
		}
	}
}

func (c *Client) held() (partitions []int32) {
	for p, owner := range c.group.owner {
		if owner == c {
			partitions = append(partitions, int32(p))
		}
	}
	return partitions
}
