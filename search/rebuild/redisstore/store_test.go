package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/rediskit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/search/rebuild"
	"github.com/go-azsearch/azsearch/search/rebuild/internal/storetest"
)

func TestMain(m *testing.M) { servers.Main(m) }

var lastName atomic.Int64

// newName returns a store name that is unique in this process.
func newName() string { return fmt.Sprint("hotels-", lastName.Add(1)) }

func newClient(t *testing.T, server *servers.RedisServer) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func newCluster(t *testing.T, c *servers.RedisCluster) *redis.ClusterClient {
	t.Helper()
	// Other reads may go to any node; those of the store must not.
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), ContextTimeoutEnabled: true, ReadOnly: true, RouteRandomly: true})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func newStore(t *testing.T, client redis.UniversalClient, opts Options) *Store {
	t.Helper()
	if opts.Name == "" {
		opts.Name = newName()
	}
	s, err := New(client, opts)
	require.NoError(t, err)
	return s
}

// marking stores a record with marking enabled.
func marking(t *testing.T, s *Store) rebuild.Record {
	t.Helper()
	x, err := s.Swap(t.Context(), rebuild.Record{Phase: rebuild.PhaseMarking, Route: "x", Epoch: 1, Round: 1})
	require.NoError(t, err)
	return x
}

func mark(t *testing.T, s *Store, keys ...string) {
	t.Helper()
	_, err := s.Mark(t.Context(), 1, keys)
	require.NoError(t, err)
}

// places runs a test on each kind of server.
func places(t *testing.T, test func(t *testing.T, open func(t *testing.T) storetest.Place)) {
	for name, row := range map[string]struct {
		client func(t *testing.T) redis.UniversalClient
		opts   Options
	}{
		"server":           {func(t *testing.T) redis.UniversalClient { return newClient(t, servers.Redis(t)) }, Options{}},
		"cluster":          {func(t *testing.T) redis.UniversalClient { return newCluster(t, servers.Cluster(t)) }, Options{}},
		"cluster, replica": {func(t *testing.T) redis.UniversalClient { return newCluster(t, servers.Cluster(t)) }, Options{Replicas: 1, replicaTimeout: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := row.client(t)
			test(t, func(t *testing.T) storetest.Place {
				again, other := row.opts, row.opts
				again.Name, other.Name = newName(), newName()
				return storetest.Place{
					Again: func() rebuild.Store { return newStore(t, client, again) },
					Other: func() rebuild.Store { return newStore(t, client, other) },
				}
			})
		})
	}
}

func TestStoresKeepTheirPromises(t *testing.T) { places(t, storetest.Run) }

func TestNoMarkComesBehindTheSwapThatEndsItsRoundConcurrentSafe(t *testing.T) {
	places(t, storetest.NoMarkComesBehindTheSwapThatEndsItsRound)
}

func TestOptionsThatMakeNoSenseAreNamedAllAtOnce(t *testing.T) {
	_, err := New(nil, Options{Replicas: -1})
	for _, want := range []string{"client is nil", "Name is empty", "Replicas is -1"} {
		require.ErrorContains(t, err, want)
	}
	good := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true})
	defer good.Close()
	for _, name := range []string{"a b", "a}b", "{", "ß", strings.Repeat("x", 129)} {
		_, err := New(good, Options{Name: name})
		require.ErrorContains(t, err, "Name is")
	}
	unbounded, ring, cluster := redis.NewClient(&redis.Options{}), redis.NewRing(&redis.RingOptions{}), redis.NewClusterClient(&redis.ClusterOptions{})
	defer unbounded.Close()
	defer ring.Close()
	defer cluster.Close()
	for want, client := range map[string]redis.UniversalClient{
		"has no ContextTimeoutEnabled":   unbounded,
		"client has no ContextTimeoutEn": cluster,
		"client is a Ring":               ring,
		"client is nil":                  (*redis.Client)(nil),
		"client is nil: make one":        (*redis.ClusterClient)(nil),
	} {
		_, err := New(client, Options{Name: "hotels"})
		require.ErrorContains(t, err, want)
	}
}

func TestTheKeysOfAStoreAreInOneSlotOfACluster(t *testing.T) {
	c := newCluster(t, servers.Cluster(t))
	for _, name := range []string{"hotels", "a:b", "-._", strings.Repeat("x", 128)} {
		s := newStore(t, c, Options{Name: name})
		for _, key := range s.keys {
			assert.Equal(t, c.ClusterKeySlot(t.Context(), s.keys[0]).Val(), c.ClusterKeySlot(t.Context(), key).Val(), key)
		}
	}
}

