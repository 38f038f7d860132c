//go:build unix

package redisqueue

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// cpuOf returns the processor time of a process, from /proc.
func cpuOf(t testing.TB, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, err1 := strconv.Atoi(f[11])
	system, err2 := strconv.Atoi(f[12])
	require.NoError(t, err1)
	require.NoError(t, err2)
	return time.Duration(user+system) * (time.Second / 100)
}

func cpuOfThis(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTrip passes records of 650 bytes through Append, Reserve and Settle on a server that syncs each second. It
// reports the CPU seconds of client and server for a million records.
//
//	go test ./bufferedsender/queue/redisqueue -run '^$' -bench Trip -benchtime 300x
func BenchmarkTrip(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("%d a call", n), func(b *testing.B) {
			server := servers.NewRedis(b)
			q, err := New(b.Context(), newClient(b, server.Addr()), newName(b), nil)
			require.NoError(b, err)
			records, adder, holder := make([]queue.Record, n), queue.NewID(), queue.NewID()
			// Real documents differ in many places; Lua is slow with strings that differ in few.
			bodies := make([][]byte, n)
			for i := range bodies {
				bodies[i] = make([]byte, 650)
				for j := range bodies[i] {
					bodies[i][j] = byte('a' + rand.IntN(26))
				}
			}
			var parts [3]struct{ client, server time.Duration }
			measure := func(part int, f func()) {
				c, s := cpuOfThis(b), cpuOf(b, server.PID())
				f()
				parts[part].client += cpuOfThis(b) - c
				parts[part].server += cpuOf(b, server.PID()) - s
			}
			number := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				for i := range records {
					records[i] = queue.Record{Key: "hotel-" + strconv.FormatUint(rand.Uint64(), 36), Op: models.ActionTypeUpload, Body: bodies[i]}
				}
				number++
				var leases []queue.Lease
				measure(0, func() {
					_, err := q.Append(b.Context(), queue.Call{Adder: adder, Number: number, Records: records})
					require.NoError(b, err)
				})
				measure(1, func() {
					leases, err = q.Reserve(b.Context(), queue.Want{Token: queue.NewID(), Holder: holder, Keys: n, Bytes: 1 << 30, For: time.Minute})
					require.NoError(b, err)
					require.Len(b, leases, n)
				})
				measure(2, func() {
					ends := make([]queue.End, n)
					for i := range leases {
						ends[i] = queue.End{Lease: leases[i], Fate: queue.Commit}
					}
					stale, _, err := q.Settle(b.Context(), ends...)
					require.NoError(b, err)
					require.Empty(b, stale)
				})
			}
			per := 1e6 / (float64(b.N) * float64(n))
			var total time.Duration
			for i, name := range []string{"append", "reserve", "settle"} {
				b.ReportMetric(parts[i].client.Seconds()*per, name+"-client-s/M")
				b.ReportMetric(parts[i].server.Seconds()*per, name+"-server-s/M")
				total += parts[i].client + parts[i].server
			}
			b.ReportMetric(total.Seconds()*per, "cpu-s/M")
			require.NoError(b, q.Close())
		})
	}
}

// BenchmarkMemory reports the server's memory for a waiting key, without key and body.
//
//	go test ./bufferedsender/queue/redisqueue -run '^$' -bench Memory -benchtime 1x
func BenchmarkMemory(b *testing.B) {
	server := servers.NewRedis(b, "--appendonly", "no", "--save", "3600 1")
	c := newClient(b, server.Addr())
	used := func() float64 {
		for line := range strings.SplitSeq(server.CLI(b, "INFO", "memory"), "\n") {
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "used_memory:"); ok {
				n, err := strconv.ParseFloat(v, 64)
				require.NoError(b, err)
				return n
			}
		}
		b.Fatal("no used_memory")
		return 0
	}
	const keys = 200_000
	for b.Loop() {
		q, err := New(b.Context(), c, newName(b), nil)
		require.NoError(b, err)
		before, adder := used(), queue.NewID()
		body := bytes.Repeat([]byte("x"), 650)
		for n := range keys / 1000 {
			records := make([]queue.Record, 1000)
			for i := range records {
				records[i] = queue.Record{Key: fmt.Sprintf("hotel-%010d", n*1000+i), Op: models.ActionTypeUpload, Body: body}
			}
			_, err := q.Append(b.Context(), queue.Call{Adder: adder, Number: uint64(n) + 1, Records: records})
			require.NoError(b, err)
		}
		b.ReportMetric((used()-before)/keys, "B/key")
		b.ReportMetric((used()-before)/keys-650-16, "B/key-beside-body-and-key")
		require.NoError(b, q.Destroy(b.Context()))
	}
}

