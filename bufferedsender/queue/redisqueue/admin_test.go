package redisqueue

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestDestroyDoesNotDestroyANewQueue(t *testing.T) {
	t.Parallel()
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