func TestScriptsThatTheServerForgetsAreSentAgain(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t)
	s := newStore(t, newClient(t, server), Options{})
	for round := int64(1); round <= 3; round++ {
		server.CLI(t, "SCRIPT", "FLUSH")
		x, err := s.Load(t.Context())
		require.NoError(t, err)
		server.CLI(t, "SCRIPT", "FLUSH")
		x.Phase, x.Epoch, x.Round = rebuild.PhaseMarking, 1, round
		_, err = s.Swap(t.Context(), x)
		require.NoError(t, err)
		server.CLI(t, "SCRIPT", "FLUSH")
		mark(t, s, "a")
		server.CLI(t, "SCRIPT", "FLUSH")
		require.NoError(t, s.Unmark(t.Context(), round, []string{"a"}))
	}
}

// go-redis retries a request whose reply is lost.
func TestASwapThatIsSentTwiceIsNotTakenForSomebodyElses(t *testing.T) {
	client := newClient(t, servers.Redis(t))
	s := newStore(t, &twice{Client: client}, Options{})
	x := marking(t, s)
	x.Route = "y"
	x, err := s.Swap(t.Context(), x)
	require.NoError(t, err)
	got, err := s.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, x, got)
	x.Version--
	_, err = s.Swap(t.Context(), x)
	require.ErrorIs(t, err, rebuild.ErrChanged)
}

// twice sends each script twice and returns the second reply.
type twice struct{ *redis.Client }

func (c *twice) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	if first := c.Client.EvalSha(ctx, sha, keys, args...); redis.HasErrorPrefix(first.Err(), "NOSCRIPT") {
		return first
	}
	return c.Client.EvalSha(ctx, sha, keys, args...)
}

func (c *twice) Eval(ctx context.Context, source string, keys []string, args ...any) *redis.Cmd {
	_ = c.Client.Eval(ctx, source, keys, args...)
	return c.Client.Eval(ctx, source, keys, args...)
}

func TestARecordThatIsMadeAfterALossIsNewerThanTheOneThatWasLost(t *testing.T) {
	client := newClient(t, servers.Redis(t))
	s := newStore(t, client, Options{})
	x := marking(t, s)
	for range 5 {
		var err error
		x, err = s.Swap(t.Context(), x)
		require.NoError(t, err)
	}
	mark(t, s, "a")
	require.NoError(t, client.Del(t.Context(), s.keys...).Err())
	got, err := s.Load(t.Context())
	require.NoError(t, err)
	assert.Zero(t, got)
	_, err = s.Mark(t.Context(), 1, []string{"a"})
	require.ErrorIs(t, err, rebuild.ErrStale)
	_, err = s.Swap(t.Context(), x)
	require.ErrorIs(t, err, rebuild.ErrChanged)
	made, err := s.Swap(t.Context(), rebuild.Record{Phase: rebuild.PhaseIdle})
	require.NoError(t, err)
	assert.Greater(t, made.Version, x.Version)
	_, err = s.Swap(t.Context(), x)
	require.ErrorIs(t, err, rebuild.ErrChanged)
}

func TestMarksThatSomebodyHasDeletedAreMissedUntilTheRebuildIsAborted(t *testing.T) {
	client := newClient(t, servers.Redis(t))
	s := newStore(t, client, Options{})
	x := marking(t, s)
	mark(t, s, "a", "b", "c")
	mark(t, s, "c", "d")
	require.NoError(t, s.Unmark(t.Context(), 1, []string{"a", "unknown"}))
	keys, err := s.Marked(t.Context(), 1, 10)
	require.NoError(t, err)
	require.Len(t, keys, 3)
	require.NoError(t, client.Del(t.Context(), s.keys[1]).Err())
	for range 2 {
		_, err = s.Marked(t.Context(), 1, 10)
		require.ErrorContains(t, err, "were deleted or evicted")
		mark(t, s, "e")
		x.Round++
		x, err = s.Swap(t.Context(), x)
		require.NoError(t, err)
	}
	x.Phase = rebuild.PhaseIdle
	x, err = s.Swap(t.Context(), x)
	require.NoError(t, err)
	keys, err = s.Marked(t.Context(), x.Round, 10)
	require.NoError(t, err)
	require.Equal(t, []string{"e"}, keys)
	x.Phase = rebuild.PhaseMarking
	_, err = s.Swap(t.Context(), x)
	require.NoError(t, err)
	_, err = s.Marked(t.Context(), 1, 10)
	require.NoError(t, err)
}

