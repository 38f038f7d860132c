package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/redisqueue"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// An operator has only these commands to drain a full server. They run in this order on a queue with the keys key-0
// to key-299, of which key-1 and key-2 are parked.
func TestEveryQueueCommandWorksWhileTheMemoryOfTheServerIsFull(t *testing.T) {
	server := servers.NewRedis(t)
	q, err := redisqueue.Open(server.URL(), "hotels", nil)
	require.NoError(t, err)
	defer q.Close()
	call := queue.Call{Adder: queue.NewID(), Number: 1}
	for i := range 300 {
		call.Records = append(call.Records, queue.Record{
			Key: fmt.Sprint("key-", i), Op: models.ActionTypeUpload, Body: []byte(`{"name":"` + strings.Repeat("x", 10_000) + `"}`),
		})
	}
	_, err = q.Append(t.Context(), call)
	require.NoError(t, err)
	_, err = q.Park(t.Context(), "by hand", "key-1", "key-2")
	require.NoError(t, err)
	server.CLI(t, "CONFIG", "SET", "maxmemory", "1mb")
	call.Number++
	_, err = q.Append(t.Context(), call)
	require.ErrorIs(t, err, queue.ErrFull, "the server is not full")

	var ran []string
	dir := filepath.Join(t.TempDir(), "to")
	for _, row := range []struct {
		command, want string
		args          []string
	}{
		{"stats", `(?m)^waiting +298 keys`, nil},
		{"peek", `key-0`, []string{"--bodies", "--limit", "3"}},
		{"parked", `key-2`, nil},
		{"pause", ``, []string{"--reason", "full"}},
		{"stats", `full`, nil},
		{"resume", ``, nil},
		{"release", ``, []string{"key-1"}},
		{"drop", ``, []string{"key-2"}},
		{"repair", `299 keys in the queue; lost: 0 records`, nil},
		{"drain", `moved 299 records`, []string{"--to", dir}},
		{"stats", `(?m)^waiting +0 keys`, nil},
	} {
		url := server.URL() + "/0?name=hotels"
		got := runToEnd(t, append([]string{"queue", row.command, url}, row.args...)...)
		assert.Zero(t, got.code, "%s: %s", row.command, got.stderr)
		assert.Regexp(t, row.want, got.stdout, row.command)
		ran = append(ran, row.command)
	}
	assert.Regexp(t, `(?m)^waiting +299 keys`, onQueue(t, "stats", dir))
	for _, c := range newQueueCommand(&bytes.Buffer{}, &bytes.Buffer{}).Commands {
		assert.Contains(t, ran, c.Name, "a command without a row")
	}
}
