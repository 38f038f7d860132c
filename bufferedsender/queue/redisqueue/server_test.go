package redisqueue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// calls numbers the calls of the tests.
var calls atomic.Uint64

var testAdder = queue.NewID()

func callOf(body string, keys ...string) queue.Call {
	c := queue.Call{Adder: testAdder, Number: calls.Add(1)}
	for _, k := range keys {
		c.Records = append(c.Records, queue.Record{Key: k, Op: models.ActionTypeUpload, Body: []byte(body)})
	}
	return c
}

func add(t testing.TB, q *Queue, keys ...string) {
	t.Helper()
	_, err := q.Append(t.Context(), callOf("body", keys...))
	require.NoError(t, err)
}

func take(t testing.TB, q *Queue, n int) []queue.Lease {
	t.Helper()
	leases, err := q.Reserve(t.Context(), queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: n, Bytes: 1 << 30, For: time.Minute})
	require.NoError(t, err)
	return leases
}

func commit(t testing.TB, q *Queue, leases []queue.Lease) (stale []queue.Lease) {
	t.Helper()
	ends := make([]queue.End, len(leases))
	for i := range leases {
		ends[i] = queue.End{Lease: leases[i], Fate: queue.Commit}
	}
	stale, failed, err := q.Settle(t.Context(), ends...)
	require.NoError(t, err)
	require.Empty(t, failed)
	return stale
}

func open(t testing.TB, c redis.UniversalClient, o *Options) *Queue {
	t.Helper()
	q, err := New(t.Context(), c, newName(t), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, q.Close()) })
	return q
}

func TestOpenByURLSharesOneClient(t *testing.T) {
	url := servers.Redis(t).URL()
	a, err := Open(url, newName(t), nil)
	require.NoError(t, err)
	b, err := Open(url, newName(t), nil)
	require.NoError(t, err)
	require.Same(t, a.client, b.client)
	add(t, a, "a")
	require.NoError(t, a.Close())
	add(t, b, "a")
	require.NoError(t, b.Close())
	require.NoError(t, b.Close())
	_, err = b.Stats(t.Context())
	require.ErrorIs(t, err, queue.ErrClosed)
	_, err = Open("redis://127.0.0.1:1", "x", nil)
	require.Error(t, err)
	_, err = Open("http://x", "x", nil)
	require.Error(t, err)
}

func TestOpenByURLFindsTheCluster(t *testing.T) {
	q, err := Open(servers.Cluster(t).Nodes[4].URL(), newName(t), nil)
	require.NoError(t, err)
	require.Len(t, q.shards, shardsOfCluster)
	add(t, q, "a", "b", "c")
	require.Len(t, take(t, q, 3), 3)
	require.NoError(t, q.Close())
}

func TestQueueKeepsWhatItWasMadeWith(t *testing.T) {
	c, name := newClient(t, servers.Redis(t).Addr()), newName(t)
	made, err := New(t.Context(), c, name, &Options{Shards: 3, Index: "hotels", Endpoint: "https://one"})
	require.NoError(t, err)
	again, err := New(t.Context(), c, name, nil)
	require.NoError(t, err)
	require.Len(t, again.shards, 3)
	for want, o := range map[string]Options{
		"has 3 shards, want 4":                           {Shards: 4},
		`is for index "hotels", not "rooms"`:             {Index: "rooms"},
		`is for endpoint "https://one", not "https://2"`: {Endpoint: "https://2"},
	} {
		_, err := New(t.Context(), c, name, &o)
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, c.HSet(t.Context(), keysOf(name, 0)[0], "v", format+1).Err())
	_, err = New(t.Context(), c, name, nil)
	require.ErrorContains(t, err, "use a newer program")
	require.NoError(t, c.HSet(t.Context(), keysOf(name, 0)[0], "v", format).Err())
	require.NoError(t, made.Destroy(t.Context()))
	require.Empty(t, c.Keys(t.Context(), strings.TrimSuffix(keysOf(name, 0)[0], "0}:m")+"*").Val())
}

func TestOptionsThatMakeNoSenseAreNamedAllAtOnce(t *testing.T) {
	_, err := New(t.Context(), newClient(t, servers.Redis(t).Addr()), "", &Options{Shards: 1025, MaxKeys: -1, Durability: -3})
	for _, want := range []string{"no name", "1025", "MaxKeys -1", "Durability -3"} {
		require.ErrorContains(t, err, want)
	}
}

func TestClientThatKeepsNoQueueIsRefused(t *testing.T) {
	ring := redis.NewRing(&redis.RingOptions{})
	defer ring.Close()
	for want, client := range map[string]redis.UniversalClient{
		"redisqueue: client is a Ring": ring,
		"redisqueue: client is nil":    (*redis.Client)(nil),
		"client is nil: make one":      nil,
	} {
		_, err := New(t.Context(), client, "q", nil)
		require.ErrorContains(t, err, want)
	}
}

