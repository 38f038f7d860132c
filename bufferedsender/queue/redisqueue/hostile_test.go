package redisqueue

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

func mergeOf(key string) queue.Call {
	c := callOf("body", key)
	c.Records[0].Op = models.ActionTypeMerge
	return c
}

func there(t *testing.T, q *Queue, key string) bool {
	t.Helper()
	is, err := q.Contains(context.Background(), key)
	require.NoError(t, err)
	return is[0]
}

func TestUserWithoutChannelsIsToldTheTruth(t *testing.T) {
	server := servers.NewRedis(t)
	server.CLI(t, "ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all") // Redis 7: no channels by default
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), Username: "app", Password: "pw", ContextTimeoutEnabled: true})
	defer c.Close()
	q := open(t, c, nil)
	_, err := q.Append(t.Context(), mergeOf("a"))
	t.Log(err)
	if err != nil {
		require.Equal(t, there(t, q, "a"), errors.Is(err, queue.ErrUnknown), "kept, but told that it was not")
	}
}

func TestFullServerDoesNotHideThatTheCallWasKept(t *testing.T) {
	server := servers.NewRedis(t)
	q := open(t, newClient(t, server.Addr()), nil)
	add(t, q, "warm") // the server knows the script
	call := mergeOf("a")
	server.Stop(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := q.Append(ctx, call)
	require.ErrorIs(t, err, queue.ErrUnknown)
	server.Cont(t)
	require.Eventually(t, func() bool { return there(t, q, "a") }, 5*time.Second, time.Millisecond)
	server.CLI(t, "CONFIG", "SET", "maxmemory", "1mb")
	_, err = q.Append(t.Context(), call)
	t.Log(err)
	if errors.Is(err, queue.ErrFull) {
		require.ErrorIs(t, err, queue.ErrUnknown, "ErrFull alone says that nothing was kept, and it was")
	}
}

// The client of Redis tries again by itself, inside of one call.
func TestLostAnswerThenRefusalIsUnknown(t *testing.T) {
	for name, refusal := range map[string]func(*servers.RedisServer) (undo func()){
		"OOM": func(s *servers.RedisServer) func() {
			s.CLI(t, "CONFIG", "SET", "maxmemory", "1mb")
			return func() { s.CLI(t, "CONFIG", "SET", "maxmemory", "0") }
		},
		"READONLY": func(s *servers.RedisServer) func() {
			s.CLI(t, "REPLICAOF", "127.0.0.1", "1")
			return func() { s.CLI(t, "REPLICAOF", "NO", "ONE") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := servers.NewRedis(t)
			p := newProxy(t, server.Addr())
			q := open(t, newClient(t, p.addr()), nil)
			add(t, q, "warm")
			direct, err := New(t.Context(), newClient(t, server.Addr()), q.name, nil)
			require.NoError(t, err)
			defer direct.Close()
			undo := make(chan func(), 1)
			p.lose.Store(&loss{after: func() { undo <- refusal(server) }})
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			_, err = q.Append(ctx, mergeOf("a"))
			t.Log(err)
			require.Error(t, err)
			(<-undo)()
			require.True(t, there(t, direct, "a"))
			require.ErrorIs(t, err, queue.ErrUnknown, "it was kept")
		})
	}
}

// proxy loses the answer to an EVALSHA of an append when told to.
// proxy stands before a server, and loses the answer to a script.
type proxy struct {
	l    net.Listener
	lose atomic.Pointer[loss]
}
type loss struct{ after func() }

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{l: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				s, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer s.Close()
				var armed atomic.Pointer[loss]
				go func() {
					b := make([]byte, 1<<16)
					for {
						n, err := s.Read(b)
						if err != nil {
							c.Close()
							return
						}
						if x := armed.Load(); x != nil {
							x.after()
							c.Close()
							return
						}
						if _, err := c.Write(b[:n]); err != nil {
							return
						}
					}
				}()
				r := bufio.NewReader(c)
				b := make([]byte, 1<<16)
				for {
					n, err := r.Read(b)
					if err != nil {
						return
					}
					if strings.Contains(string(b[:n]), appendScript.Hash()) || strings.Contains(string(b[:n]), destroyScript.Hash()) || strings.Contains(string(b[:n]), exchangeScript.Hash()) {
						if x := p.lose.Swap(nil); x != nil {
							armed.Store(x)
						}
					}
					if _, err := s.Write(b[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return p
}
func (p *proxy) addr() string { return p.l.Addr().String() }

func TestWaitThatIsInterruptedIsUnknown(t *testing.T) {
	server := servers.NewRedis(t)
	q := open(t, newClient(t, server.Addr()), &Options{Durability: Replicas(1), ReplicaTimeout: 20 * time.Second})
	_, _, err := q.run(t.Context(), appendScript, 0, 0, append([]any{q.clock(), q.shards[0].epoch, q.channel}, testAdder[:], calls.Add(1), 0, 0, 0, 0, 0)...)
	require.NoError(t, err)
	go func() {
		time.Sleep(200 * time.Millisecond)
		server.CLI(t, "REPLICAOF", "127.0.0.1", "1")
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = q.Append(ctx, mergeOf("a"))
	t.Log(err)
	server.CLI(t, "REPLICAOF", "NO", "ONE")
	require.True(t, there(t, q, "a"))
	require.ErrorIs(t, err, queue.ErrUnknown, "it was kept")
}

func TestWrappedClusterClientWaitsForTheRightReplicas(t *testing.T) {
	c := servers.NewCluster(t)
	client := &counting{ClusterClient: newCluster(t, c), seen: map[string]int{}}
	for name, cl := range map[string]redis.UniversalClient{"wrapped": client, "plain": client.ClusterClient} {
		q, err := New(t.Context(), cl, newName(t), &Options{Shards: 8, Durability: Replicas(1), ReplicaTimeout: 500 * time.Millisecond})
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

// sick is a client for which a shard is out of order.
type sick struct {
	*redis.Client
	tag string
	err atomic.Pointer[error]
}

func (c *sick) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	if e := c.err.Load(); e != nil && strings.HasPrefix(keys[0], c.tag) {
		cmd := redis.NewCmd(ctx)
		cmd.SetErr(*e)
		return cmd
	}
	return c.Client.EvalSha(ctx, sha, keys, args...)
}

type said string

func (s said) Error() string { return string(s) }
func (s said) RedisError()   {}

func fourShards(t *testing.T) (*Queue, *sick) {
	c := &sick{Client: newClient(t, servers.Redis(t).Addr())}
	q := open(t, c, &Options{Shards: 4})
	var keys []string
	for i := range 40 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	add(t, q, keys...)
	c.tag, _, _ = strings.Cut(q.shards[3].keys[0], "}")
	return q, c
}

func TestRepeatAfterAnErrorDoesNotLeaseTwice(t *testing.T) {
	q, c := fourShards(t)
	e := error(said("MISCONF Errors writing to the AOF file: No space left on device"))
	c.err.Store(&e)
	got := map[string]int{}
	want := queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 100, Bytes: 1 << 30, For: time.Minute}
	want.Token[3] = 0 // begins with the first shard
	for range 5 {     // as feed.round does: takes what comes, and repeats the token after an error
		leases, err := q.Reserve(t.Context(), want)
		for _, l := range leases {
			got[l.Key]++
		}
		if err == nil {
			break
		}
	}
	for k, n := range got {
		require.Equal(t, 1, n, "%s was handed out %d times under one token; a sender takes each of them", k, n)
	}
	require.NotEmpty(t, got)
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
		want.Token[3] = 3 // begins with the one that is down, as every fourth does
		leases, err := q.Reserve(ctx, want)
		n += len(leases)
		if err != nil {
			t.Log(err)
			break
		}
		commit(t, q, leases)
	}
	require.Positive(t, n, "nothing of three healthy shards was handed out in three seconds")
}

func TestShardThatIsDownParksNobody(t *testing.T) {
	q, c := fourShards(t)
	e := error(said("CLUSTERDOWN Hash slot not served"))
	c.err.Store(&e)
	defer func(d time.Duration) { patience = d }(patience)
	patience = 5 * time.Millisecond
	for range 40 { // senders that come and go during the outage; each has its process's context
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
	require.Zero(t, s.Parked, "keys that nobody has ever sent are parked as poison")
}

func TestRepeatAfterThreeDaysIsTooOld(t *testing.T) {
	cl := newClock()
	q := open(t, newClient(t, servers.Redis(t).Addr()), &Options{clock: cl.now})
	call := mergeOf("a")
	_, err := q.Append(t.Context(), call)
	require.NoError(t, err)
	cl.advance(49 * time.Hour)
	_, err = q.Append(t.Context(), queue.Call{Adder: queue.NewID(), Number: 1, Records: mergeOf("b").Records})
	require.NoError(t, err)
	_, err = q.Append(t.Context(), call)
	require.ErrorIs(t, err, queue.ErrTooOld)
}

func TestDestroyDoesNotDestroyANewQueue(t *testing.T) {
	server := servers.NewRedis(t)
	p := newProxy(t, server.Addr())
	q := open(t, newClient(t, p.addr()), nil)
	var again *Queue
	p.lose.Store(&loss{after: func() {
		var err error
		again, err = New(context.Background(), newClient(t, server.Addr()), q.name, nil)
		require.NoError(t, err)
		add(t, again, "a") // acknowledged
	}})
	require.NoError(t, destroyScriptLoad(t, server))
	require.NoError(t, q.Destroy(t.Context()))
	require.NotNil(t, again)
	is, err := again.Contains(t.Context(), "a")
	require.NoError(t, err)
	require.True(t, is[0])
}

func destroyScriptLoad(t *testing.T, server *servers.RedisServer) error {
	return destroyScript.Load(t.Context(), newClient(t, server.Addr())).Err()
}

func TestWatcherLooksAfterItsConnectionWasLost(t *testing.T) {
	server := servers.NewRedis(t)
	a := open(t, newClient(t, server.Addr()), nil)
	b, err := New(t.Context(), newClient(t, server.Addr()), a.name, nil)
	require.NoError(t, err)
	var woken atomic.Int64
	stop := a.Watch(func() { woken.Add(1) })
	defer stop()
	time.Sleep(1500 * time.Millisecond)
	for i := range 5 {
		leases := take(t, b, 10)
		commit(t, b, leases)
		time.Sleep(1200 * time.Millisecond) // idle
		server.CLI(t, "CLIENT", "KILL", "TYPE", "pubsub")
		woken.Store(0)
		add(t, b, fmt.Sprint("a", i))
		start := time.Now()
		for woken.Load() == 0 && time.Since(start) < 20*time.Second {
			time.Sleep(5 * time.Millisecond)
		}
		t.Logf("woken after %v", time.Since(start))
		if time.Since(start) > 10*time.Second { // it looks by itself after fifteen
			t.Fatal("late")
		}
	}
}

func TestCallsAreBoundedByTheirContextWhileAnotherIsClosing(t *testing.T) {
	server := servers.NewRedis(t)
	q, err := New(t.Context(), newClient(t, server.Addr()), newName(t), nil)
	require.NoError(t, err)
	server.Stop(t)
	slow, cancelSlow := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancelSlow()
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = q.Append(slow, callOf("body", "a")) })
	time.Sleep(50 * time.Millisecond)
	wg.Go(func() { _ = q.Close() })
	time.Sleep(50 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = q.Stats(ctx)
	took := time.Since(start)
	server.Cont(t)
	wg.Wait()
	t.Log(err)
	require.Less(t, took, 2*time.Second)
}

func TestLongReasonOfParkDoesNotDamage(t *testing.T) {
	q := open(t, newClient(t, servers.Redis(t).Addr()), nil)
	add(t, q, "a")
	_, err := q.Park(t.Context(), "first", "a")
	require.NoError(t, err)
	add(t, q, "a") // replaces
	_, err = q.Park(t.Context(), strings.Repeat("x", 70000), "a")
	require.NoError(t, err)
	_, err = q.Drop(t.Context(), "a")
	require.NoError(t, err)
	_, err = q.Reserve(t.Context(), queue.Want{Token: queue.NewID(), Keys: 1, Bytes: 1, For: time.Second})
	require.NoError(t, err)
}

func TestServerThatCannotBeDialledIsTriedAgain(t *testing.T) {
	server := servers.NewRedis(t)
	var dead atomic.Bool
	d := &net.Dialer{}
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true, DialTimeout: 50 * time.Millisecond,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dead.Load() { // what net.Dialer says of a host that does not answer
				<-ctx.Done()
				return nil, &net.OpError{Op: "dial", Net: network, Err: timeoutError{}}
			}
			return d.DialContext(ctx, network, addr)
		}})
	defer c.Close()
	q := open(t, c, nil)
	dead.Store(true)
	server.CLI(t, "CLIENT", "KILL", "TYPE", "normal")
	go func() { time.Sleep(4 * time.Second); dead.Store(false) }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	start := time.Now()
	_, err := q.Append(ctx, callOf("body", "a"))
	t.Log(time.Since(start))
	require.NoError(t, err)
}

type timeoutError struct{}

func (timeoutError) Error() string     { return "i/o timeout" }
func (timeoutError) Timeout() bool     { return true }
func (timeoutError) Temporary() bool   { return true }
func (timeoutError) Is(err error) bool { return err == context.DeadlineExceeded }
