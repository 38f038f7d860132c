package redisqueue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestUserWithoutChannelsIsToldTheTruth(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t)
	server.CLI(t, "ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all") // Redis 7: no channels by default
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), Username: "app", Password: "pw", ContextTimeoutEnabled: true})
	defer c.Close()
	q := open(t, c, nil)
	_, err := q.Append(t.Context(), mergeOf("a"))
	t.Log(err)
	if err != nil {
		require.Equal(t, there(t, q, "a"), errors.Is(err, queue.ErrUnknown), "kept, but reported as not kept")
	}
}

func TestUserWithoutChannelsIsWokenByPolling(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	server := servers.NewRedis(t)
	server.CLI(t, "ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all")
	client := func() *redis.Client {
		c := redis.NewClient(&redis.Options{Addr: server.Addr(), Username: "app", Password: "pw", ContextTimeoutEnabled: true})
		t.Cleanup(func() { require.NoError(t, c.Close()) })
		return c
	}
	logged := new(sendertest.Buffer)
	a := open(t, client(), &Options{Logger: slog.New(slog.NewTextHandler(logged, nil))})
	b, err := New(t.Context(), client(), a.name, nil)
	require.NoError(t, err)
	woken := make(chan struct{}, 100)
	defer a.Watch(func() { woken <- struct{}{} })()
	testkit.Eventually(t, func() bool { return strings.Contains(logged.String(), "no subscription") })
	for len(woken) > 0 {
		<-woken
	}
	add(t, b, "a")
	select {
	case <-woken:
	case <-time.After(2 * time.Second):
		t.Error("not woken")
	}
	require.Equal(t, 1, strings.Count(logged.String(), "no subscription"))
}

func TestWatcherLooksAfterItsConnectionWasLost(t *testing.T) {
	t.Parallel()
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
		if time.Since(start) > 10*time.Second { // without a notification it checks after fifteen seconds
			t.Fatal("late")
		}
	}
}

func TestCallsAreBoundedByTheirContextWhileAnotherIsClosing(t *testing.T) {
	t.Parallel()
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

func TestServerThatDoesNotReplyDelaysNoClientOfAnotherOne(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	there := redis.NewClient(&redis.Options{})
	p := pool{byURL: map[string]*pooled{"there": {UniversalClient: there, users: 0}}}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, _, err := p.get(ctx, "redis://"+silent.Addr().String())
		failed <- err
	}()
	conn, err := silent.Accept() // now it waits for a reply
	require.NoError(t, err)
	defer conn.Close()
	c, leave, err := p.get(t.Context(), "there")
	require.NoError(t, err)
	require.Same(t, there, c)
	require.NoError(t, leave())
	require.Empty(t, p.byURL)
	require.Empty(t, failed, "the other one waits")
	cancel()
	require.Error(t, <-failed)
}

func TestClientsThatAreMadeTogetherBecomeOne(t *testing.T) {
	t.Parallel()
	url := "redis://" + servers.NewRedis(t).Addr()
	p := pool{byURL: map[string]*pooled{}}
	var wg sync.WaitGroup
	var got [8]redis.UniversalClient
	var leaves [len(got)]func() error
	for i := range got {
		wg.Go(func() {
			var err error
			got[i], leaves[i], err = p.get(t.Context(), url)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	for i, leave := range leaves {
		require.Same(t, got[0], got[i])
		require.NoError(t, got[i].Ping(t.Context()).Err())
		require.NoError(t, leave())
	}
	require.Empty(t, p.byURL)
	require.ErrorIs(t, got[0].Ping(t.Context()).Err(), redis.ErrClosed)
}

func TestServerThatCannotBeDialledIsTriedAgain(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	server := servers.NewRedis(t)
	var dead atomic.Bool
	d := &net.Dialer{}
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true, DialTimeout: 50 * time.Millisecond,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dead.Load() { // the error of net.Dialer for a host that does not reply
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
