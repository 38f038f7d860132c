package fleet

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// The breakers of the indexes would wait ten minutes when the breaker of the service closes.
func TestAllGoOnSoonAfterTheBreakerOfTheServiceHasClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := []string{"a", "b", "c", "d"}
		s := newService(names...)
		s.answers(sendertest.StatusError(403), names...)
		f := newFleet(t, s, &Options{Breaker: &breaker.Options{OpenFor: 10 * time.Minute, MaxOpenFor: 10 * time.Minute, Jitter: -1}})
		for _, name := range names {
			upload(t, senderOf(t, f, name, nil), 5)
		}
		require.Error(t, f.Flush(sendertest.Within(t, time.Minute)))
		require.Equal(t, breaker.Open, f.Breaker().Status().State)
		s.answers(nil, names...)
		f.Breaker().Reset()
		began := time.Now()
		require.NoError(t, f.Flush(sendertest.Within(t, time.Hour)))
		assert.Less(t, time.Since(began), time.Second)
	})
}

// Two failing indexes of three are not the majority if the third was only idle.
func TestTheFirstUpdateOfAnIdleIndexDoesNotWaitForThoseThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService("a", "b", "idle")
		s.answers(sendertest.StatusError(500), "a", "b")
		f := newFleet(t, s, nil)
		idle := senderOf(t, f, "idle", nil)
		for _, name := range []string{"a", "b"} {
			upload(t, senderOf(t, f, name, nil), 5)
		}
		require.Error(t, f.Flush(sendertest.Within(t, time.Minute)))
		require.NotEqual(t, breaker.Closed, f.Breaker().Status().State, "all requests have failed")
		for _, gap := range []time.Duration{0, time.Hour} {
			time.Sleep(gap)
			began := time.Now()
			upload(t, idle, 5)
			require.NoError(t, idle.Flush(sendertest.Within(t, time.Minute), nil))
			assert.LessOrEqual(t, time.Since(began), 2*s.takes, "one probe, then all other requests")
		}
	})
}

// The breaker of the service opens before most of the indexes have failed often enough for their own.
func TestAllSendersCountAsHeldWhileTheServiceCannotBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := indexes(0, 20)
		s, reader := newService(names...), sdkmetric.NewManualReader()
		f := newFleet(t, s, &Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), Hints: new(hints.Set), Breaker: &breaker.Options{Failures: 5}})
		s.answers(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, names...)
		for _, name := range names {
			upload(t, senderOf(t, f, name, nil), 100)
		}
		time.Sleep(time.Minute)
		require.NotEqual(t, breaker.Closed, f.Breaker().Status().State)
		require.Less(t, f.held.Load(), int64(20))
		assert.InDelta(t, 20, sumsOf(t, reader)["azsearch.fleet.held_senders"], 0)
		n, err := f.Purge(t.Context())
		require.NoError(t, err)
		assert.GreaterOrEqual(t, n, 20*100-20, "of all senders; a probe may be in flight")
		s.answers(nil, names...)
		_ = f.Flush(sendertest.Within(t, time.Hour)) // reports what was purged
		for _, name := range names {
			upload(t, senderOf(t, f, name, nil), 1)
		}
		require.NoError(t, f.Flush(sendertest.Within(t, time.Hour)))
		time.Sleep(time.Second)
		assert.Zero(t, sumsOf(t, reader)["azsearch.fleet.held_senders"])
	})
}

// sometimes is a service with an index that answers 503 once while fails is true.
type sometimes struct {
	*service
	index string
	fails *atomic.Bool
}

func (s sometimes) Indexer(index string) (bufferedsender.Indexer, error) {
	if index != s.index {
		return s.service.Indexer(index)
	}
	return &sendertest.Indexer{Delay: s.takes, Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		if s.fails.Swap(false) {
			return models.IndexDocumentsResult{}, sendertest.StatusError(503)
		}
		return sendertest.AcceptAll(ctx, body)
	}}, nil
}

// The first update of an idle index is the probe of the service, which waits for one while others fail. It is refused
// once.
func TestOneFailureOfAnIndexThatIsWellStopsNoneWhileOthersFail(t *testing.T) {
	for _, sick := range []int{2, 3} {
		synctest.Test(t, func(t *testing.T) {
			names := indexes(0, sick)
			s := newService(names...)
			s.answers(sendertest.StatusError(503), names...)
			fails := new(atomic.Bool)
			f := newFleet(t, sometimes{s, "idle", fails}, nil)
			idle := senderOf(t, f, "idle", nil)
			for _, name := range names {
				upload(t, senderOf(t, f, name, nil), 5)
			}
			require.Error(t, f.Flush(sendertest.Within(t, time.Minute)))
			for now := f.Breaker().Status(); now.State != breaker.HalfOpen || !now.Probe.IsZero(); now = f.Breaker().Status() {
				time.Sleep(10 * time.Millisecond)
			}
			fails.Store(true)
			began := time.Now()
			upload(t, idle, 1)
			require.NoError(t, idle.Flush(sendertest.Within(t, time.Minute), nil))
			assert.False(t, fails.Load())
			assert.Less(t, time.Since(began), time.Second)
			s.answers(nil, names...)
		})
	}
}

