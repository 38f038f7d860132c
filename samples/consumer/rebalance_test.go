package main

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestRevokedPartitionIsHandedOverWhenItsRequestsHaveEnded(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{ReplyDelay: searchtest.Duration(3 * time.Second)})
		r.add("p", 3000) // more than fit into the requests in flight
		a := r.member("a")
		time.Sleep(time.Second)
		require.Positive(t, r.service.Emulator.DocumentCount(indexName))
		b := r.member("b")
		r.consumed()
		require.NoError(t, a.stop())
		require.NoError(t, b.stop())
		least, most := r.times("p", 3000)
		assert.Equal(t, [2]int{1, 1}, [2]int{least, most}, "nothing was lost, and nothing sent by both")
	})
}

func TestNextOwnerWritesWhenNoOldRequestCanComeLast(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, r *rig) {
		var mu sync.Mutex
		var cut time.Time
		assigned := map[int32]time.Time{}
		r.faults(searchtest.Fault{Delay: searchtest.Duration(2 * time.Second), Cut: searchtest.CutAfterCommit, Count: 1})
		r.add("p", 40)
		a := r.member("a")
		time.Sleep(time.Second)
		b := NewClient(r.group, ClientOptions{OnPartitionsAssigned: func(_ context.Context, _ *Client, ids []int32) {
			mu.Lock()
			defer mu.Unlock()
			for _, id := range ids {
				assigned[id] = time.Now()
			}
		}})
		time.Sleep(20 * time.Second)
		for _, rec := range r.service.Emulator.Requests() {
			if rec.Err != nil {
				cut = rec.Time.Add(rec.Duration)
			}
		}
		require.False(t, cut.IsZero())
		mu.Lock()
		require.Len(t, assigned, 1)
		for _, at := range assigned {
			assert.GreaterOrEqual(t, at.Sub(cut), 5*time.Second)
			assert.Less(t, at.Sub(cut), 6*time.Second)
		}
		mu.Unlock()
		b.LeaveGroup()
		r.consumed()
		require.NoError(t, a.stop())
	})
}

// A hanging request must not delay a rebalance beyond its timeout.
func TestRequestThatHangsDoesNotHoldUpARebalance(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{Delay: searchtest.Duration(time.Hour), Count: 4})
		r.add("p", 3000)
		a := r.member("a")
		time.Sleep(time.Second)
		began := time.Now()
		assigned := make(chan time.Time, 1)
		b := NewClient(r.group, ClientOptions{OnPartitionsAssigned: func(context.Context, *Client, []int32) {
			assigned <- time.Now()
		}})
		assert.LessOrEqual(t, (<-assigned).Sub(began), 30*time.Second)
		b.LeaveGroup()
		r.consumed()
		require.NoError(t, a.stop())
	})
}

func TestLostPartitionIsNotWrittenAnyMore(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{Status: 503, RetryAfter: searchtest.Duration(5 * time.Second), Count: 1})
		r.add("p", 10)
		c, end := r.consumer()
		time.Sleep(time.Second)
		require.Equal(t, 10, c.sender.Stats().PendingActions)
		old := c.partition(0)
		c.client.Expire() // assigned to it again at once: there is no other member
		synctest.Wait()
		assert.NotSame(t, old, c.partition(0), "the old marks are of no use")
		_, ok := old.water.Mark()
		assert.False(t, ok, "withdrawn records are not settled")
		r.consumed()
		end()
		_, most := r.times("p", 10)
		assert.Equal(t, 1, most)
	})
}

func TestTwoMembersShareThePartitions(t *testing.T) {
	inBubble(t, 4, func(t *testing.T, r *rig) {
		var members []*member
		for _, name := range []string{"a", "b", "c"} {
			r.add(name, 100)
			members = append(members, r.member(name))
			time.Sleep(time.Second)
		}
		r.group.mu.Lock()
		owners := map[*Client]int{}
		for _, owner := range r.group.owner {
			owners[owner]++
		}
		r.group.mu.Unlock()
		assert.Len(t, owners, 3)
		assert.NotContains(t, owners, nil)
		for _, m := range members {
			r.add(m.name, 100) // the remaining member must read it
			require.NoError(t, m.stop())
		}
		last := r.member("d")
		r.consumed()
		require.NoError(t, last.stop())
	})
}

func TestOnlyTheOwnerOfAPartitionCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(1)
		g.Produce("k", nil)
		a := NewClient(g, ClientOptions{})
		synctest.Wait()
		require.NoError(t, a.CommitOffsetsSync(t.Context(), map[int32]int64{0: 1}))
		b := NewClient(g, ClientOptions{OnPartitionsAssigned: func(context.Context, *Client, []int32) {}})
		assert.ErrorIs(t, b.CommitOffsetsSync(t.Context(), map[int32]int64{0: 0}), ErrNotOwner)
		a.LeaveGroup()
		synctest.Wait()
		assert.ErrorIs(t, a.CommitOffsetsSync(t.Context(), map[int32]int64{0: 0}), ErrNotOwner)
		assert.NoError(t, b.CommitOffsetsSync(t.Context(), map[int32]int64{0: 1}))
		b.Kill()
	})
}

func TestNoPartitionIsTakenAwayBetweenPollAndAllowRebalance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(2)
		revoked := 0
		a := NewClient(g, ClientOptions{OnPartitionsRevoked: func(_ context.Context, c *Client, ids []int32) {
			revoked += len(ids)
			assert.NoError(t, c.CommitOffsetsSync(t.Context(), map[int32]int64{ids[0]: 0}), "the offset can still be committed")
		}})
		g.Produce("k", nil)
		records, err := a.PollRecords(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, records, 1)
		b := NewClient(g, ClientOptions{})
		synctest.Wait()
		assert.Zero(t, revoked)
		a.AllowRebalance()
		synctest.Wait()
		assert.Equal(t, 1, revoked)
		a.LeaveGroup()
		b.LeaveGroup()
		assert.Equal(t, 2, revoked)
	})
}

func TestOffsetsHaveGapsAndRecordsAreFoundAllTheSame(t *testing.T) {
	g := NewGroup(1)
	for range 120 {
		g.Produce("k", nil)
	}
	last := g.partitions[0][119].Offset
	assert.Equal(t, int64(121), last, "49 and 99 are left out")
	assert.Len(t, g.from(0, 49), 71)
	assert.Len(t, g.from(0, 50), 71)
	assert.Equal(t, 120, g.Lag())
}

// Committed returns the next offset to read of each partition.
func (g *Group) Committed() []int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.committed)
}

// Expire simulates a missed session timeout: the group takes the client's partitions, and may assign them again
// later.
func (c *Client) Expire() {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	c.free()
}
