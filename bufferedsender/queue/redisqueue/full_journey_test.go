package redisqueue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/rebuild"
	"github.com/go-azsearch/azsearch/search/rebuild/redisstore"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// bounded has servers with 3 MB of free maxmemory. tight removes one MB again, so that the used memory clearly
// exceeds the limit.
type bounded struct {
	nodes  []*servers.RedisServer
	limits []int
}

func newBounded(t *testing.T, nodes ...*servers.RedisServer) *bounded {
	t.Helper()
	b := &bounded{nodes: nodes}
	for _, node := range nodes {
		_, used, _ := strings.Cut(node.CLI(t, "INFO", "memory"), "used_memory:")
		used, _, _ = strings.Cut(used, "\r")
		n, err := strconv.Atoi(used)
		require.NoError(t, err)
		b.limits = append(b.limits, n+3<<20)
	}
	b.limit(t, 0)
	return b
}

func (b *bounded) limit(t *testing.T, less int) {
	t.Helper()
	for i, node := range b.nodes {
		node.CLI(t, "CONFIG", "SET", "maxmemory", strconv.Itoa(b.limits[i]-less))
	}
}

func (b *bounded) tight(t *testing.T) { t.Helper(); b.limit(t, 1<<20) }

// fillQueue appends keys until each shard is full, and returns the number acknowledged.
func fillQueue(t *testing.T, q *Queue, prefix string) (n int) {
	t.Helper()
	full := map[int]bool{}
	for i := 0; len(full) < len(q.shards); i++ {
		key := prefix + strconv.Itoa(i)
		if full[q.shardOf(key)] {
			continue
		}
		_, err := q.Append(t.Context(), callOf(strings.Repeat("x", 10_000), key))
		if err == nil {
			n++
			continue
		}
		require.ErrorIs(t, err, queue.ErrFull)
		require.NotErrorIs(t, err, queue.ErrUnknown)
		full[q.shardOf(key)] = true
	}
	require.Positive(t, n)
	return n
}

// drainQueue commits all waiting keys, and returns their number.
func drainQueue(t *testing.T, q *Queue) (n int) {
	t.Helper()
	for {
		leases := take(t, q, 40)
		if len(leases) == 0 {
			return n
		}
		require.Empty(t, commit(t, q, leases))
		n += len(leases)
	}
}

func TestAFullQueueIsOpenedInspectedAndDrainedAndThenTakesMore(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	server, cluster := servers.NewRedis(t), servers.NewCluster(t)
	for name, place := range map[string]struct {
		url   string
		nodes []*servers.RedisServer
	}{
		"a server":  {server.URL(), []*servers.RedisServer{server}},
		"a cluster": {cluster.Nodes[0].URL(), cluster.Masters(t)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, b := t.Context(), newBounded(t, place.nodes...)
			q, err := Open(place.url, newName(t), nil)
			require.NoError(t, err)
			n := fillQueue(t, q, "first-")
			require.NoError(t, q.Close())
			b.tight(t)

			q, err = Open(place.url, q.name, nil)
			require.NoError(t, err)
			woken := make(chan struct{}, 1)
			stop := q.Watch(func() {
				select {
				case woken <- struct{}{}:
				default:
				}
			})
			select {
			case <-woken:
			case <-time.After(10 * time.Second):
				t.Error("the watcher was not woken")
			}
			stop()
			s, err := q.Stats(ctx)
			require.NoError(t, err)
			require.EqualValues(t, n, s.Waiting)
			found, err := q.Inspect(ctx, queue.Inspection{Limit: 5, Bodies: true})
			require.NoError(t, err)
			require.Len(t, found, 5)
			require.NoError(t, q.Pause(ctx, "full"))
			require.Empty(t, take(t, q, 6))
			require.NoError(t, q.Resume(ctx))

			endSixLeases(t, q)
			_, err = q.Append(ctx, callOf("x", "while it is full"))
			require.ErrorIs(t, err, queue.ErrFull)
			require.Equal(t, n-2-1, drainQueue(t, q), "two were committed, and one dropped")

			again := fillQueue(t, q, "second-")
			require.Equal(t, again, drainQueue(t, q))
			s, err = q.Stats(ctx)
			require.NoError(t, err)
			require.Zero(t, s.Waiting+s.Leased+s.Parked)
			require.NoError(t, q.Destroy(ctx))
		})
	}
}

