package rediskit

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answering is a client whose replies to INFO and CONFIG a test sets.
type answering struct {
	redis.UniversalClient
	info   string
	config any
}

func (c answering) Do(ctx context.Context, args ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx, args...)
	if args[0] == "INFO" {
		cmd.SetVal(c.info)
	} else if err, ok := c.config.(error); ok {
		cmd.SetErr(err)
	} else {
		cmd.SetVal(c.config)
	}
	return cmd
}

func TestSettingsOfAServerAreReadInBothProtocols(t *testing.T) {
	info := "# Server\r\nredis_version:7.2.4\r\nrole:master\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\nconnected_slaves:2\r\ncluster_enabled:0\r\n"
	want := Server{Version: "7.2.4", Role: "master", Eviction: "noeviction", AOF: "1", Replicas: "2"}
	for name, row := range map[string]struct {
		config      any
		fsync, save string
		read        bool
	}{
		"RESP2":                   {[]any{"", "always"}, "always", "always", true},
		"RESP3":                   {map[any]any{"appendfsync": "everysec", "save": ""}, "everysec", "", true},
		"CONFIG refused":          {said("ERR unknown command 'CONFIG'"), "", "", false},
		"a setting that is not":   {[]any{}, "", "", false},
		"an answer of other form": {"OK", "", "", false},
	} {
		want.FSync, want.Save, want.SaveRead = row.fsync, row.save, row.read
		got, err := Examine(t.Context(), answering{info: info, config: row.config})
		require.NoError(t, err, name)
		assert.Equal(t, []Server{want}, got, name)
	}
	reset := errors.New("read tcp: connection reset by peer")
	for _, err := range []error{reset, said("LOADING Redis is loading the dataset in memory")} {
		_, got := Examine(t.Context(), answering{info: info, config: err})
		require.ErrorIs(t, got, err, "a setting that could not be read now is not unknown")
	}
}

func TestWhatAServerLosesIsNamed(t *testing.T) {
	servers := []Server{{Version: "6.2.14", Addr: "a:1"}, {Version: "7.0", Role: "slave", Eviction: "allkeys-lru", Addr: "b:2"}, {Version: "", Eviction: "volatile-lru"}}
	assert.EqualError(t, Judge(servers, (*Server).Old), "a:1: server is Redis 6.2.14, want 7.0 or later: its scripts have no flags; use a newer server")
	err := Judge(servers, (*Server).Loses)
	assert.ErrorContains(t, err, "b:2: server is a replica")
	assert.ErrorContains(t, err, "maxmemory-policy is allkeys-lru")
	assert.NoError(t, Judge(servers[2:], (*Server).Loses))
	for _, s := range []Server{{}, {AOF: "0"}, {AOF: "0", SaveRead: true, Save: "60 1"}, {AOF: "1", SaveRead: true}} {
		assert.False(t, s.KeepsNothing(), fmt.Sprint(s))
	}
	assert.True(t, (&Server{AOF: "0", SaveRead: true}).KeepsNothing())
}

// wrapped is a client within a user's type.
type wrapped struct{ redis.UniversalClient }

func TestClientsThatCannotKeepStateInOnePlaceAreRefused(t *testing.T) {
	ring, cluster, single, bounded := redis.NewRing(&redis.RingOptions{}), redis.NewClusterClient(&redis.ClusterOptions{}), redis.NewClient(&redis.Options{}), redis.NewClient(&redis.Options{ContextTimeoutEnabled: true})
	for name, row := range map[string]struct {
		client  redis.UniversalClient
		bounded bool
		err     string
	}{
		"none":                     {nil, true, "client is nil"},
		"a nil client":             {(*redis.Client)(nil), true, "client is nil"},
		"a nil client of clusters": {(*redis.ClusterClient)(nil), true, "client is nil"},
		"a nil type of the user":   {(*wrapped)(nil), true, "client is nil"},
		"a Ring":                   {ring, true, "client is a Ring"},
		"a Ring inside":            {struct{ *redis.Ring }{ring}, true, "client is a Ring"},
		"a cluster":                {cluster, false, ""},
		"a server":                 {single, false, ""},
		"a server, bounded":        {bounded, true, ""},
		"a type of the user":       {wrapped{single}, true, ""},
	} {
		ok, err := CheckClient(row.client)
		assert.Equal(t, row.bounded, ok, name)
		if row.err == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, row.err, name)
		}
	}
	assert.NoError(t, CheckWait(single, []Server{{}}))
	assert.NoError(t, CheckWait(cluster, []Server{{Cluster: true}}))
	assert.ErrorContains(t, CheckWait(wrapped{cluster}, []Server{{Cluster: true}}), "use a *redis.ClusterClient")
	for _, c := range []redis.UniversalClient{ring, cluster, single, bounded} {
		assert.NoError(t, c.Close())
	}
}
