package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
)

// Record is one entry of the log. A record without a value is a tombstone: its
// key is deleted.
type Record struct {
	Partition int32
	Offset    int64
	Key       string
	Value     *Value
}

// Value is the value of a record.
type Value struct {
	Title    string
	Category string
}

// ErrNotOwner says that a partition belongs to another member, or to none: the
// commit is refused, as Kafka refuses that of an old generation.
var ErrNotOwner = errors.New("the partition is not assigned to this member")

// Group is the log and the group of consumers that share it: what the brokers of
// Kafka are. It is safe for concurrent use.
type Group struct {
	// OnCommit gets the records that a commit is about, before it counts. It is for
	// checks, and set before there are members.
	OnCommit func([]Record)

	mu         sync.Mutex // guards the fields below, and those of the clients
	partitions [][]Record
	committed  []int64
	owner      []*Client // the reader of each partition, or nil
	target     []*Client // its next reader
	members    []*Client
	changed    chan struct{} // closed when any of this has changed
}

// NewGroup returns an empty log.
func NewGroup(partitions int) *Group {
	return &Group{
		partitions: make([][]Record, partitions), committed: make([]int64, partitions),
		owner: make([]*Client, partitions), target: make([]*Client, partitions), changed: make(chan struct{}),
	}
}

// Produce appends a record to the partition that its key belongs to: all records
// of a key are in one partition, so in one order. Offsets have gaps, as they have
// in Kafka, where transactions and compaction leave some out.
func (g *Group) Produce(key string, value *Value) Record {
	g.mu.Lock()
	defer g.mu.Unlock()
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key))
	r := Record{Partition: int32(hash.Sum32() % uint32(len(g.partitions))), Key: key, Value: value}
	all := g.partitions[r.Partition]
	if n := len(all); n > 0 {
		r.Offset = all[n-1].Offset + 1
	}
	if r.Offset%50 == 49 {
		r.Offset++
	}
	g.partitions[r.Partition] = append(all, r)
	g.notify()
	return r
}

// from returns the records of a partition from an offset on. The lock is held.
func (g *Group) from(partition int32, offset int64) []Record {
	all := g.partitions[partition]
	low, _ := slices.BinarySearchFunc(all, offset, func(r Record, offset int64) int { return cmp.Compare(r.Offset, offset) })
	return all[low:]
}

// Lag returns how many records are not committed.
func (g *Group) Lag() (lag int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p, next := range g.committed {
		lag += len(g.from(int32(p), next))
	}
	return lag
}

// share gives each member its share of the partitions. The lock is held.
func (g *Group) share() {
	for p := range g.target {
		g.target[p] = nil
		if n := len(g.members); n > 0 {
			g.target[p] = g.members[p%n]
		}
	}
	g.notify()
}

// notify wakes all clients that wait for a change. The lock is held.
func (g *Group) notify() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// ClientOptions are the options of a Client. Callbacks run one at a time, on a
// goroutine of the client's. See the options of the same names of franz-go's kgo.
type ClientOptions struct {
	// OnPartitionsAssigned is called before records of these partitions are polled.
	OnPartitionsAssigned func(context.Context, *Client, []int32)
	// OnPartitionsRevoked is called before these partitions go to another member,
	// which gets them when it returns. Until then they can be committed.
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
	defer g.mu.Unlock()
	g.members = append(g.members, c)
	g.share()
	c.ended.Go(c.manage)
	return c
}

// PollRecords returns up to limit records, and waits until there is one. From then
// on no partition is taken away until AllowRebalance.
func (c *Client) PollRecords(ctx context.Context, limit int) ([]Record, error) {
	g := c.group
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		for i := range g.partitions {
			p := (c.last + 1 + int32(i)) % int32(len(g.partitions))
			at, ok := c.reading[p]
			if records := g.from(p, at); ok && len(records) > 0 {
				records = records[:min(limit, len(records))]
				c.reading[p] = records[len(records)-1].Offset + 1
				c.last, c.polled = p, true
				return records, nil
			}
		}
		if err := c.wait(ctx); err != nil {
			return nil, err
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
	g := c.group
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range offsets {
		if g.owner[p] != c {
			return fmt.Errorf("commit of partition %d: %w", p, ErrNotOwner)
		}
	}
	for p, next := range offsets {
		if some := g.from(p, g.committed[p]); g.OnCommit != nil && next > g.committed[p] {
			g.OnCommit(some[:len(some)-len(g.from(p, next))])
		}
		g.committed[p] = next
	}
	g.notify()
	return nil
}

// LeaveGroup has all partitions revoked, and returns when they are.
func (c *Client) LeaveGroup() { c.leave(false) }

// Kill is a crash of the process: no callback runs, nothing is committed, and the
// partitions go to others when the group has noticed, which is at once.
func (c *Client) Kill() { c.leave(true) }

func (c *Client) leave(killed bool) {
	g := c.group
	g.mu.Lock()
	if c.leaving, c.killed = true, killed; killed {
		c.free()
	}
	g.members = slices.DeleteFunc(g.members, func(m *Client) bool { return m == c })
	g.share()
	g.mu.Unlock()
	c.ended.Wait()
}

// manage hands over the partitions of others, and takes those of this member.
func (c *Client) manage() {
	g := c.group
	g.mu.Lock()
	defer g.mu.Unlock()
	for !c.killed {
		var lost, revoked, assigned []int32
		for i := range g.owner {
			p := int32(i)
			_, reads := c.reading[p]
			switch {
			case reads && g.owner[p] != c:
				lost = append(lost, p)
			case reads && g.target[p] != c:
				revoked = append(revoked, p)
			case !reads && g.owner[p] == nil && g.target[p] == c:
				assigned = append(assigned, p)
			}
		}
		switch {
		case c.polled: // until AllowRebalance
			_ = c.wait(context.Background())
		case len(lost) > 0:
			c.drop(lost, c.opts.OnPartitionsLost)
		case len(revoked) > 0:
			c.drop(revoked, c.opts.OnPartitionsRevoked)
			c.free(revoked...)
		case c.leaving:
			return
		case len(assigned) > 0:
			for _, p := range assigned {
				g.owner[p] = c
			}
			c.call(c.opts.OnPartitionsAssigned, assigned)
			for _, p := range assigned {
				c.reading[p] = g.committed[p]
			}
			g.notify()
		default:
			_ = c.wait(context.Background())
		}
	}
}

// wait waits for a change of the group. The lock is held, but not meanwhile.
func (c *Client) wait(ctx context.Context) error {
	changed := c.group.changed
	c.group.mu.Unlock()
	defer c.group.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) call(callback func(context.Context, *Client, []int32), partitions []int32) {
	if callback != nil {
		c.group.mu.Unlock()
		defer c.group.mu.Lock()
		callback(context.Background(), c, partitions)
	}
}

// drop ends the polling of partitions.
func (c *Client) drop(partitions []int32, callback func(context.Context, *Client, []int32)) {
	for _, p := range partitions {
		delete(c.reading, p)
	}
	c.call(callback, partitions)
}

// free lets others have partitions, by default all. The lock is held.
func (c *Client) free(partitions ...int32) {
	for p, owner := range c.group.owner {
		if owner == c && (partitions == nil || slices.Contains(partitions, int32(p))) {
			c.group.owner[p] = nil
		}
	}
	c.group.notify()
}