// endSixLeases reserves six keys and extends their leases. It commits two of them, releases two, and parks two, of
// which one is unparked and one dropped.
func endSixLeases(t *testing.T, q *Queue) {
	t.Helper()
	ctx, leases := t.Context(), take(t, q, 6)
	require.Len(t, leases, 6)
	lost, err := q.Extend(ctx, time.Minute, leases...)
	require.NoError(t, err)
	require.Empty(t, lost)
	ends := make([]queue.End, 6)
	for i := range ends {
		ends[i] = queue.End{Lease: leases[i], Fate: queue.Fate(i/2 + 1), Reason: "by hand"}
	}
	stale, failed, err := q.Settle(ctx, ends...)
	require.NoError(t, err)
	require.Empty(t, append(stale, failed...))
	n, err := q.Unpark(ctx, leases[4].Key)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = q.Drop(ctx, leases[5].Key)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestASenderThatStartsWhileItsServerIsFullDrainsTheQueue(t *testing.T) {
	t.Parallel()
	for name, marking := range map[string]bool{"alone": false, "while a rebuild marks written keys": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := servers.NewRedis(t)
			service := searchtest.NewServer(nil)
			defer service.Close()
			require.NoError(t, service.CreateIndex(sendertest.HotelIndex))
			var tap *rebuild.Tap
			if marking {
				tap = newTap(t, server, service)
			}
			b := newBounded(t, server)

			q, err := Open(server.URL(), newName(t), nil)
			require.NoError(t, err)
			adder, err := bufferedsender.New(nil, &sendertest.Options{Queue: q, Logger: sendertest.NoLog})
			require.NoError(t, err)
			accepted := fillBySender(t, adder)
			require.NoError(t, adder.Close(t.Context()))
			require.NoError(t, q.Close())
			b.tight(t)

			q, err = Open(server.URL(), q.name, nil)
			require.NoError(t, err)
			opts := sendertest.Options{Queue: q, Logger: sendertest.NoLog, AutoFlushInterval: 20 * time.Millisecond}
			var indexer bufferedsender.Indexer = sendertest.NewClient(t, service)
			if marking {
				opts.Tap, indexer = tap, tap.Indexer()
			}
			sender, err := bufferedsender.New(indexer, &opts)
			require.NoError(t, err)
			testkit.Eventually(t, func() bool {
				s, err := q.Stats(t.Context())
				return err == nil && s.Waiting+s.Leased == 0
			}, "the queue is not drained")
			more := sendertest.Hotels("more", 50)
			require.NoError(t, sender.UploadDocuments(t.Context(), more...))
			require.NoError(t, sender.Flush(t.Context(), nil))
			for _, key := range append(accepted, sendertest.IDs(more)...) {
				_, ok := service.Document("hotels", key)
				require.True(t, ok, "%s was acknowledged, and is not in the index", key)
			}
			require.NoError(t, sender.Close(t.Context()))
			require.NoError(t, q.Close())
		})
	}
}

// fillBySender adds documents until the queue is full, and returns the accepted keys.
func fillBySender(t *testing.T, s *bufferedsender.BufferedSender[sendertest.Hotel]) (accepted []string) {
	t.Helper()
	for {
		h := sendertest.HotelOfSize(fmt.Sprint("hotel-", len(accepted)), 10_000)
		err := s.TryIndexDocuments(models.UploadAction(h))
		if errors.Is(err, bufferedsender.ErrQueueFull) {
			require.NotEmpty(t, accepted)
			return accepted
		}
		require.NoError(t, err)
		accepted = append(accepted, h.ID)
	}
}

// newTap is the tap of a running rebuild whose store is on the same server.
func newTap(t *testing.T, server *servers.RedisServer, service *searchtest.Server) *rebuild.Tap {
	t.Helper()
	store, err := redisstore.New(newClient(t, server.Addr()), redisstore.Options{Name: "hotels"})
	require.NoError(t, err)
	_, err = store.Swap(t.Context(), rebuild.Record{Phase: rebuild.PhaseMarking, Route: "hotels", Epoch: 1, Round: 1})
	require.NoError(t, err)
	tap, err := rebuild.NewTap(t.Context(), store, rebuild.TapOptions{
		Writer: "sender", Index: "hotels",
		Connect: func(string) (rebuild.Indexer, error) { return sendertest.NewClient(t, service), nil },
	})
	require.NoError(t, err)
	return tap
}
