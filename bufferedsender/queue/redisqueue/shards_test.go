package redisqueue

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestWrappedClusterClientWaitsForTheRightReplicas(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	c := servers.NewCluster(t)
	client := &counting{ClusterClient: newCluster(t, c), seen: map[string]int{}}
	for name, cl := range map[string]redis.UniversalClient{"wrapped": client, "plain": client.ClusterClient} {
		q, err := New(t.Context(), cl, newName(t), &Options{Shards: 8, Durability: Replicas(1), replicaTimeout: 500 * time.Millisecond})
		if err != nil {
			t.Log(name, "refused:", err)
			continue
		}
		acks := 0
		for shard := range q.shards {
			master := c.Master(t, c.Slot(t, q.shards[shard].keys[0]))
			replica := c.Replica(t, master)
			replica.Stop(t)
			key := ""
			for i := 0; ; i++ {
				if key = fmt.Sprint("k", i); q.shardOf(key) == shard {
					break
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			_, err := q.Append(ctx, callOf("body", key))
			cancel()
			if err == nil {
				acks++
			}
			replica.Cont(t)
		}
		t.Logf("%s: %d of %d were acknowledged though the only replica was stopped", name, acks, len(q.shards))
		require.Zero(t, acks, name)
	}
}

// failingShard is a client for which one shard fails.
type failingShard struct {
	*redis.Client
	tag string
	err atomic.Pointer[error]
}

func (c *failingShard) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	if e := c.err.Load(); e != nil && strings.HasPrefix(keys[0], c.tag) {
		cmd := redis.NewCmd(ctx)
		cmd.SetErr(*e)
		return cmd
	}
	return c.Client.EvalSha(ctx, sha, keys, args...)
}

func TestShardThatIsDownStopsItselfOnly(t *testing.T) {
	q, c := fourShards(t)
	e := error(said("CLUSTERDOWN Hash slot not served"))
	c.err.Store(&e)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	n := 0
	for i := 0; i < 8; i++ {
		want := queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 100, Bytes: 1 << 30, For: 100 * time.Millisecond}
		want.Token[3] = 3 // begins with the failing shard, as every fourth call does
		leases, err := q.Reserve(ctx, want)
		n += len(leases)
		if err != nil {
			t.Log(err)
			break
		}
		commit(t, q, leases)
	}
	require.Positive(t, n, "three healthy shards handed out nothing in three seconds")
}

func TestShardThatIsDownParksNobody(t *testing.T) {
	q, c := fourShards(t)
	e := error(said("CLUSTERDOWN Hash slot not served"))
	c.err.Store(&e)
	for range 40 { // senders that start and stop during the outage, each with its process's context
		q.patience = 5 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
		leases, _ := q.Reserve(ctx, queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 100, Bytes: 1 << 30, For: 30 * time.Millisecond})
		q.patience = time.Minute
		for _, l := range leases {
			_, _, err := q.Settle(t.Context(), queue.End{Lease: l, Fate: queue.Release})
			require.NoError(t, err)
		}
		cancel()
		time.Sleep(20 * time.Millisecond)
	}
	c.err.Store(nil)
	s, err := q.Stats(t.Context())
	require.NoError(t, err)
	t.Logf("expired %d, parked %d", s.Expired, s.Parked)
	require.Zero(t, s.Parked, "keys that were never sent are parked as poison")
}

// downShard returns a queue with four shards, leases of all its keys for a minute, and makes the last shard fail.
func downShard(t *testing.T) (q *Queue, c *failingShard, cl *clock, leases []queue.Lease) {
	c, cl = &failingShard{Client: newClient(t, servers.Redis(t).Addr())}, newClock()
	q = open(t, c, &Options{Shards: 4, clock: cl.now})
	q.patience = 500 * time.Millisecond // more than a healthy shard needs
	var keys []string
	for i := range 40 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	add(t, q, keys...)
	leases = take(t, q, 40)
	require.Len(t, leases, 40)
	e := error(said("CLUSTERDOWN Hash slot not served"))
	c.tag, _, _ = strings.Cut(q.shards[0].keys[0], "}") // the others come after it
	c.err.Store(&e)
	return q, c, cl, leases
}

