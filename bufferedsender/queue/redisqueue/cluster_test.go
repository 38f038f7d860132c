package redisqueue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
	"github.com/go-azsearch/azsearch/internal/queuehistory"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// load appends to a queue and sends from it until it is stopped.
type load struct {
	added, sent atomic.Int64
	keys        map[string]bool // acknowledged
	stop        chan struct{}
	done        chan struct{}
}

// startLoad adds new keys, each once; with send, another goroutine reserves and commits them.
func startLoad(t *testing.T, q *Queue, send bool) *load {
	l := &load{keys: map[string]bool{}, stop: make(chan struct{}), done: make(chan struct{}, 2)}
	adder := queue.NewID()
	go func() {
		defer func() { l.done <- struct{}{} }()
		for n := uint64(1); ; n++ {
			select {
			case <-l.stop:
				return
			default:
			}
			c := queue.Call{Adder: adder, Number: n}
			for i := range 10 {
				c.Records = append(c.Records, queue.Record{Key: fmt.Sprintf("k-%d-%d", n, i), Op: "upload", Body: []byte("{}")})
			}
			if _, err := q.Append(context.Background(), c); !assert.NoError(t, err) {
				return
			}
			for i := range c.Records {
				l.keys[c.Records[i].Key] = true
			}
			l.added.Add(10)
		}
	}()
	go func() {
		defer func() { l.done <- struct{}{} }()
		holder := queue.NewID()
		for send {
			select {
			case <-l.stop:
				return
			default:
			}
			leases, err := q.Reserve(context.Background(), queue.Want{Token: queue.NewID(), Holder: holder, Keys: 100, Bytes: 1 << 20, For: time.Minute})
			if !assert.NoError(t, err) {
				return
			}
			l.commit(t, q, leases)
		}
	}()
	return l
}

func (l *load) commit(t *testing.T, q *Queue, leases []queue.Lease) {
	var ends []queue.End
	for i := range leases {
		ends = append(ends, queue.End{Lease: leases[i], Fate: queue.Commit})
	}
	// A settle whose reply was lost is repeated and finds its leases gone, so stale ends count as sent.
	_, failed, err := q.Settle(context.Background(), ends...)
	assert.NoError(t, err)
	l.sent.Add(int64(len(ends) - len(failed)))
}

func (l *load) end() {
	close(l.stop)
	<-l.done
	<-l.done
}

func TestSlotThatMovesUnderLoadLosesNothing(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	c := servers.NewCluster(t)
	client := &counting{ClusterClient: newCluster(t, c), seen: map[string]int{}}
	q := open(t, client, &Options{Shards: 2})
	l := startLoad(t, q, true)
	for shard := range q.shards {
		slot := c.Slot(t, q.shards[shard].keys[0])
		for _, to := range c.Masters(t) {
			c.MoveSlot(t, slot, to, func() { time.Sleep(2 * time.Millisecond) })
		}
	}
	before := l.sent.Load()
	testkit.Eventually(t, func() bool { return l.sent.Load() > before+100 }, "the load continues")
	l.end()
	for {
		leases := take(t, q, 1000)
		if len(leases) == 0 {
			break
		}
		l.commit(t, q, leases)
	}
	require.Equal(t, l.added.Load(), l.sent.Load())
	s, err := q.Stats(t.Context())
	require.NoError(t, err)
	require.Zero(t, s.Waiting+s.Leased)
	require.Equal(t, l.added.Load(), s.Appended)
	t.Log("retried replies:", client.seen)
	require.Positive(t, client.seen["TRYAGAIN"], "no script accessed keys on both sides")
}

func TestConcurrentCallsAreLinearizableWhileTheirSlotMoves(t *testing.T) {
	testkit.Long(t)
	c := servers.NewCluster(t)
	client := &counting{ClusterClient: newCluster(t, c), seen: map[string]int{}}
	moves := 0
	queuehistory.Check(t, backend(client, 4), queuehistory.Program{Seed: 1, Histories: 12, Phases: 6, Meanwhile: func(t *testing.T, h *queuetest.Harness, done <-chan struct{}) {
		slot := c.Slot(t, h.Queue.(*Queue).shards[0].keys[0]) // all keys of a history are in the first shard
		for {
			for _, to := range c.Masters(t) {
				select {
				case <-done:
					return
				default:
				}
				c.MoveSlot(t, slot, to, nil)
				moves++
			}
		}
	}})
	t.Log("moves: ", moves, ", retried replies:", client.seen)
	require.Positive(t, client.seen["TRYAGAIN"], "no script accessed keys on both sides")
}

// counting counts the cluster's errors that the client does not handle itself.
type counting struct {
	*redis.ClusterClient
	mu   sync.Mutex
	seen map[string]int
}