func TestAKeyOfAnotherTypeIsAnErrorThatSaysSo(t *testing.T) {
	client := newClient(t, servers.Redis(t))
	s := newStore(t, client, Options{})
	marking(t, s)
	require.NoError(t, client.Set(t.Context(), s.keys[1], "x", 0).Err())
	_, err := s.Mark(t.Context(), 1, []string{"a"})
	require.ErrorContains(t, err, "another program overwrote")
	require.NoError(t, client.HSet(t.Context(), s.keys[0], "record", "{").Err())
	_, err = s.Load(t.Context())
	require.ErrorContains(t, err, "malformed")
}

func TestCheckNamesWhatTheServerDoesNotKeep(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		args []string
		opts Options
		want []string
	}{
		"good":                   {nil, Options{}, nil},
		"evicting what expires":  {[]string{"--maxmemory-policy", "volatile-lru"}, Options{}, nil},
		"evicting, keeping none": {[]string{"--maxmemory-policy", "allkeys-lru", "--appendonly", "no"}, Options{}, []string{"allkeys-lru", "appendonly is no"}},
		"without a replica":      {nil, Options{Replicas: 2}, []string{"0 replicas are connected, and Options.Replicas is 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := newStore(t, newClient(t, servers.NewRedis(t, row.args...)), row.opts).Check(t.Context())
			if len(row.want) == 0 {
				require.NoError(t, err)
			}
			for _, want := range row.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
	require.NoError(t, newStore(t, newCluster(t, servers.Cluster(t)), Options{Replicas: 1}).Check(t.Context()))
	require.ErrorContains(t, newStore(t, newCluster(t, servers.Cluster(t)), Options{Replicas: 2}).Check(t.Context()), "1 replicas are connected")
	node := newClient(t, servers.Cluster(t).Nodes[0])
	require.ErrorContains(t, newStore(t, node, Options{Replicas: 1}).Check(t.Context()), "WAIT would not reach the master")
}

// pair starts a server and a replica in sync with it.
func pair(t *testing.T) (master, replica *servers.RedisServer) {
	t.Helper()
	master, replica = servers.NewRedis(t, "--repl-diskless-sync-delay", "0"), servers.NewRedis(t)
	host, port, _ := strings.Cut(master.Addr(), ":")
	replica.CLI(t, "REPLICAOF", host, port)
	testkit.Eventually(t, func() bool { return strings.Contains(replica.CLI(t, "INFO", "replication"), "master_link_status:up") })
	return master, replica
}

// confirmsAll returns when the replica has confirmed everything to the master.
func confirmsAll(t *testing.T, master *servers.RedisServer) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		info := master.CLI(t, "INFO", "replication")
		_, offset, _ := strings.Cut(info, "master_repl_offset:")
		offset, _, _ = strings.Cut(offset, "\r")
		return strings.Contains(info, "offset="+offset+",")
	})
}

func TestAReplicaIsNotRead(t *testing.T) {
	t.Parallel()
	master, replica := pair(t)
	opts := Options{Name: newName(), patience: 50 * time.Millisecond} // a replica may become a master
	s := newStore(t, newClient(t, master), opts)
	marking(t, s)
	old := newStore(t, newClient(t, replica), opts)
	_, err := old.Load(t.Context())
	require.ErrorContains(t, err, "READONLY")
	_, err = old.Marked(t.Context(), 1, 10)
	require.ErrorContains(t, err, "READONLY")
	_, err = old.Writers(t.Context())
	require.ErrorContains(t, err, "READONLY")
	require.ErrorContains(t, old.Check(t.Context()), "is a replica")
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	for text, want := range map[string]string{
		"MISCONF Errors writing to the AOF file": "server refuses writes because it cannot save to its disk; free the disk",
		"AZRLOST {azrebuild:x}:marks":            `marks in "{azrebuild:x}:marks" were deleted or evicted`,
	} {
		client := &refusing{Client: newClient(t, servers.Redis(t)), err: said(text)}
		_, err := newStore(t, client, Options{}).Marked(t.Context(), 1, 10)
		require.ErrorContains(t, err, want)
	}
}

// refusing is a client whose server refuses each script.
type refusing struct {
	*redis.Client
	err error
}

func (c *refusing) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(c.err)
	return cmd
}

// said is an error of a server.
type said string

func (s said) Error() string { return string(s) }
func (s said) RedisError()   {}

