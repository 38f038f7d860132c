package redisqueue

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// recorder is a client that counts the server's replies to each script, by SHA-1.
type recorder struct {
	redis.UniversalClient
	mu           sync.Mutex
	ran, refused map[string]int
}

func (c *recorder) note(sha string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.ran[sha]++
	case !redis.HasErrorPrefix(err, "NOSCRIPT"):
		c.refused[sha]++
	}
}

func (c *recorder) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	cmd := c.UniversalClient.EvalSha(ctx, sha, keys, args...)
	c.note(sha, cmd.Err())
	return cmd
}

func (c *recorder) Eval(ctx context.Context, source string, keys []string, args ...any) *redis.Cmd {
	cmd := c.UniversalClient.Eval(ctx, source, keys, args...)
	c.note(redis.NewScript(source).Hash(), cmd.Err())
	return cmd
}

// forget resets the counts.
func (c *recorder) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran, c.refused = map[string]int{}, map[string]int{}
}

// byFile has the scripts by file name.
var byFile = map[string]*redis.Script{
	"open": openScript, "destroy": destroyScript, "append": appendScript, "adder": adderScript, "exchange": exchangeScript,
	"extend": extendScript, "settled": settledScript, "stats": statsScript, "admin": adminScript, "peek": peekScript,
	"next": nextScript, "repair": repairScript,
}

// A call is prepared while the server has room, on its own queue with the waiting keys a, b and c, and made when the
// server is full.
type (
	call    func(ctx context.Context) error
	prepare func(t *testing.T, q *Queue, cl *clock) call
)