func (c *counting) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	answer := c.ClusterClient.EvalSha(ctx, sha, keys, args...)
	if err := answer.Err(); err != nil {
		word, _, _ := strings.Cut(err.Error(), " ")
		c.mu.Lock()
		c.seen[word]++
		c.mu.Unlock()
	}
	return answer
}

func TestFailoverWithReplicasLosesNothingThatWasAcknowledged(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	c := servers.NewCluster(t)
	q := open(t, newCluster(t, c), &Options{Shards: 4, Durability: Replicas(1), replicaTimeout: 20 * time.Second})
	require.Contains(t, q.Survives(), "a failover to one of these loses nothing")
	var victim *servers.RedisServer
	for shard := range q.shards {
		victim = c.Master(t, c.Slot(t, q.shards[shard].keys[0]))
	}
	l := startLoad(t, q, false)
	testkit.Eventually(t, func() bool { return l.added.Load() > 200 })
	victim.Kill(t)
	start := time.Now()
	// The new master has no replica until the dead one is back.
	testkit.Eventually(t, func() bool { return !slices.Contains(c.Masters(t), victim) && c.Ready() })
	t.Logf("the cluster has failed over after %v", time.Since(start))
	victim.Restart(t)
	before := l.added.Load()
	testkit.Eventually(t, func() bool { return l.added.Load() > before+100 })
	l.end()
	var keys []string
	for k := range l.keys {
		keys = append(keys, k)
	}
	there, err := q.Contains(t.Context(), keys...)
	require.NoError(t, err)
	for i := range keys {
		require.True(t, there[i], keys[i])
	}
}

// Writes acknowledged only by a master are lost with it, and no others.
func TestFailoverToAReplicaThatLagsLosesWhatItLacksAndNothingElse(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	c := servers.NewCluster(t)
	client := newCluster(t, c)
	safe := open(t, client, &Options{Shards: 1, Durability: Replicas(1), replicaTimeout: time.Minute})
	q, err := New(t.Context(), client, safe.name, nil)
	require.NoError(t, err)
	require.Contains(t, q.Survives(), "A failover to a replica")
	var had, lacks []string
	for i := range 20 {
		had, lacks = append(had, fmt.Sprint("had-", i)), append(lacks, fmt.Sprint("lacks-", i))
	}
	add(t, q, had[:19]...)
	held := take(t, q, 5)
	require.Len(t, held, 5)
	add(t, safe, had[19:]...) // the replica has this, and therefore everything before it

	master := c.Master(t, c.Slot(t, q.shards[0].keys[0]))
	replica := c.Replica(t, master)
	replica.Stop(t)
	master.CLI(t, "CLIENT", "KILL", "TYPE", "replica") // later writes must not be in its replication buffer
	add(t, q, lacks...)
	require.Empty(t, commit(t, q, held[:2]), "on the replica these keys are still leased")
	zombies := take(t, q, 30)
	require.Len(t, zombies, 30)
	master.Kill(t)
	replica.Cont(t)
	testkit.Eventually(t, func() bool { return slices.Contains(c.Masters(t), replica) && c.Ready() })

	add(t, q, "later")
	there, err := q.Contains(t.Context(), append(had, lacks...)...)
	require.NoError(t, err)
	for i := range had {
		require.True(t, there[i], had[i])
		require.False(t, there[len(had)+i], "the replica never had this key, so the test proves nothing: %s", lacks[i])
	}
	require.Len(t, commit(t, q, zombies), 30, "the replica lacks this reservation")
	require.Empty(t, commit(t, q, held[2:]), "only the leases of that key are stale")
	rest := take(t, q, 1000)
	require.Len(t, rest, len(had)-5+1)
	require.Empty(t, commit(t, q, rest))
	require.Empty(t, commit(t, q, held[:2]), "the committed keys come again: at least once")
	s, err := q.Stats(t.Context())
	require.NoError(t, err, "counts agree")
	require.Zero(t, s.Waiting+s.Leased)
	s2, err := q.Inspect(t.Context(), queue.Inspection{})
	require.NoError(t, err)
	require.Empty(t, s2)
}

func TestAppendThatReplicasDoNotConfirmIsUnknown(t *testing.T) {
	q := open(t, newClient(t, servers.Redis(t).Addr()), &Options{Durability: Replicas(1), replicaTimeout: time.Millisecond})
	_, err := q.Append(t.Context(), callOf("body", "a"))
	require.ErrorIs(t, err, queue.ErrUnknown)
	require.ErrorContains(t, err, "0 of 1 replicas have confirmed it: it may be kept, or not")
}
