package redisqueue

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/rediskit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// A script with flags is refused before its first line, with other messages than a command outside a script.
func TestRefusalsOfAServerThatMayEndAreTriedAgain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		args   []string
		refuse func(t *testing.T, s *servers.RedisServer)
		reads  bool // read-only scripts are refused, too
		again  bool
	}{
		"NOREPLICAS": {nil, func(t *testing.T, s *servers.RedisServer) {
			s.CLI(t, "CONFIG", "SET", "min-replicas-to-write", "1")
		}, false, true},
		"READONLY": {nil, func(t *testing.T, s *servers.RedisServer) {
			s.CLI(t, "REPLICAOF", "127.0.0.1", "1")
		}, false, true},
		"MASTERDOWN": {nil, func(t *testing.T, s *servers.RedisServer) {
			s.CLI(t, "CONFIG", "SET", "replica-serve-stale-data", "no")
			s.CLI(t, "REPLICAOF", "127.0.0.1", "1")
		}, true, true},
		"BUSY": {nil, func(t *testing.T, s *servers.RedisServer) {
			s.CLI(t, "CONFIG", "SET", "busy-reply-threshold", "1")
			c, done := redis.NewClient(&redis.Options{Addr: s.Addr(), ReadTimeout: -1}), make(chan struct{})
			go func() {
				defer close(done)
				c.Eval(context.Background(), "while true do end", nil) // until SCRIPT KILL
			}()
			t.Cleanup(func() {
				s.CLI(t, "SCRIPT", "KILL")
				<-done
				require.NoError(t, c.Close())
			})
			testkit.Eventually(t, func() bool {
				return redis.HasErrorPrefix(c.Get(t.Context(), "x").Err(), "BUSY")
			})
		}, true, true},
		"MISCONF": {brokenSnapshots(t), failsToSave, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := servers.NewRedis(t, row.args...)
			c := newClient(t, server.Addr())
			q := open(t, c, nil)
			add(t, q, "a")
			row.refuse(t, server)
			for file, args := range map[string][]any{"next": nil, "stats": nil, "append": {testAdder[:], calls.Add(1), 0, 0, 0, 0, 0}} {
				err := byFile[file].Run(t.Context(), c, q.shards[0].keys, q.with(0, args)...).Err()
				if file == "next" && !row.reads {
					require.NoError(t, err)
					continue
				}
				require.Error(t, err, file)
				assert.Equal(t, row.again, rediskit.Transient(err), "%s: %v", file, err)
			}
		})
	}
}

// aged is a client of a server of version 6.2.
type aged struct{ redis.UniversalClient }

func (aged) Do(ctx context.Context, args ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx, args...)
	cmd.SetVal("redis_version:6.2.14\r\nrole:master\r\naof_enabled:1\r\n")
	return cmd
}

// AcceptWeaker concerns persistence. A server without script flags cannot run the scripts at all.
func TestAServerThatKnowsNoFlagsOfScriptsIsRefusedWhateverIsAccepted(t *testing.T) {
	_, err := New(t.Context(), aged{}, "q", &Options{AcceptWeaker: true})
	require.ErrorContains(t, err, "redisqueue: server is Redis 6.2.14, want 7.0 or later")
}

// brokenSnapshots are arguments of a server whose snapshots fail. After failsToSave it refuses writes.
func brokenSnapshots(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a-directory", "that-is-not-empty"), 0o700))
	return []string{"--dir", dir, "--dbfilename", "a-directory"}
}

func failsToSave(t *testing.T, s *servers.RedisServer) {
	t.Helper()
	s.CLI(t, "CONFIG", "SET", "save", "3600 1000000")
	s.CLI(t, "BGSAVE")
	testkit.Eventually(t, func() bool {
		return strings.Contains(s.CLI(t, "INFO", "persistence"), "rdb_last_bgsave_status:err")
	})
}

func TestAServerThatCannotSaveToItsDiskIsNamedAndKeepsNothing(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t, brokenSnapshots(t)...)
	q := open(t, newClient(t, server.Addr()), nil)
	add(t, q, "a")
	failsToSave(t, server)
	_, err := q.Append(t.Context(), mergeOf("b"))
	require.ErrorContains(t, err, "redisqueue: server refuses writes because it cannot save to its disk; free the disk")
	require.NotErrorIs(t, err, queue.ErrUnknown, "a read shows that nothing was kept")
	require.NotErrorIs(t, err, queue.ErrFull)
	_, err = New(t.Context(), q.client, q.name, nil)
	require.ErrorContains(t, err, "cannot save to its disk")
	_, err = q.Repair(t.Context(), 100)
	require.ErrorContains(t, err, "cannot save to its disk")
	server.CLI(t, "CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
	require.False(t, there(t, q, "b"))
}