func TestScriptsThatTheServerForgetsAreSentAgain(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t)
	q := open(t, newClient(t, server.Addr()), nil)
	for i := range 3 {
		server.CLI(t, "SCRIPT", "FLUSH")
		add(t, q, fmt.Sprint(i))
		server.CLI(t, "SCRIPT", "FLUSH")
		leases := take(t, q, 1)
		server.CLI(t, "SCRIPT", "FLUSH")
		require.Empty(t, commit(t, q, leases))
	}
}

func TestServerThatKeepsLessThanAskedForIsRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		args     []string
		asked    Durability
		refusal  string // "" means that it is accepted
		survives string
	}{
		"everysec":                  {nil, Server, "", "up to two seconds"},
		"everysec for a crash":      {nil, Process, "", "up to two seconds"},
		"everysec for disk":         {nil, Disk, "want yes and always for Disk", "up to two seconds"},
		"always":                    {[]string{"--appendfsync", "always"}, Disk, "", "is on the server's disk"},
		"nothing":                   {[]string{"--appendonly", "no"}, Server, "keeps nothing when its process ends", "keeps nothing when its process ends"},
		"snapshots":                 {[]string{"--appendonly", "no", "--save", "60 1"}, Server, "", "after its last snapshot"},
		"snapshots, asked":          {[]string{"--appendonly", "no", "--save", "60 1"}, Process, "want yes for Process", "after its last snapshot"},
		"evicting":                  {[]string{"--maxmemory-policy", "allkeys-lru"}, Server, "may evict keys", "may evict keys"},
		"evicting keys that expire": {[]string{"--maxmemory-policy", "volatile-lru"}, Server, "", "survives a crash"},
		"settings hidden":           {[]string{"--rename-command", "CONFIG", ""}, Server, "", "is unknown, appendfsync cannot be read"},
		"hidden, disk":              {[]string{"--rename-command", "CONFIG", ""}, Disk, "appendfsync unknown", "is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, servers.NewRedis(t, row.args...).Addr())
			_, err := New(t.Context(), c, "q", &Options{Durability: row.asked})
			if row.refusal == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.refusal)
			}
			q, err := New(t.Context(), c, "q", &Options{Durability: row.asked, AcceptWeaker: true})
			require.NoError(t, err)
			require.Contains(t, q.Survives(), row.survives)
		})
	}
}

func TestReplicaIsRefused(t *testing.T) {
	t.Parallel()
	master, replica := servers.NewRedis(t), servers.NewRedis(t)
	host, port, _ := strings.Cut(master.Addr(), ":")
	replica.CLI(t, "REPLICAOF", host, port)
	_, err := New(t.Context(), newClient(t, replica.Addr()), "q", nil)
	require.ErrorContains(t, err, "server is a replica")
}

func TestEachShardHasItsShareOfTheLimits(t *testing.T) {
	q := open(t, newClient(t, servers.Redis(t).Addr()), &Options{Shards: 4, MaxKeys: 40})
	full := 0
	for i := range 200 {
		if _, err := q.Append(t.Context(), callOf("body", fmt.Sprint("k", i))); err != nil {
			require.ErrorIs(t, err, queue.ErrFull)
			full++
		}
	}
	require.Equal(t, 160, full)
}

// TestPartOfACallMayBeFull covers a call that needs several scripts: the kept part is repeated with it.
func TestPartOfACallMayBeFull(t *testing.T) {
	q := open(t, newClient(t, servers.Redis(t).Addr()), &Options{MaxKeys: 1500})
	var keys []string
	for i := range 2000 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	call := callOf("body", keys...)
	_, err := q.Append(t.Context(), call)
	require.ErrorIs(t, err, queue.ErrFull)
	require.ErrorIs(t, err, queue.ErrUnknown)
	require.Empty(t, commit(t, q, take(t, q, 1000)))
	_, err = q.Append(t.Context(), call)
	require.NoError(t, err)
	s, err := q.Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1000, s.Waiting, "no record came twice")
	require.EqualValues(t, 2000, s.Appended)
}

