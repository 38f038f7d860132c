package redisqueue

import (
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
	"github.com/go-azsearch/azsearch/internal/queuehistory"
	"github.com/go-azsearch/azsearch/internal/queuekill"
	"github.com/go-azsearch/azsearch/internal/queuelab"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// otherProcessURL and otherProcessName are the environment variables with the server and the queue that the test
// binary, run as another process, uses until it is killed.
const otherProcessURL, otherProcessName = "AZSEARCH_TEST_REDISQUEUE_URL", "killed"

func TestMain(m *testing.M) {
	if url := os.Getenv(otherProcessURL); url != "" {
		q, err := Open(url, otherProcessName, nil)
		if err == nil {
			err = queuekill.Work(q, os.Stdout)
		}
		panic(err)
	}
	servers.Main(m)
}

func TestAProcessThatIsKilledLosesNothingThatItAcknowledged(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	server := servers.NewRedis(t)
	q, err := Open(server.URL(), otherProcessName, nil)
	require.NoError(t, err)
	var told queuekill.Ledger
	kills := queuekill.Kills(5)
	for range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), otherProcessURL+"="+server.URL())
		told.Kill(t, cmd)
		told.Check(t, q)
	}
	t.Logf("%d kills, %d reports", kills, told.Reports)
	require.NoError(t, q.Close())
}

var lastName atomic.Int64

// newName returns a queue name that is unique in this process.
func newName(t testing.TB) string { return fmt.Sprintf("%s #%d", t.Name(), lastName.Add(1)) }

// clock is the time of a test, which advances it.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ms.Store(time.Now().UnixMilli())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Load()) }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

func newClient(t testing.TB, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func newCluster(t testing.TB, c *servers.RedisCluster) *redis.ClusterClient {
	t.Helper()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), ContextTimeoutEnabled: true, ClusterStateReloadInterval: time.Second})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// backend declares the properties of the queue on a server or cluster behind client.
func backend(client redis.UniversalClient, shards int) queuetest.Backend {
	run := func(t *testing.T, c queuetest.Config, body func(*testing.T, *queuetest.Harness)) {
		clock, name := newClock(), newName(t)
		var opened []*Queue
		open := func(t *testing.T) queue.Queue {
			t.Helper()
			q, err := New(t.Context(), client, name, &Options{MaxKeys: c.MaxKeys, MaxBytes: c.MaxBytes, Shards: shards, clock: clock.now})
			require.NoError(t, err)
			q.patience = time.Minute // a busy machine must not skip a shard
			opened = append(opened, q)
			return q
		}
		h := &queuetest.Harness{
			Queue: open(t), Now: clock.now, Second: open,
			Sleep: clock.advance,
			Await: func(cond func() bool) bool {
				for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
					if cond() {
						return true
					}
				}
				return cond()
			},
			Together: func(n int) (keys []string) {
				for i := 0; len(keys) < n; i++ {
					if k := fmt.Sprintf("key-%05d", i); slotOf(k)%shards == 0 {
						keys = append(keys, k)
					}
				}
				return keys
			},
		}
		h.Reopen = func(t *testing.T) queue.Queue {
			h.Queue = open(t)
			return h.Queue
		}
		body(t, h)
		for _, q := range opened {
			require.NoError(t, q.Close())
		}
	}
	return queuetest.Backend{Run: run, Durable: true, Shared: true, Sharded: shards > 1, Limited: shards == 1}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, backend(newClient(t, servers.Redis(t).Addr()), 1))
}

func TestSuiteOnCluster(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, backend(newCluster(t, servers.Cluster(t)), 16))
}

// Not parallel: the search for an order needs the processor, and gives up after twenty seconds.
func TestConcurrentCallsAreLinearizable(t *testing.T) {
	histories := testkit.Cases(10, 20, 60)
	queuehistory.Check(t, backend(newClient(t, servers.Redis(t).Addr()), 1), queuehistory.Program{Seed: 1, Histories: histories})
	queuehistory.Check(t, backend(newClient(t, servers.Redis(t).Addr()), 4), queuehistory.Program{Seed: 1, Histories: histories / 2})
}

func TestRandomSchedules(t *testing.T) {
	t.Parallel()
	c, schedules := newClient(t, servers.Redis(t).Addr()), testkit.Cases(20, 30, 60)
	queuelab.Check(t, backend(c, 1), queuelab.Program{Seed: 1, Schedules: schedules}).AtLeast(t, 0.1)
	queuelab.Check(t, backend(c, 4), queuelab.Program{Seed: 1, Schedules: schedules / 2})
	queuelab.Check(t, backend(c, 4), queuelab.Program{Seed: 1, Schedules: schedules / 2, Spread: true})
}
