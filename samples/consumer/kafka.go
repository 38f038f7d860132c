package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
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

// appendRecord puts a record at the end of the partition that its key belongs to:
// all records of a key are in one partition, so in one order. Offsets have gaps,
// as they have in Kafka, where transactions and compaction leave some out. The
// lock of the group is held.
func appendRecord(partitions [][]Record, key string, value *Value) Record {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key))
	p := int32(hash.Sum32() % uint32(len(partitions)))
	offset := int64(0)
	if n := len(partitions[p]); n > 0 {
		offset = partitions[p][n-1].Offset + 1
		if offset%50 == 49 {
			offset++
		}
	}
	r := Record{Partition: p, Offset: offset, Key: key, Value: value}
	partitions[p] = append(partitions[p], r)
	return r
}

// from returns up to limit records of a partition, from an offset on.
func from(partition []Record, offset int64, limit int) []Record {
	low, _ := slices.BinarySearchFunc(partition, offset, func(r Record, offset int64) int { return cmp.Compare(r.Offset, offset) })
	return partition[low:min(low+limit, len(partition))]
}

// ErrNotOwner says that a partition belongs to another member, or to none: the
// commit is refused, as Kafka refuses that of an old generation.
var ErrNotOwner = errors.New("the partition is not assigned to this member")

// Group is the log and the group of consumers that share it: what the brokers of
// Kafka are. It is safe for concurrent use.
type Group struct {
	// OnCommit is called for each commit, before it counts. It is for checks, and
	// set before there are members.
	OnCommit func(partition int32, from, to int64)

	mu         sync.Mutex // guards the fields below, and those of the clients
	partitions [][]Record
	committed  []int64
	owner      []*Client // who reads the partition; nil while nobody does
	target     []*Client // who is to read it
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

// Produce appends a record.
func (g *Group) Produce(key string, value *Value) Record {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.notify()
	return appendRecord(g.partitions, key, value)
}

// Records returns the records of a partition from one offset up to another.
func (g *Group) Records(partition int32, low, high int64) []Record {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := g.partitions[partition]
	return from(all[:len(all)-len(from(all, high, len(all)))], low, len(all))
}

// Lag returns how many records are not committed.
func (g *Group) Lag() (lag int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p, all := range g.partitions {
		lag += len(from(all, g.committed[p], len(all)))
	}
	return lag
}

// commit stores offsets for a member, all or none.
func (g *Group) commit(c *Client, offsets map[int32]int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range offsets {
		if g.owner[p] != c {
			return fmt.Errorf("commit of partition %d: %w", p, ErrNotOwner)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(offsets)) {
		if g.OnCommit != nil {
			before := g.committed[p]
			g.mu.Unlock() // it may ask for records
			g.OnCommit(p, before, offsets[p])
			g.mu.Lock()
		}
		g.committed[p] = offsets[p]
	}
	g.notify()
	return nil
}

// join and leave share the partitions out anew. The lock is held.
func (g *Group) join(c *Client) {
	g.members = append(g.members, c)
	g.share()
}

func (g *Group) leave(c *Client) {
	g.members = slices.DeleteFunc(g.members, func(m *Client) bool { return m == c })
	g.share()
}

func (g *Group) share() {
	for p := range g.target {
		g.target[p] = nil
		if n := len(g.members); n > 0 {
			g.target[p] = g.members[p%n]
		}
	}
	g.notify()
}

// notify wakes all who wait for a change. The lock is held.
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
