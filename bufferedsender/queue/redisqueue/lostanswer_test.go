package redisqueue

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit"
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

func TestFullServerDoesNotHideThatTheCallWasKept(t *testing.T) {
	t.Parallel()
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
	testkit.Eventually(t, func() bool { return there(t, q, "a") })
	server.CLI(t, "CONFIG", "SET", "maxmemory", "1mb")
	_, err = q.Append(t.Context(), call)
	t.Log(err)
	if errors.Is(err, queue.ErrFull) {
		require.ErrorIs(t, err, queue.ErrUnknown, "the record was kept, so the error must not be ErrFull")
	}
}

// The Redis client retries within a single call.
func TestLostAnswerThenRefusalIsUnknown(t *testing.T) {
	t.Parallel()
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
			t.Parallel()
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
			require.ErrorIs(t, err, queue.ErrUnknown, "the record was kept")
		})
	}
}

// proxy stands in front of a server and drops the reply to a script (EVALSHA) on request.
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
	t.Parallel()
	server := servers.NewRedis(t)
	q := open(t, newClient(t, server.Addr()), &Options{Durability: Replicas(1), replicaTimeout: 20 * time.Second})
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
	require.ErrorIs(t, err, queue.ErrUnknown, "the record was kept")
}

type said string

func (s said) Error() string { return string(s) }
func (s said) RedisError()   {}

func fourShards(t *testing.T) (*Queue, *failingShard) {
	c := &failingShard{Client: newClient(t, servers.Redis(t).Addr())}
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
	for range 5 {     // like feed.round: takes the reserved keys, and repeats the token after an error
		leases, err := q.Reserve(t.Context(), want)
		for _, l := range leases {
			got[l.Key]++
		}
		if err == nil {
			break
		}
	}
	for k, n := range got {
		require.Equal(t, 1, n, "%s was reserved %d times under one token; a sender would send each", k, n)
	}
	require.NotEmpty(t, got)
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

func destroyScriptLoad(t *testing.T, server *servers.RedisServer) error {
	return destroyScript.Load(t.Context(), newClient(t, server.Addr())).Err()
}

type timeoutError struct{}

func (timeoutError) Error() string     { return "i/o timeout" }
func (timeoutError) Timeout() bool     { return true }
func (timeoutError) Temporary() bool   { return true }
func (timeoutError) Is(err error) bool { return err == context.DeadlineExceeded }