// onFullServer has the calls to make on a server without free memory, by script file.
var onFullServer = []struct {
	script, what string
	prepare
}{
	{"open", "a queue that exists", func(_ *testing.T, q *Queue, _ *clock) call {
		return func(ctx context.Context) error { _, err := New(ctx, q.client, q.name, nil); return err }
	}},
	{"open", "a queue that exists, by a tool", func(_ *testing.T, q *Queue, _ *clock) call {
		return func(ctx context.Context) error {
			_, err := New(ctx, q.client, q.name, &Options{AcceptWeaker: true, Existing: true})
			return err
		}
	}},
	{"open", "a new queue", func(_ *testing.T, q *Queue, _ *clock) call {
		return func(ctx context.Context) error { _, err := New(ctx, q.client, q.name+", another", nil); return err }
	}},
	{"append", "a new key", func(_ *testing.T, q *Queue, _ *clock) call {
		return appends(q, callOf("body", "d"))
	}},
	{"append", "a record that replaces another", func(_ *testing.T, q *Queue, _ *clock) call {
		return appends(q, callOf("x", "a"))
	}},
	{"append", "a fold", func(t *testing.T, q *Queue, _ *clock) call {
		for range queue.PileLimit {
			_, err := q.Append(t.Context(), mergeOf("pile"))
			require.NoError(t, err)
		}
		r, err := q.Append(t.Context(), mergeOf("pile"))
		require.NoError(t, err)
		require.Len(t, r.Piles, 1)
		pile := r.Piles[0].Records
		return appends(q, queue.Call{Adder: testAdder, Number: calls.Add(1), Folds: []queue.Fold{{
			Key: "pile", Count: len(pile), Last: pile[len(pile)-1].Seq, Records: pile[len(pile)-1:],
		}}})
	}},
	{"adder", "the last call of an adder", func(_ *testing.T, q *Queue, _ *clock) call {
		return func(ctx context.Context) error {
			_, err := q.on(ctx, adderScript, 0, testAdder[:])
			return err
		}
	}},
	{"exchange", "reserve the oldest", func(t *testing.T, q *Queue, _ *clock) call {
		return func(context.Context) error { require.Len(t, take(t, q, 2), 2); return nil }
	}},
	{"exchange", "reserve one key", func(_ *testing.T, q *Queue, _ *clock) call {
		return func(ctx context.Context) error {
			leases, err := q.Reserve(ctx, wantOf("b"))
			if err == nil && len(leases) != 1 {
				err = fmt.Errorf("got %d leases, want 1", len(leases))
			}
			return err
		}
	}},
	{"exchange", "commit", ends(queue.End{Fate: queue.Commit})},
	{"exchange", "release", ends(queue.End{Fate: queue.Release, After: time.Minute, Again: true, Uncertain: time.Minute})},
	{"exchange", "park", ends(queue.End{Fate: queue.Park, Reason: strings.Repeat("r", 1000)})},
	{"exchange", "commit and reserve at once", func(t *testing.T, q *Queue, _ *clock) call {
		leases := take(t, q, 1)
		other := "a"
		if leases[0].Key == other {
			other = "b"
		}
		return func(ctx context.Context) error {
			next, stale, failed, err := q.Exchange(ctx, wantOf(other), queue.End{Lease: leases[0], Fate: queue.Commit})
			if err == nil && len(next)-len(stale)-len(failed) != 1 {
				err = fmt.Errorf("got %d leases, %d stale, %d failed", len(next), len(stale), len(failed))
			}
			return err
		}
	}},
	{"exchange", "end leases that have expired", func(t *testing.T, q *Queue, cl *clock) call {
		take(t, q, 3)
		cl.advance(time.Hour)
		return func(context.Context) error { require.Len(t, take(t, q, 2), 2); return nil } // two of the three keys
	}},
	{"extend", "a lease", func(t *testing.T, q *Queue, _ *clock) call {
		leases := take(t, q, 2)
		return func(ctx context.Context) error {
			lost, err := q.Extend(ctx, time.Hour, leases...)
			if err == nil && len(lost) > 0 {
				err = fmt.Errorf("%d leases are lost", len(lost))
			}
			return err
		}
	}},
	{"settled", "a position", func(t *testing.T, q *Queue, _ *clock) call {
		r, err := q.Append(t.Context(), callOf("body", "d"))
		require.NoError(t, err)
		return func(ctx context.Context) error { _, err := q.Settled(ctx, r.Position); return err }
	}},
	{"stats", "a queue", func(t *testing.T, q *Queue, _ *clock) call {
		return func(ctx context.Context) error {
			s, err := q.Stats(ctx)
			assert.EqualValues(t, 3, s.Waiting)
			return err
		}
	}},
	{"stats", "a queue with leases that have expired", func(t *testing.T, q *Queue, cl *clock) call {
		take(t, q, 3)
		cl.advance(time.Hour)
		return func(ctx context.Context) error {
			s, err := q.Stats(ctx)
			assert.EqualValues(t, 3, s.Expired)
			return err
		}
	}},
	{"admin", "pause", func(_ *testing.T, q *Queue, _ *clock) call {
		return func(ctx context.Context) error { return q.Pause(ctx, "a reason") }
	}},
	{"admin", "resume", func(t *testing.T, q *Queue, _ *clock) call {
		require.NoError(t, q.Pause(t.Context(), "a reason"))
		return q.Resume
	}},
	{"admin", "park", func(_ *testing.T, q *Queue, _ *clock) call {
		return counted(func(ctx context.Context) (int, error) { return q.Park(ctx, "a reason", "b") })
	}},
	{"admin", "unpark", func(t *testing.T, q *Queue, _ *clock) call {
		parks(t, q)
		return counted(func(ctx context.Context) (int, error) { return q.Unpark(ctx, "b") })
	}},
	{"admin", "drop", func(t *testing.T, q *Queue, _ *clock) call {
		parks(t, q)
		return counted(func(ctx context.Context) (int, error) { return q.Drop(ctx, "b") })
	}},
	{"peek", "all keys with their bodies", func(_ *testing.T, q *Queue, _ *clock) call {
		return inspects(q, queue.Inspection{Bodies: true}, 3)
	}},
	{"peek", "a key whose lease has expired", func(t *testing.T, q *Queue, cl *clock) call {
		take(t, q, 3)
		cl.advance(time.Hour)
		return inspects(q, queue.Inspection{Keys: []string{"a"}, States: queue.Waiting}, 1)
	}},
	{"peek", "whether keys are there", func(_ *testing.T, q *Queue, _ *clock) call {
		return func(ctx context.Context) error { _, err := q.Contains(ctx, "a", "z"); return err }
	}},
	{"next", "the calls of a watcher", func(_ *testing.T, q *Queue, _ *clock) call {
		return func(ctx context.Context) error { q.peekNext(ctx); return nil } // a refused call is counted
	}},
	{"repair", "a queue", func(_ *testing.T, q *Queue, _ *clock) call {
		return func(ctx context.Context) error { _, err := q.Repair(ctx, 1000); return err }
	}},
	{"destroy", "a queue", func(_ *testing.T, q *Queue, _ *clock) call { return q.Destroy }},
}

func wantOf(keys ...string) queue.Want {
	return queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: len(keys), Bytes: 1 << 30, For: time.Minute, Only: keys}
}

func appends(q *Queue, c queue.Call) call {
	return func(ctx context.Context) error { _, err := q.Append(ctx, c); return err }
}

// ends is a settlement of two leases.
func ends(end queue.End) prepare {
	return func(t *testing.T, q *Queue, _ *clock) call {
		leases := take(t, q, 2)
		return func(ctx context.Context) error {
			one, two := end, end
			one.Lease, two.Lease = leases[0], leases[1]
			stale, failed, err := q.Settle(ctx, one, two)
			if n := len(stale) + len(failed); err == nil && n > 0 {
				err = fmt.Errorf("got %d ends that are stale or failed, want 0", n)
			}
			return err
		}
	}
}