func TestClobberedKeyIsNamedByEveryCallAndDeletingItHelps(t *testing.T) {
	ctx := context.Background()
	c := newClient(t, servers.Redis(t).Addr())
	for i, kind := range kinds {
		q := open(t, c, nil)
		add(t, q, "a", "b")
		leases := take(t, q, 1)
		key := q.shards[0].keys[i]
		require.NoError(t, c.Del(ctx, key).Err())
		require.NoError(t, c.Set(ctx, key, "somebody else's", 0).Err())
		_, err1 := q.Append(ctx, callOf("body", "c"))
		_, err2 := q.Reserve(ctx, queue.Want{Token: queue.NewID(), Keys: 1, Bytes: 1, For: time.Second})
		_, _, err3 := q.Settle(ctx, queue.End{Lease: leases[0], Fate: queue.Commit})
		_, err4 := q.Stats(ctx)
		_, err5 := q.Contains(ctx, "a")
		_, err6 := q.Inspect(ctx, queue.Inspection{})
		_, err7 := q.Extend(ctx, time.Minute, leases...)
		for _, err := range []error{err1, err2, err3, err4, err5, err6, err7} {
			require.ErrorContains(t, err, key, kind)
		}
		require.NoError(t, c.Del(ctx, key).Err())
		if kind == "m" {
			_, err := q.Stats(ctx)
			require.ErrorIs(t, err, queue.ErrLost)
			_, err = New(ctx, c, q.name, nil)
			require.ErrorContains(t, err, "has lost its marker")
			continue
		}
		_, err := q.Repair(ctx, 1000)
		require.NoError(t, err)
		add(t, q, "d")
		require.NotEmpty(t, take(t, q, 10), kind)
	}
}

// TestWhatIsMissingIsFoundAndRepaired removes one Redis key of each kind from a shard.
func TestWhatIsMissingIsFoundAndRepaired(t *testing.T) {
	ctx := t.Context()
	c := newClient(t, servers.Redis(t).Addr())
	for name, row := range map[string]struct {
		damage func(q *Queue, keys []string)
		left   int
		lost   int64
	}{
		"a record":                {func(_ *Queue, k []string) { c.HDel(ctx, k[2], c.HKeys(ctx, k[2]).Val()[0]) }, 3, 1},
		"leased without a lease":  {func(_ *Queue, k []string) { c.ZPopMin(ctx, k[6]) }, 4, 0},
		"all leases":              {func(_ *Queue, k []string) { c.Del(ctx, k[6]) }, 4, 0},
		"waiting without a place": {func(_ *Queue, k []string) { c.ZPopMin(ctx, k[3]) }, 4, 0},
		"an entry":                {func(_ *Queue, k []string) { c.HDel(ctx, k[1], c.HKeys(ctx, k[1]).Val()[0]) }, 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newClock()
			q := open(t, c, &Options{clock: cl.now})
			add(t, q, "a", "b", "c", "d")
			require.Len(t, take(t, q, 2), 2)
			row.damage(q, q.shards[0].keys)
			_, err := q.Reserve(ctx, queue.Want{Token: queue.NewID(), Keys: 1, Bytes: 1, For: time.Second})
			require.ErrorContains(t, err, q.shards[0].keys[0][:10])
			require.ErrorIs(t, err, errDamaged)
			done, err := q.Repair(ctx, 1)
			require.ErrorContains(t, err, "more than 1 keys")
			require.Zero(t, done.Lost)
			done, err = q.Repair(ctx, 100)
			require.NoError(t, err)
			require.Equal(t, row.lost, done.Lost)
			cl.advance(time.Minute)
			leases := take(t, q, 10)
			require.Len(t, leases, row.left)
			require.Empty(t, commit(t, q, leases))
			s, err := q.Stats(ctx)
			require.NoError(t, err)
			require.Zero(t, s.Waiting+s.Leased+s.Bytes)
			require.Zero(t, c.HLen(ctx, q.shards[0].keys[2]).Val(), "no record is left behind")
		})
	}
}

// TestNothingIsLeftBehind checks the Redis keys of an emptied queue.
func TestNothingIsLeftBehind(t *testing.T) {
	c := newClient(t, servers.Redis(t).Addr())
	q := open(t, c, nil)
	add(t, q, "a", "b", "c")
	_, err := q.Append(t.Context(), queue.Call{Adder: testAdder, Number: calls.Add(1), Records: []queue.Record{{Key: "a", Op: models.ActionTypeMerge, Body: []byte("x")}}})
	require.NoError(t, err)
	for range 3 {
		require.Empty(t, commit(t, q, take(t, q, 10)))
	}
	for i, kind := range kinds {
		n := c.Exists(t.Context(), q.shards[0].keys[i]).Val()
		require.Equal(t, strings.Contains("mayq", kind), n == 1, "key %s", kind)
	}
}