// failing starts senders of four indexes that have failed for a while, and of a number of others whose first request
// fails now. It returns a sender of an index that is well.
func failing(t *testing.T, f *Fleet, late int) (well *bufferedsender.BufferedSender[hotel]) {
	t.Helper()
	well = senderOf(t, f, "idle", nil)
	for _, name := range indexes(0, 4) {
		upload(t, senderOf(t, f, name, nil), 5)
	}
	require.Error(t, f.Flush(sendertest.Within(t, 15*time.Minute)))
	for _, name := range indexes(4, 4+late) {
		sender := senderOf(t, f, name, nil)
		upload(t, sender, 1)
		go func() { _ = sender.Flush(t.Context(), nil) }()
		time.Sleep(100 * time.Millisecond)
	}
	require.NotEqual(t, breaker.Closed, f.Breaker().Status().State)
	return well
}

// Failures of other indexes are no evidence about an index, and one of its own is too little: whenever it comes, and
// however many others have been tried in vain before.
func TestAnIndexThatIsWellIsSentAsIfAloneWhileOthersFail(t *testing.T) {
	for phase := range testkit.Cases(4, 12, 100) {
		for _, late := range []int{0, 10} {
			for _, once := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					names, fails := indexes(0, 4+late), new(atomic.Bool)
					s := newService(names...)
					s.answers(sendertest.StatusError(503), names...)
					well := failing(t, newFleet(t, sometimes{s, "idle", fails}, nil), late)
					time.Sleep(time.Duration(phase) * 370 * time.Millisecond)
					fails.Store(once)
					began, longest := time.Now(), 2*s.takes
					if once {
						longest += retry.DefaultDelay
					}
					upload(t, well, 1)
					require.NoError(t, well.Flush(sendertest.Within(t, time.Minute), nil))
					assert.LessOrEqual(t, time.Since(began), longest+s.takes, "it may wait for the request of another one")
					s.answers(nil, names...)
				})
			}
		}
	}
}

func TestAnIndexThatIsWellDoesNotWaitLongForTheFirstRequestsOfOthersThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := indexes(0, 5)
		h := &hung{service: newService(names...)}
		for _, name := range names {
			h.hangs.Store(name, all)
		}
		well := failing(t, newFleet(t, h, nil), 1)
		began := time.Now()
		upload(t, well, 1)
		require.NoError(t, well.Flush(sendertest.Within(t, time.Minute), nil))
		assert.Less(t, time.Since(began), 2*time.Second)
		h.hangs.Clear()
	})
}

// While the service is down, each idle index detects that by itself, one after another.
func TestIdleIndexesTryAServiceThatIsDownAFewTimesEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
		s := newService(names...)
		s.answers(sendertest.StatusError(500), names...)
		f := newFleet(t, s, &Options{Breaker: steady()})
		for _, name := range names[:2] {
			upload(t, senderOf(t, f, name, nil), 5)
		}
		require.Error(t, f.Flush(sendertest.Within(t, time.Minute)))
		require.NotEqual(t, breaker.Closed, f.Breaker().Status().State)
		for _, name := range names[2:] {
			upload(t, senderOf(t, f, name, nil), 1)
		}
		requests := func() (n int) {
			for _, name := range names {
				n += s.requests(name)
			}
			return n
		}
		before := requests()
		time.Sleep(time.Minute)
		early := requests() - before
		assert.LessOrEqual(t, early, 6*3+14, "a few of each index, until its own breaker opens, and the probes of the first minute")
		require.Error(t, f.Flush(sendertest.Within(t, time.Hour)))
		assert.LessOrEqual(t, requests()-before-early, 3600/15, "one probe at a time")
		s.answers(nil, names...)
		began := time.Now()
		require.NoError(t, f.Flush(sendertest.Within(t, time.Hour)))
		assert.LessOrEqual(t, time.Since(began), 31*time.Second)
	})
}

// A fleet without a free slot is busy, not unhealthy, and one missing index does not make it unready.
func TestHealthTellsWhatIsBusyFromWhatIsSick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := []string{"a", "b", "c", "gone"}
		s := newService(names...)
		f := newFleet(t, s, &Options{Pool: &pool.Options{Expedited: 1, Shared: 1}})
		other, err := f.Pool().Join("export")
		require.NoError(t, err)
		go func() {
			_ = other.Do(t.Context(), models.ClassExpedited, func(context.Context) error { time.Sleep(time.Minute); return nil })
		}()
		synctest.Wait()
		for _, name := range names[:3] {
			upload(t, senderOf(t, f, name, nil), 1)
		}
		time.Sleep(30 * time.Second)
		h := f.Health()
		require.NotEmpty(t, h.Indexes)
		assert.NoError(t, h.Err())
		assert.Contains(t, h.String(), "all 3 senders are healthy, 3 wait for a slot")

		s.answers(sendertest.StatusError(404), "gone")
		upload(t, senderOf(t, f, "gone", nil), 1)
		require.Error(t, f.Flush(sendertest.Within(t, 5*time.Minute)))
		h = f.Health()
		require.ErrorContains(t, h.Err(), `index "gone"`)
		require.NoError(t, h.Ready(), "the readiness probe succeeds")
	})
}