// Even unchanged data is written again, because a replaced master does not know that it is outdated.
func TestNothingIsAcknowledgedThatReplicasLack(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	master, replica := pair(t)
	client, opts := newClient(t, master), Options{Name: newName()}
	alone := newStore(t, newClient(t, master), opts) // WAIT covers only the writes of its own connection
	opts.Replicas, opts.replicaTimeout = 1, 50*time.Millisecond
	s := newStore(t, client, opts)
	opts.replicaTimeout = time.Minute
	patient := newStore(t, client, opts)
	x := marking(t, patient)
	mark(t, patient, "a")
	var few rediskit.TooFew
	for what, call := range map[string]func() error{
		"a new mark":                  func() error { _, err := s.Mark(t.Context(), 1, []string{"c"}); return err },
		"a mark that the replica has": func() error { _, err := s.Mark(t.Context(), 1, []string{"a"}); return err },
		"a mark of another process":   func() error { mark(t, alone, "b"); _, err := s.Mark(t.Context(), 1, []string{"b"}); return err },
		"the record":                  func() error { _, err := newStore(t, newClient(t, master), s.opts).Load(t.Context()); return err },
		"no marks": func() error {
			_, err := newStore(t, newClient(t, master), s.opts).Marked(t.Context(), 0, 1)
			return err
		},
	} {
		confirmsAll(t, master) // the replica acknowledges every second, so WAIT need not ask
		replica.Stop(t)
		err := call()
		require.ErrorAs(t, err, &few, what)
		require.ErrorContains(t, err, "0 of 1 replicas have confirmed it: it may be kept, or not", what)
		replica.Cont(t)
		mark(t, patient, "the replica has everything again")
	}
	replica.Stop(t)
	x.Round++
	_, err := s.Swap(t.Context(), x)
	require.ErrorAs(t, err, &few)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = patient.Mark(ctx, 1, []string{"c"})
	require.Error(t, err, "ctx bounds the waiting")
	replica.Cont(t)
	mark(t, patient, "b")
	for _, key := range []string{"a", "b"} {
		assert.Equal(t, "0", replica.CLI(t, "ZSCORE", patient.keys[1], ordered(1)+key))
	}
}

func TestAFailoverLosesNoMarkThatWasAcknowledged(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	c := servers.NewCluster(t)
	s := newStore(t, newCluster(t, c), Options{Replicas: 1, replicaTimeout: 20 * time.Second, patience: time.Minute})
	x := marking(t, s)
	victim := c.Master(t, c.Slot(t, s.keys[0]))
	var n atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			key := strconv.FormatInt(n.Load(), 10)
			if _, err := s.Mark(t.Context(), 1, []string{key}); err != nil && !errors.As(err, &rediskit.TooFew{}) {
				done <- err
				return
			} else if err == nil {
				n.Add(1)
			}
		}
		done <- nil
	}()
	testkit.Eventually(t, func() bool { return n.Load() > 200 })
	victim.Kill(t)
	testkit.Eventually(t, func() bool { return !slices.Contains(c.Masters(t), victim) && c.Ready() })
	victim.Restart(t)
	before := n.Load()
	testkit.Eventually(t, func() bool { return n.Load() > before+100 })
	stop()
	require.NoError(t, <-done)
	got, err := s.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, x, got)
	keys, err := s.Marked(t.Context(), 1, 1_000_000)
	require.NoError(t, err)
	there := map[string]bool{}
	for _, key := range keys {
		there[key] = true
	}
	for i := range n.Load() {
		require.True(t, there[strconv.FormatInt(i, 10)], i)
	}
}

func TestASlotThatMovesUnderLoadLosesNoMark(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	c := servers.NewCluster(t)
	s := newStore(t, newCluster(t, c), Options{})
	x := marking(t, s)
	var n atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, err := s.Mark(t.Context(), 1, []string{strconv.FormatInt(n.Load(), 10)}); err != nil {
				done <- err
				return
			}
			n.Add(1)
		}
		done <- nil
	}()
	for _, to := range c.Masters(t) {
		c.MoveSlot(t, c.Slot(t, s.keys[0]), to, nil)
		x.Beat++
		var err error
		x, err = s.Swap(t.Context(), x)
		require.NoError(t, err)
	}
	before := n.Load()
	testkit.Eventually(t, func() bool { return n.Load() > before+100 })
	stop()
	require.NoError(t, <-done)
	keys, err := s.Marked(t.Context(), 1, 1_000_000)
	require.NoError(t, err)
	assert.Len(t, keys, int(n.Load()))
}
