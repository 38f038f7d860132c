package redisqueue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// fullOfAll returns a queue with one shard that has every kind of Redis key: 30 keys wait, one is a suspect, two are
// leased, two parked and two delayed.
func fullOfAll(t *testing.T, c redis.UniversalClient) (q *Queue, cl *clock, at queue.Position, leases []queue.Lease) {
	t.Helper()
	cl = newClock()
	q = open(t, c, &Options{clock: cl.now})
	end := func(fate queue.Fate, keys ...string) {
		add(t, q, keys...)
		ends := []queue.End{}
		for _, l := range take(t, q, len(keys)) {
			ends = append(ends, queue.End{Lease: l, Fate: fate, After: time.Hour, Reason: "bad"})
		}
		_, _, err := q.Settle(t.Context(), ends...)
		require.NoError(t, err)
	}
	end(queue.Park, "parked 1", "parked 2")
	end(queue.Release, "delayed 1", "delayed 2")
	add(t, q, "leased 1", "leased 2")
	leases = take(t, q, 2)
	add(t, q, "suspect")
	_, err := q.Reserve(t.Context(), queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 1, Bytes: 1, For: time.Second})
	require.NoError(t, err)
	cl.advance(2 * time.Second)
	_, err = q.Stats(t.Context()) // ends that lease
	require.NoError(t, err)
	var waiting []string
	for i := range 30 {
		waiting = append(waiting, fmt.Sprint("waiting ", i))
	}
	receipt, err := q.Append(t.Context(), callOf("body", waiting...))
	require.NoError(t, err)
	return q, cl, receipt.Position, leases
}

// everyCall makes each call of a queue about keys of fullOfAll, and returns the errors.
func everyCall(t *testing.T, q *Queue, at queue.Position, leases []queue.Lease) map[string]error {
	t.Helper()
	ctx, errs := t.Context(), map[string]error{}
	_, errs["Append"] = q.Append(ctx, callOf("newer", "waiting 1", "new"))
	_, errs["Reserve"] = q.Reserve(ctx, queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 1, Bytes: 1, For: time.Second})
	_, _, errs["Settle"] = q.Settle(ctx, queue.End{Lease: leases[0], Fate: queue.Commit})
	_, errs["Extend"] = q.Extend(ctx, time.Minute, leases...)
	_, errs["Settled"] = q.Settled(ctx, at)
	_, errs["Stats"] = q.Stats(ctx)
	_, errs["Contains"] = q.Contains(ctx, "waiting 1")
	_, errs["Inspect"] = q.Inspect(ctx, queue.Inspection{})
	_, errs["Park"] = q.Park(ctx, "", "waiting 1")
	_, errs["Unpark"] = q.Unpark(ctx, "parked 1")
	_, errs["Drop"] = q.Drop(ctx, "parked 2")
	_, errs["whether a call was kept"] = q.on(ctx, adderScript, 0, testAdder[:])
	_, errs["when to wake"] = q.on(ctx, nextScript, 0)
	return errs
}

func TestEachKeyThatIsDeletedIsNamedByEveryCallAndRepairLosesRecordsOnly(t *testing.T) {
	c, ctx := newClient(t, servers.Redis(t).Addr()), t.Context()
	for i, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			q, cl, at, leases := fullOfAll(t, c)
			keys := q.shards[0].keys
			require.EqualValues(t, len(kinds), c.Exists(ctx, keys...).Val(), "each Redis key exists")
			before := c.HGetAll(ctx, keys[2]).Val()
			require.NoError(t, c.Del(ctx, keys[i]).Err())
			woken := make(chan struct{}, 100)
			defer q.Watch(func() { woken <- struct{}{} })()
			<-woken // the sender asks and gets the error
			for call, err := range everyCall(t, q, at, leases) {
				assert.ErrorContains(t, err, keys[i], call)
				assert.ErrorIs(t, err, queue.ErrLost, call)
			}
			require.ErrorContains(t, q.Fault(), keys[i])
			if kind != "r" {
				require.Equal(t, before, c.HGetAll(ctx, keys[2]).Val(), "nothing was changed")
			}
			done, err := q.Repair(ctx, 1000)
			if kind == "m" {
				require.ErrorIs(t, err, queue.ErrLost)
				_, err = New(ctx, c, q.name, nil)
				require.ErrorContains(t, err, "has lost its marker")
				return
			}
			require.NoError(t, err)
			require.NoError(t, q.Fault())
			require.Equal(t, keys[i:i+1], done.Gone)
			settled, err := q.Settled(ctx, at)
			if kind == "r" {
				require.EqualValues(t, 37, done.Lost)
				require.Zero(t, done.Keys)
				require.ErrorIs(t, err, queue.ErrLost, "settlement can no longer be confirmed")
				return
			}
			require.Equal(t, Repaired{Keys: 37, Gone: done.Gone}, done)
			require.NoError(t, err)
			require.False(t, settled, "30 keys wait")
			allIsThere(t, q, cl, kind)
			settled, err = q.Settled(ctx, at)
			require.NoError(t, err)
			require.True(t, settled)
			require.Zero(t, c.Exists(ctx, keys[1], keys[2], keys[13]).Val(), "nothing is left behind")
		})
	}
}

