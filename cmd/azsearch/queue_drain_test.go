package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/redisqueue"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// piled appends records that do not replace each other, each of a key.
func piled(t *testing.T, q queue.Queue, keys, each int) {
	t.Helper()
	adder := queue.NewID()
	for i := range each {
		call := queue.Call{Adder: adder, Number: uint64(i + 1)}
		for k := range keys {
			call.Records = append(call.Records, queue.Record{Key: fmt.Sprintf("key-%05d", k), Op: models.ActionTypeMerge, Body: fmt.Appendf(nil, `{"n":%d}`, i)})
		}
		_, err := q.Append(t.Context(), call)
		require.NoError(t, err)
	}
}

// assertPiled checks that all records are present and in order. Records may repeat from the position of a kill.
func assertPiled(t *testing.T, q queue.Admin, keys, each int) {
	t.Helper()
	entries, err := q.Inspect(t.Context(), queue.Inspection{Bodies: true, Limit: 2 * keys})
	require.NoError(t, err)
	require.Len(t, entries, keys)
	for _, e := range entries {
		var last []string // without repeated records
		for i, r := range e.Waiting {
			again := false
			for _, later := range e.Waiting[i+1:] {
				again = again || string(later.Body) == string(r.Body)
			}
			if !again {
				last = append(last, string(r.Body))
			}
		}
		var want []string
		for i := range each {
			want = append(want, fmt.Sprintf(`{"n":%d}`, i))
		}
		require.Equal(t, want, last, e.Key)
	}
}

func TestDrainThatIsKilledAndRunAgainLosesNothing(t *testing.T) {
	testkit.Long(t)
	const keys, each = 4000, 2
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	q := openDirectory(t, from)
	piled(t, q, keys, each)
	require.NoError(t, q.Close())
	path := program(t)
	kills, moment := 0, 10*time.Millisecond
	for {
		cmd := exec.CommandContext(t.Context(), path, "queue", "drain", from, "--to", to)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		said := make(chan string, 1)
		go func() {
			line, _ := bufio.NewReader(stdout).ReadString('\n')
			said <- line
		}()
		// Each run is killed a little later than the previous one, so the loop also ends on a slow machine.
		line := ""
		select {
		case line = <-said:
		case <-time.After(moment):
			require.NoError(t, cmd.Process.Kill())
			line = <-said
		}
		_ = cmd.Wait() // reports the kill
		if line != "" {
			require.Equal(t, 0, strings.Index(line, "moved "), line)
			break
		}
		kills++
		moment = moment * 3 / 2
	}
	require.Positive(t, kills)
	t.Logf("killed %d times", kills)
	q = openDirectory(t, to)
	defer q.Close()
	assertPiled(t, q, keys, each)
	assert.Regexp(t, `(?m)^waiting +0 keys$`, onQueue(t, "stats", from))
}

func TestDrainThatIsInterruptedSaysSo(t *testing.T) {
	t.Chdir(t.TempDir())
	q := openDirectory(t, "from")
	uploads(t, q, "1")
	require.NoError(t, q.Close())
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var stderr bytes.Buffer
	assert.Equal(t, 130, run(ctx, []string{"azsearch", "queue", "drain", "from", "-to", "to"}, &bytes.Buffer{}, &stderr))
	assert.Equal(t, "azsearch: interrupted with 0 records moved; run it again to continue\n", stderr.String())
}

func TestDrainMovesADirectoryToRedisAndLeavesWhatIsParked(t *testing.T) {
	server := servers.NewRedis(t, "--appendonly", "yes")
	server.CLI(t, "CONFIG", "SET", "requirepass", "secret")
	const keys, each = 2500, 3
	from := filepath.Join(t.TempDir(), "from")
	q := openDirectory(t, from)
	piled(t, q, keys, each)
	uploads(t, q, "stuck")
	_, err := q.Park(t.Context(), "for a look", "stuck")
	require.NoError(t, err)
	require.NoError(t, q.Close())

	url := strings.Replace(server.URL(), "redis://", "redis://:secret@", 1) + "/0"
	assertRefused(t, runToEnd(t, "queue", "stats", url, "--name", "hotels"), `there is no queue "hotels"`)
	out := onQueue(t, "drain", from, "--to", url+"?name=hotels")
	assert.Equal(t, "moved 7,500 records; left, because parked: 1 key; azsearch queue release or drop ends that\n", out)

	stats := onQueue(t, "stats", url, "--name", "hotels")
	assert.Contains(t, stats, "2,500 keys")
	assert.Contains(t, stats, "survives")
	assert.NotContains(t, stats, "secret")
	to, err := redisqueue.Open(url, "hotels", nil)
	require.NoError(t, err)
	defer to.Close()
	assertPiled(t, to, keys, each)

	got := runToEnd(t, "queue", "drain", url+"?name=hotels", "--to", url+"?name=hotels")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "are the same queue")
	assert.Regexp(t, "lost: 0 records", onQueue(t, "repair", url+"?name=hotels"))
	assertPiled(t, to, keys, each)
}