func (c *failingShard) of(q *Queue, leases []queue.Lease) (down []queue.Lease) {
	for _, l := range leases {
		if strings.HasPrefix(q.shards[q.shardOf(l.Key)].keys[0], c.tag) {
			down = append(down, l)
		}
	}
	return down
}

func TestShardThatIsDownFailsItsEndsOnly(t *testing.T) {
	q, c, _, leases := downShard(t)
	down := c.of(q, leases)
	var ends []queue.End
	for _, l := range leases {
		ends = append(ends, queue.End{Lease: l, Fate: queue.Commit})
	}
	waiting := ""
	for i := 40; ; i++ {
		if waiting = fmt.Sprint("k", i); q.shardOf(waiting) == 1 {
			break
		}
	}
	add(t, q, waiting)
	want := queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 100, Bytes: 1 << 30, For: time.Minute}
	got, stale, failed, err := q.Exchange(t.Context(), want, ends...)
	require.ErrorContains(t, err, "CLUSTERDOWN")
	require.Empty(t, stale)
	require.Len(t, got, 1, "the other shards hand out what waits")
	require.ElementsMatch(t, down, failed)
	_, failed, err = q.Settle(t.Context(), ends...)
	require.Error(t, err)
	require.ElementsMatch(t, down, failed)
	c.err.Store(nil)
	s, err := q.Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(down)+1, s.Leased, "the others are settled")
}

func TestShardThatIsDownDoesNotKeepLeasesOfOthersFromBeingExtended(t *testing.T) {
	q, c, cl, leases := downShard(t)
	down := c.of(q, leases)
	cl.advance(30 * time.Second)
	lost, err := q.Extend(t.Context(), time.Minute, leases...)
	require.ErrorContains(t, err, "CLUSTERDOWN")
	require.Empty(t, lost)
	c.err.Store(nil)
	cl.advance(45 * time.Second)
	s, err := q.Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(down), s.Expired)
	require.EqualValues(t, len(leases)-len(down), s.Leased)
}

// An answered reservation without leases is repeated if ends of the same call failed.
func TestReservationThatFoundNothingNeedsNoShardWhenItIsRepeated(t *testing.T) {
	q, _, _, leases := downShard(t)
	want := queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 100, Bytes: 1 << 30, For: time.Minute}
	ends := make([]queue.End, len(leases))
	for i := range ends {
		ends[i] = queue.End{Lease: leases[i], Fate: queue.Commit}
	}
	got, _, failed, err := q.Exchange(t.Context(), want, ends...)
	require.Error(t, err)
	require.NotEmpty(t, failed)
	require.Empty(t, got)
	got, err = q.Reserve(t.Context(), want)
	require.NoError(t, err)
	require.Empty(t, got)
}

// A holder gets nothing of other shards while it may have a suspect of this one, which goes alone.
func TestShardThatIsDownDrainsTheHoldersOfItsLeasesOnly(t *testing.T) {
	q, c := fourShards(t)
	q.patience = 500 * time.Millisecond // more than a healthy shard needs
	holder := queue.NewID()
	reserve := func() ([]queue.Lease, error) {
		return q.Reserve(t.Context(), queue.Want{Token: queue.NewID(), Holder: holder, Keys: 100, Bytes: 1 << 30, For: time.Minute})
	}
	e := error(said("CLUSTERDOWN Hash slot not served"))
	c.err.Store(&e)
	q.held.drain(holder, 3, true)
	q.held.leased(&queue.Want{Token: queue.ID{1}, Holder: holder, For: time.Minute}, 3, 1, q.now())
	leases, err := reserve()
	require.ErrorContains(t, err, "CLUSTERDOWN")
	require.Empty(t, leases)
	q.held.ended(queue.ID{1}, 3)
	leases, err = reserve()
	require.NoError(t, err)
	require.NotEmpty(t, leases)
}
