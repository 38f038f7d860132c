package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
			assert.NoError(t, c.CommitOffsetsSync(t.Context(), map[int32]int64{ids[0]: 0}), "it can still be committed")
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

func TestPollWaitsForARecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(1)
		c := NewClient(g, ClientOptions{})
		defer c.Kill()
		start := time.Now()
		time.AfterFunc(time.Second, func() { g.Produce("k", nil) })
		records, err := c.PollRecords(t.Context(), 10)
		require.NoError(t, err)
		assert.Len(t, records, 1)
		assert.Equal(t, time.Second, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = c.PollRecords(ctx, 10)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestOffsetsHaveGapsAndRecordsAreFoundAllTheSame(t *testing.T) {
	g := NewGroup(1)
	for range 120 {
		g.Produce("k", nil)
	}
	last := g.partitions[0][119].Offset
	assert.Equal(t, int64(121), last, "49 and 99 are left out")
	assert.Len(t, g.Records(0, 49, 1<<30), 71)
	assert.Len(t, g.Records(0, 0, 49), 49)
	assert.Equal(t, 120, g.Lag())
}
