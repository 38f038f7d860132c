package redisqueue

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/rediskit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// odd is a client whose replies to scripts and CONFIG a test sets.
type odd struct {
	*redis.Client
	answer func() (any, bool) // reply to scripts; false: the server's own
	config error
}

func (c *odd) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	if answer, ok := c.answer(); ok {
		cmd := redis.NewCmd(ctx)
		cmd.SetVal(answer)
		return cmd
	}
	return c.Client.EvalSha(ctx, sha, keys, args...)
}

func (c *odd) Do(ctx context.Context, args ...any) *redis.Cmd {
	if args[0] == "CONFIG" && c.config != nil {
		cmd := redis.NewCmd(ctx)
		cmd.SetErr(c.config)
		return cmd
	}
	return c.Client.Do(ctx, args...)
}

// A server or proxy may give replies that no script of this version gives. They must not count as "none", "0" or
// "done".
func TestAnswerThatNoScriptGivesIsAnError(t *testing.T) {
	c := &odd{Client: newClient(t, servers.Redis(t).Addr()), answer: func() (any, bool) { return nil, false }}
	q := open(t, c, nil)
	receipt, err := q.Append(t.Context(), callOf("body", "a"))
	require.NoError(t, err)
	leases := take(t, q, 1)
	for name, one := range map[string]struct {
		answer any
		call   func() error
	}{
		"Settled returns 3":                   {int64(3), func() error { _, err := q.Settled(t.Context(), receipt.Position); return err }},
		"Settled returns nothing":             {nil, func() error { _, err := q.Settled(t.Context(), receipt.Position); return err }},
		"Append returns nothing":              {nil, func() error { _, err := q.Append(t.Context(), callOf("body", "b")); return err }},
		"Settled returns a text":              {"1", func() error { _, err := q.Settled(t.Context(), receipt.Position); return err }},
		"Park returns no number":              {[]any{int64(0)}, func() error { _, err := q.Park(t.Context(), "", "b"); return err }},
		"Drop returns a text":                 {[]any{int64(0), "none"}, func() error { _, err := q.Drop(t.Context(), "b"); return err }},
		"Repair does not report what is lost": {[]any{int64(0)}, func() error { _, err := q.Repair(t.Context(), 100); return err }},
		"Destroy does not report what it did": {"OK", func() error { return q.Destroy(t.Context()) }},
		"Pause returns a text":                {[]any{"?"}, func() error { return q.Pause(t.Context(), "") }},
		"Extend names another lease":          {[]any{int64(0), int64(7)}, func() error { _, err := q.Extend(t.Context(), time.Minute, leases...); return err }},
		"Settle names another end": {[]any{int64(0), int64(0), int64(0), int64(7), int64(-1)}, func() error {
			_, _, err := q.Settle(t.Context(), queue.End{Lease: leases[0], Fate: queue.Commit})
			return err
		}},
		"a lease has half a record": {[]any{int64(0), int64(0), int64(0), int64(-1), "b", "\x00\x00\x00\x00\x00\x00\x00"}, func() error {
			_, err := q.Reserve(t.Context(), queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 1, Bytes: 1, For: time.Minute})
			return err
		}},
	} {
		c.answer = func() (any, bool) { return one.answer, true }
		assert.ErrorIs(t, one.call(), rediskit.ErrAnswer, name)
	}
	c.answer = func() (any, bool) { return nil, false }
	require.True(t, there(t, q, "a"))
}

func TestWatcherAsksAgainSoonAfterAnAnswerThatMakesNoSense(t *testing.T) {
	c := &odd{Client: newClient(t, servers.Redis(t).Addr()), answer: func() (any, bool) { return nil, false }}
	q := open(t, c, nil)
	c.answer = func() (any, bool) { return "OK", true }
	assert.LessOrEqual(t, q.peekNext(t.Context()), busyPoll)
}

// The server's settings show whether it persists data. If they are forbidden the answer is "unknown"; a temporary
// failure is not.
func TestSettingsThatCannotBeReadNowAreNotUnknown(t *testing.T) {
	c := &odd{Client: newClient(t, servers.Redis(t).Addr()), answer: func() (any, bool) { return nil, false }}
	c.config = said("ERR unknown command 'CONFIG'")
	_, err := New(t.Context(), c, newName(t), nil)
	require.NoError(t, err)
	c.config = errors.New("read tcp: connection reset by peer")
	_, err = New(t.Context(), c, newName(t), nil)
	require.ErrorIs(t, err, c.config)
}

// goneClient is a client that was closed before the watcher listens.
type goneClient struct{ *redis.Client }

func (c goneClient) Subscribe(ctx context.Context, channels ...string) *redis.PubSub {
	ps := c.Client.Subscribe(ctx, channels...)
	_ = ps.Close()
	return ps
}

func TestWatcherOfAClosedClientRests(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	h := &hub{client: goneClient{client}, queues: map[*Queue]time.Time{}, changed: make(chan struct{}), ended: make(chan struct{})}
	go h.run(ctx)
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() { // each iteration of the watcher allocates
			time.Sleep(time.Millisecond)
		}
	}).AllocsPerOp()
	cancel()
	<-h.ended
	require.NoError(t, client.Close())
	assert.Less(t, allocated, int64(50))
}