// allIsThere reserves and commits all remaining keys of fullOfAll, in their previous state if a Redis key records it.
func allIsThere(t *testing.T, q *Queue, cl *clock, gone string) {
	t.Helper()
	s, err := q.Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, s.Parked)
	require.EqualValues(t, 35, s.Waiting)
	require.Zero(t, s.Leased)
	cl.advance(2 * time.Minute)
	drain := func() (keys []string) {
		for {
			leases := take(t, q, 100)
			for _, l := range leases {
				keys = append(keys, strings.Fields(l.Key)[0])
			}
			if commit(t, q, leases); len(leases) == 0 {
				slices.Sort(keys)
				return slices.Compact(keys)
			}
		}
	}
	due := drain()
	require.Contains(t, due, "waiting")
	require.Contains(t, due, "leased")
	require.Contains(t, due, "suspect")
	require.NotContains(t, due, "delayed", "without %s", gone)
	require.NotContains(t, due, "parked", "without %s", gone)
	n, err := q.Unpark(t.Context(), "parked 1", "parked 2")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	cl.advance(2 * time.Hour)
	require.Equal(t, []string{"delayed", "parked"}, drain())
}

func TestEntriesThatAreGoneAreMadeOfTheNewestChangesOfTheirKeys(t *testing.T) {
	c, cl := newClient(t, servers.Redis(t).Addr()), newClock()
	q := open(t, c, &Options{clock: cl.now})
	add(t, q, "b", "a")
	leased := take(t, q, 2)
	_, err := q.Append(t.Context(), callOf("newer", "a"))
	require.NoError(t, err)
	require.NoError(t, c.Del(t.Context(), q.shards[0].keys[1]).Err())
	_, err = q.Repair(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, take(t, q, 10), "requests of the earlier holder may be in flight")
	cl.advance(time.Minute)
	again := take(t, q, 10)
	require.Len(t, again, 2)
	require.Equal(t, []string{"b", "a"}, []string{again[0].Key, again[1].Key}, "the keys are in the order of arrival")
	require.Equal(t, "body", string(again[0].Records[0].Body))
	require.Len(t, again[1].Records, 1)
	require.Equal(t, "newer", string(again[1].Records[0].Body))
	require.Len(t, commit(t, q, leased), 2, "earlier leases are stale")
	require.Empty(t, commit(t, q, again))
}

// An older version stored records without their keys.
func TestRecordsOfAnOlderVersionAreSentAndCountedWhenTheirEntryIsGone(t *testing.T) {
	c := newClient(t, servers.Redis(t).Addr())
	q := open(t, c, nil)
	m, k, r := q.shards[0].keys[0], q.shards[0].keys[1], q.shards[0].keys[2]
	require.NoError(t, c.HSet(t.Context(), m, "v", 1).Err())
	old := func(key string) {
		add(t, q, key)
		seq := c.HGet(t.Context(), m, "seq").Val()
		var n int
		_, err := fmt.Sscan(seq, &n)
		require.NoError(t, err)
		field := string([]byte{0, 0, 0, 0, byte(n >> 8), byte(n)})
		blob := []byte(c.HGet(t.Context(), r, field).Val())
		blob[8] &^= keyed
		require.NoError(t, c.HSet(t.Context(), r, field, append(blob[:header:header], blob[header+2+len(key):]...)).Err())
	}
	old("a")
	again, err := New(t.Context(), c, q.name, nil)
	require.NoError(t, err)
	leases := take(t, again, 1)
	require.Equal(t, "body", string(leases[0].Records[0].Body))
	require.Empty(t, commit(t, again, leases))
	require.Equal(t, "2", c.HGet(t.Context(), m, "v").Val(), "an older program does not open the queue")
	old("b")
	require.NoError(t, c.Del(t.Context(), k).Err())
	done, err := again.Repair(t.Context(), 10)
	require.NoError(t, err)
	require.EqualValues(t, 1, done.Lost)
	require.Zero(t, done.Keys)
	require.NoError(t, again.Close())
}

// A request that was sent under a lease may arrive while the lease runs, and Uncertain later.
func TestRepairWithholdsLeasedKeysLikeTheEndOfTheirLease(t *testing.T) {
	c := newClient(t, servers.Redis(t).Addr())
	for gone, uncertain := range map[string]time.Duration{
		"": 7 * time.Second, "k": 7 * time.Second, "e": 7 * time.Second, "t": 5 * time.Second, "h": 7 * time.Second,
	} {
		t.Run(gone, func(t *testing.T) {
			cl := newClock()
			q := open(t, c, &Options{clock: cl.now})
			add(t, q, "a")
			want := queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 1, Bytes: 1 << 20, For: time.Minute, Uncertain: 7 * time.Second}
			leases, err := q.Reserve(t.Context(), want)
			require.NoError(t, err)
			require.Len(t, leases, 1)
			add(t, q, "a", "b")
			if gone != "" {
				require.NoError(t, c.Del(t.Context(), q.shards[0].keys[slices.Index(kinds[:], gone)]).Err())
			}
			_, err = q.Repair(t.Context(), 10)
			require.NoError(t, err)
			others := take(t, q, 10)
			require.Len(t, others, 1)
			require.Equal(t, "b", others[0].Key)
			require.Empty(t, commit(t, q, others))
			cl.advance(time.Minute + uncertain - time.Millisecond)
			require.Empty(t, take(t, q, 10))
			cl.advance(time.Millisecond)
			again := take(t, q, 10)
			require.Len(t, again, 1)
			require.Equal(t, "a", again[0].Key)
		})
	}
}