func parks(t *testing.T, q *Queue) {
	t.Helper()
	_, err := q.Park(t.Context(), "a reason", "b")
	require.NoError(t, err)
}

// counted is a call about one key.
func counted(f func(ctx context.Context) (int, error)) call {
	return func(ctx context.Context) error {
		n, err := f(ctx)
		if err == nil && n != 1 {
			err = fmt.Errorf("got %d keys, want 1", n)
		}
		return err
	}
}

func inspects(q *Queue, what queue.Inspection, want int) call {
	return func(ctx context.Context) error {
		found, err := q.Inspect(ctx, what)
		if err == nil && len(found) != want {
			err = fmt.Errorf("got %d entries, want %d", len(found), want)
		}
		return err
	}
}

// contents returns all data of a queue on the server, by key and field or member.
func contents(t *testing.T, c redis.Cmdable, q *Queue) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, s := range q.shards {
		for i, key := range s.keys {
			if !strings.Contains("psdexyq", kinds[i]) {
				fields, err := c.HGetAll(t.Context(), key).Result()
				require.NoError(t, err)
				all[key] = fields
				continue
			}
			members, err := c.ZRangeWithScores(t.Context(), key, 0, -1).Result()
			require.NoError(t, err)
			all[key] = map[string]string{}
			for _, m := range members {
				all[key][fmt.Sprint(m.Member)] = fmt.Sprint(m.Score)
			}
		}
	}
	return all
}

// fill writes unrelated keys to each server of a cluster.
func fill(t *testing.T, c redis.Cmdable) {
	t.Helper()
	for i := range 60 {
		require.NoError(t, c.Set(t.Context(), fmt.Sprint("filler-", i), strings.Repeat("x", 100_000), 0).Err())
	}
}

func TestEveryScriptButThatOfAppendRunsWhileTheMemoryOfTheServerIsFull(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	server, cluster := servers.NewRedis(t), servers.NewCluster(t)
	for name, place := range map[string]struct {
		client redis.UniversalClient
		nodes  []*servers.RedisServer
		shards int
	}{
		"a server":  {newClient(t, server.Addr()), []*servers.RedisServer{server}, 1},
		"a cluster": {newCluster(t, cluster), cluster.Masters(t), 4},
	} {
		t.Run(name, func(t *testing.T) {
			c := &recorder{UniversalClient: place.client}
			c.forget()
			queues, made := make([]*Queue, len(onFullServer)), make([]call, len(onFullServer))
			for i, row := range onFullServer {
				cl := newClock()
				q, err := New(t.Context(), c, newName(t), &Options{Shards: place.shards, clock: cl.now})
				require.NoError(t, err)
				add(t, q, "a", "b", "c")
				queues[i], made[i] = q, row.prepare(t, q, cl)
			}
			fill(t, place.client)
			for _, node := range place.nodes {
				node.CLI(t, "CONFIG", "SET", "maxmemory", "1mb")
			}
			for i, row := range onFullServer {
				t.Run(row.script+": "+row.what, func(t *testing.T) {
					c.forget()
					sha := byFile[row.script].Hash()
					if row.script != "append" {
						require.NoError(t, made[i](t.Context()))
						assert.Empty(t, c.refused, "a script was refused")
						assert.Positive(t, c.ran[sha], "%s.lua was not run", row.script)
						return
					}
					before := contents(t, place.client, queues[i])
					err := made[i](t.Context())
					require.ErrorIs(t, err, queue.ErrFull)
					require.NotErrorIs(t, err, queue.ErrUnknown)
					require.ErrorContains(t, err, "memory of the server is full")
					assert.Equal(t, before, contents(t, place.client, queues[i]), "something was kept")
					assert.Equal(t, map[string]int{sha: 1}, c.refused)
					require.ErrorIs(t, queues[i].Fault(), queue.ErrFull, "Health names the reason why adding calls wait")
					require.ErrorContains(t, queues[i].Fault(), "memory of the server is full")
				})
			}
			for _, node := range place.nodes {
				node.CLI(t, "CONFIG", "SET", "maxmemory", "0")
			}
			for i, row := range onFullServer {
				if row.script == "append" {
					require.NoError(t, made[i](t.Context()))
					require.NoError(t, queues[i].Fault())
				}
				_ = queues[i].Close() // one is destroyed
			}
		})
	}
}

// Each script needs a row in onFullServer.
func TestEveryScriptIsRunOnAFullServer(t *testing.T) {
	names, err := fs.Glob(files, "lua/*.lua")
	require.NoError(t, err)
	for i := range names {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(names[i], "lua/"), ".lua")
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "shard" || name == "intact" }) // shared by the others
	rows := map[string]bool{}
	for _, row := range onFullServer {
		rows[row.script] = true
	}
	assert.Equal(t, names, slices.Sorted(maps.Keys(byFile)))
	assert.Equal(t, names, slices.Sorted(maps.Keys(rows)))
}
