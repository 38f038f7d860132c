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

// Record is one entry of the log. A record without a value is a tombstone, which deletes its key.
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

// ErrNotOwner means that the partition is not assigned to the member. Kafka refuses a commit of an old generation the
// same way.
var ErrNotOwner = errors.New("partition is not assigned to this member")

// Group is the log and the consumer group, in place of Kafka's brokers. It is safe for concurrent use.
type Group struct {
	// OnCommit receives the records of each commit before it takes effect. Set it before the first member joins.
	OnCommit func([]Record)

	mu         sync.Mutex // guards the fields below, and those of the clients
	partitions [][]Record
	committed  []int64
	owner      []*Client // the current reader of each partition, or nil
	target     []*Client // its next reader
	members    []*Client
	changed    chan struct{} // closed at each change of the fields above
}

// NewGroup returns an empty log.
func NewGroup(partitions int) *Group {
	return &Group{
		partitions: make([][]Record, partitions), committed: make([]int64, partitions),
		owner: make([]*Client, partitions), target: make([]*Client, partitions), changed: make(chan struct{}),
	}
}

// Produce appends a record to the partition of its key, so all records of a key are in one order. Offsets have gaps,
// as in Kafka, where transactions and compaction leave some out.
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

// from returns the records of a partition at and after an offset. The caller holds the lock.
func (g *Group) from(partition int32, offset int64) []Record {
	all := g.partitions[partition]
	low, _ := slices.BinarySearchFunc(all, offset, func(r Record, offset int64) int { return cmp.Compare(r.Offset, offset) })
	return all[low:]
}

// Lag returns the number of records that are not committed.
func (g *Group) Lag() (lag int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p, next := range g.committed {
		lag += len(g.from(int32(p), next))
	}
	return lag
}

// share distributes the partitions among the members. The caller holds the lock.
func (g *Group) share() {
	for p := range g.target {
		g.target[p] = nil
		if n := len(g.members); n > 0 {
			g.target[p] = g.members[p%n]
		}
	}
	g.notify()
}

// notify wakes all clients that wait for a change. The caller holds the lock.
func (g *Group) notify() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// ClientOptions are the options of a Client. The callbacks run one at a time on the client's goroutine. franz-go's
// kgo has options of the same names.
type ClientOptions struct {
	// OnPartitionsAssigned is called before records of these partitions are polled.
	OnPartitionsAssigned func(context.Context, *Client, []int32)
	// OnPartitionsRevoked is called before these partitions go to another member, which gets them when the callback
	// returns. Until then they can be committed.
	OnPartitionsRevoked func(context.Context, *Client, []int32)
	// OnPartitionsLost is called when another member already has these partitions: they can no longer be committed.
	OnPartitionsLost func(context.Context, *Client, []int32)
}

// Client is a member of a group.
type Client struct {
	group *Group
	opts  ClientOptions
	ended sync.WaitGroup // waits for the goroutine of manage

	// Guarded by the lock of the group.
	reading map[int32]int64 // assigned partitions, and the next offset to poll
	polled  bool            // between PollRecords and AllowRebalance
	leaving bool
	killed  bool
	last    int32 // partition of the last poll
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

// PollRecords waits for records and returns up to limit. After it has returned records, no partition is revoked until
// AllowRebalance.
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

// AllowRebalance allows revoking partitions again after PollRecords.
func (c *Client) AllowRebalance() {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	c.polled = false
	c.group.notify()
}

// CommitOffsetsSync stores, for each partition, the next offset to read. If one partition is not assigned to this
// member, it stores nothing and returns ErrNotOwner.
func (c *Client) CommitOffsetsSync(ctx context.Context, offsets map[int32]int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
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

// LeaveGroup revokes all partitions of the client and returns when they are handed over.
func (c *Client) LeaveGroup() { c.leave(false) }

// Kill simulates a crash: no callback runs, nothing is committed, and the partitions go to other members at once.
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

// manage revokes, drops and takes partitions when the assignment changes.
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
		case c.polled: // wait for AllowRebalance
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

// wait waits for a change of the group. The caller holds the lock, which wait releases meanwhile.
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

// drop stops polling partitions and calls the callback.
func (c *Client) drop(partitions []int32, callback func(context.Context, *Client, []int32)) {
	for _, p := range partitions {
		delete(c.reading, p)
	}
	c.call(callback, partitions)
}

// free ends the ownership of partitions; nil means all. The caller holds the lock.
func (c *Client) free(partitions ...int32) {
	for p, owner := range c.group.owner {
		if owner == c && (partitions == nil || slices.Contains(partitions, int32(p))) {
			c.group.owner[p] = nil
		}
	}
	c.group.notify()
}