// An older version stored a taster and a group in the marker, two numbers of a holder, and lone suspects by position.
func TestSuspectsOfAnOlderVersionAreSent(t *testing.T) {
	c, cl := newClient(t, servers.Redis(t).Addr()), newClock()
	q := open(t, c, &Options{clock: cl.now})
	key := func(kind string) string { return q.shards[0].keys[slices.Index(kinds[:], kind)] }
	add(t, q, "a", "b", "c")
	take(t, q, 3)
	cl.advance(time.Hour)
	held := take(t, q, 2)
	require.NoError(t, c.HSet(t.Context(), key("m"), "grp", 1, "ns", 3, "tas", strings.Repeat("x", 16)).Err())
	for holder, value := range c.HGetAll(t.Context(), key("h")).Val() {
		require.NoError(t, c.HSet(t.Context(), key("h"), holder, value[:8]).Err())
	}
	require.Empty(t, commit(t, q, held))
	require.Empty(t, commit(t, q, take(t, q, 1)))
	require.Zero(t, c.Exists(t.Context(), key("h"), key("s"), key("k")).Val())
}

func TestStoppedServerLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t, "--appendfsync", "always")
	q := open(t, newClient(t, server.Addr()), &Options{Durability: Disk})
	acked := map[string]bool{}
	for round := range 3 {
		stop := make(chan struct{})
		done := make(chan []string)
		go func() { // appends through the death of the server until it is stopped
			var mine []string
			for i := 0; ; i++ {
				select {
				case <-stop:
					done <- mine
					return
				default:
				}
				key := fmt.Sprintf("k-%d-%d", round, i)
				_, err := q.Append(context.Background(), callOf("body", key))
				if assert.NoError(t, err) {
					mine = append(mine, key)
				}
			}
		}()
		time.Sleep(100 * time.Millisecond)
		server.Kill(t)
		server.Restart(t)
		time.Sleep(50 * time.Millisecond)
		close(stop)
		for _, k := range <-done {
			acked[k] = true
		}
	}
	require.NotEmpty(t, acked)
	for k := range acked {
		there, err := q.Contains(t.Context(), k)
		require.NoError(t, err)
		require.True(t, there[0], k)
	}
}

func TestCallWhoseAnswerIsLostIsUnknownAndItsRepeatAppliesItOnce(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t)
	q := open(t, newClient(t, server.Addr()), nil)
	call := callOf("body", "a")
	call.Records[0].Op = models.ActionTypeMerge
	server.Stop(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := q.Append(ctx, call)
	require.ErrorIs(t, err, queue.ErrUnknown)
	server.Cont(t)
	_, err = q.Append(t.Context(), call)
	require.NoError(t, err)
	leases := take(t, q, 10)
	require.Len(t, leases, 1)
	require.Len(t, leases[0].Records, 1)
}

func TestServerThatWasEmptiedHasLostTheQueue(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t)
	q := open(t, newClient(t, server.Addr()), nil)
	r, err := q.Append(t.Context(), callOf("body", "a"))
	require.NoError(t, err)
	server.CLI(t, "FLUSHALL")
	_, err = q.Append(t.Context(), callOf("body", "b"))
	require.ErrorIs(t, err, queue.ErrLost)
	again, err := New(t.Context(), q.client, q.name, nil)
	require.NoError(t, err)
	_, err = again.Settled(t.Context(), r.Position)
	require.ErrorIs(t, err, queue.ErrLost)
	_, err = q.Append(t.Context(), callOf("body", "b"))
	require.ErrorIs(t, err, queue.ErrLost, "another process has created the queue again")
}

func TestWatcherIsWokenByOthersAndByTime(t *testing.T) {
	c1, c2 := newClient(t, servers.Redis(t).Addr()), newClient(t, servers.Redis(t).Addr())
	a := open(t, c1, nil)
	b, err := New(t.Context(), c2, a.name, nil)
	require.NoError(t, err)
	woken := make(chan struct{}, 100)
	stop := a.Watch(func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	defer stop()
	wait := func(d time.Duration) {
		t.Helper()
		select {
		case <-woken:
		case <-time.After(d):
			t.Fatal("the caller was not woken")
		}
	}
	testkit.Eventually(t, func() bool { return c2.PubSubNumSub(t.Context(), a.channel).Val()[a.channel] == 1 })
	add(t, b, "a")
	wait(10 * time.Second)
	leases, err := b.Reserve(t.Context(), queue.Want{Token: queue.NewID(), Keys: 1, Bytes: 1, For: 300 * time.Millisecond})
	require.NoError(t, err)
	require.Len(t, leases, 1)
	for len(woken) > 0 {
		<-woken
	}
	wait(10 * time.Second)
	testkit.Eventually(t, func() bool { return len(take(t, a, 1)) == 1 })
	require.Len(t, commit(t, b, leases), 1, "a holder without a lease settles nothing")
}
