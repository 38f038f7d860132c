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
	q.patience = 5 * time.Millisecond
	for range 40 { // senders that start and stop during the outage, each with its process's context
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
		leases, _ := q.Reserve(ctx, queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 100, Bytes: 1 << 30, For: 30 * time.Millisecond})
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