// BenchmarkFailover kills a master. It reports how long after the cluster's recovery the first Append of its shard is
// acknowledged, and the same for a SET of the client alone. The client has default options.
//
//	go test ./bufferedsender/queue/redisqueue -run '^$' -bench Failover -benchtime 3x
func BenchmarkFailover(b *testing.B) {
	type writer func(c *redis.ClusterClient) (key string, write func() error)
	for name, makes := range map[string]writer{
		"Append": func(c *redis.ClusterClient) (string, func() error) {
			q := open(b, c, &Options{Shards: 1})
			return q.shards[0].keys[0], func() error {
				_, err := q.Append(b.Context(), callOf("body", "key"))
				return err
			}
		},
		"SET": func(c *redis.ClusterClient) (string, func() error) {
			return "key", func() error { return c.Set(b.Context(), "key", "value", 0).Err() }
		},
	} {
		b.Run(name, func(b *testing.B) {
			if testing.Short() && name == "SET" {
				b.Skip("the benchmark takes a minute")
			}
			var most, sum time.Duration
			for b.Loop() {
				took := failover(b, makes)
				sum, most = sum+took, max(most, took)
			}
			b.ReportMetric(sum.Seconds()/float64(b.N), "s-mean")
			b.ReportMetric(most.Seconds(), "s-most")
		})
	}
}

// failover returns 0 if the first write was acknowledged before the cluster reported its recovery.
func failover(b *testing.B, makes func(*redis.ClusterClient) (string, func() error)) time.Duration {
	b.Helper()
	cluster := servers.NewCluster(b)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	b.Cleanup(func() { require.NoError(b, client.Close()) })
	key, write := makes(client)
	require.NoError(b, write())
	master := cluster.Master(b, cluster.Slot(b, key))
	replica := cluster.Replica(b, master)
	replicated(b, client, key)
	master.Kill(b)
	acknowledged := make(chan time.Time, 1)
	go func() {
		for began := time.Now(); ; time.Sleep(time.Millisecond) {
			err := write()
			if err == nil {
				break
			}
			if time.Since(began) > 2*time.Minute {
				assert.NoError(b, err, "the cluster has not recovered within two minutes")
				break
			}
		}
		acknowledged <- time.Now()
	}()
	for !slices.Contains(cluster.Masters(b), replica) || !cluster.Ready() {
		time.Sleep(10 * time.Millisecond)
	}
	works := time.Now()
	return max(0, (<-acknowledged).Sub(works))
}

// replicated waits until the replica of a key's master has the data: a queue whose first write is lost with its
// master stays lost.
func replicated(b *testing.B, client *redis.ClusterClient, key string) {
	b.Helper()
	if _, tag, tagged := strings.Cut(key, "{"); tagged {
		key, _, _ = strings.Cut(tag, "}")
	}
	node, err := client.MasterForKey(b.Context(), "{"+key+"}")
	require.NoError(b, err)
	var has *redis.Cmd
	_, err = node.Pipelined(b.Context(), func(p redis.Pipeliner) error { // WAIT covers only the writes of its own connection
		p.Set(b.Context(), "{"+key+"}-last", 1, 0)
		has = p.Do(b.Context(), "WAIT", 1, 10_000)
		return nil
	})
	require.NoError(b, err)
	n, err := has.Int()
	require.NoError(b, err)
	require.Equal(b, 1, n, "replicas")
}
