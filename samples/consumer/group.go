package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

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

// Committed returns the next offset to be read of each partition.
func (g *Group) Committed() []int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.committed)
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
