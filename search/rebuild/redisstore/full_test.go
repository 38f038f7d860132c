package redisstore

import (
	"context"
	"errors"
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

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/search/rebuild"
)

// recorder is a client that counts the scripts run by the server, by SHA-1.
type recorder struct {
	redis.UniversalClient
	mu  sync.Mutex
	ran map[string]int
}

func (c *recorder) note(sha string, cmd *redis.Cmd) *redis.Cmd {
	if err := cmd.Err(); err == nil || errors.Is(err, redis.Nil) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ran[sha]++
	}
	return cmd
}

func (c *recorder) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return c.note(sha, c.UniversalClient.EvalSha(ctx, sha, keys, args...))
}

func (c *recorder) Eval(ctx context.Context, source string, keys []string, args ...any) *redis.Cmd {
	return c.note(redis.NewScript(source).Hash(), c.UniversalClient.Eval(ctx, source, keys, args...))
}

// byFile has the scripts by file name.
var byFile = map[string]*redis.Script{
	"load": loadScript, "swap": swapScript, "mark": markScript, "marked": markedScript, "unmark": unmarkScript,
	"register": registerScript, "writers": writersScript,
}

// onFullServer has the calls to make on a server without free memory, by script file. The store is marking and has
// the mark a.
var onFullServer = []struct {
	script, what string
	call         func(ctx context.Context, s *Store) error
}{
	{"load", "the record", func(ctx context.Context, s *Store) error {
		r, err := s.Load(ctx)
		return wants(err, r.Phase, rebuild.PhaseMarking)
	}},
	{"swap", "a newer record", func(ctx context.Context, s *Store) error {
		r, err := s.Load(ctx)
		if err == nil {
			r.Round++
			_, err = s.Swap(ctx, r)
		}
		return err
	}},
	{"swap", "the first record of another name", func(ctx context.Context, s *Store) error {
		other, err := New(s.client, Options{Name: newName()})
		if err == nil {
			_, err = other.Swap(ctx, rebuild.Record{Phase: rebuild.PhaseIdle, Route: "x"})
		}
		return err
	}},
	{"mark", "a new key", func(ctx context.Context, s *Store) error {
		_, err := s.Mark(ctx, 1, []string{"b"})
		return err
	}},
	{"mark", "a key that is marked", func(ctx context.Context, s *Store) error {
		_, err := s.Mark(ctx, 1, []string{"a"})
		return err
	}},
	{"marked", "the marks", func(ctx context.Context, s *Store) error {
		keys, err := s.Marked(ctx, 1, 10)
		return wants(err, keys, []string{"a"})
	}},
	{"unmark", "a mark", func(ctx context.Context, s *Store) error { return s.Unmark(ctx, 1, []string{"a"}) }},
	{"register", "a new writer", func(ctx context.Context, s *Store) error { return s.Register(ctx, "w2", time.Now()) }},
	{"writers", "the writers", func(ctx context.Context, s *Store) error {
		all, err := s.Writers(ctx)
		return wants(err, len(all), 1)
	}},
}

// wants returns err, or an error if got differs from want.
func wants(err error, got, want any) error {
	if err == nil && !assert.ObjectsAreEqual(want, got) {
		err = fmt.Errorf("got %v, want %v", got, want)
	}
	return err
}

func TestEveryScriptRunsWhileTheMemoryOfTheServerIsFull(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	server, cluster := servers.NewRedis(t), servers.NewCluster(t)
	for name, place := range map[string]struct {
		client redis.UniversalClient
		nodes  []*servers.RedisServer
		opts   Options
	}{
		"a server":                 {newClient(t, server), []*servers.RedisServer{server}, Options{}},
		"a cluster":                {newCluster(t, cluster), cluster.Masters(t), Options{}},
		"a cluster, for a replica": {newCluster(t, cluster), cluster.Masters(t), Options{Replicas: 1, replicaTimeout: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 60 {
				require.NoError(t, place.client.Set(t.Context(), fmt.Sprint("filler-", i), strings.Repeat("x", 100_000), 0).Err())
			}
			for _, row := range onFullServer {
				t.Run(row.script+": "+row.what, func(t *testing.T) {
					c := &recorder{UniversalClient: place.client, ran: map[string]int{}}
					opts := place.opts
					opts.Name = newName()
					s, err := New(c, opts)
					require.NoError(t, err)
					marking(t, s)
					mark(t, s, "a")
					require.NoError(t, s.Register(t.Context(), "w", time.Now()))
					clear(c.ran)
					maxmemory(t, place.nodes, "1mb")
					defer maxmemory(t, place.nodes, "0")
					require.NoError(t, row.call(t.Context(), s))
					if opts.Replicas == 0 { // with replicas it is sent in a pipeline, which is not counted
						assert.Positive(t, c.ran[byFile[row.script].Hash()], "%s.lua was not run", row.script)
					}
				})
			}
		})
	}
}

func maxmemory(t *testing.T, nodes []*servers.RedisServer, limit string) {
	t.Helper()
	for _, node := range nodes {
		node.CLI(t, "CONFIG", "SET", "maxmemory", limit)
	}
}

// Each script needs a row in onFullServer.
func TestEveryScriptIsRunOnAFullServer(t *testing.T) {
	names, err := fs.Glob(files, "lua/*.lua")
	require.NoError(t, err)
	for i := range names {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(names[i], "lua/"), ".lua")
	}
	rows := map[string]bool{}
	for _, row := range onFullServer {
		rows[row.script] = true
	}
	assert.Equal(t, names, slices.Sorted(maps.Keys(byFile)))
	assert.Equal(t, names, slices.Sorted(maps.Keys(rows)))
}
