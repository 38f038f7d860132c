package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

type hotel = sendertest.Hotel

// service is a Service in memory with configurable replies.
type service struct {
	takes time.Duration

	mu     sync.Mutex
	errs   map[string]error // by index; nil: accept everything
	counts map[string]int   // requests
	times  []time.Time
	names  []string
}

func newService(names ...string) *service {
	return &service{takes: 10 * time.Millisecond, errs: map[string]error{}, counts: map[string]int{}, names: names}
}

func (s *service) answers(err error, indexes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, index := range indexes {
		s.errs[index] = err
	}
}

func (s *service) requests(index string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[index]
}

func (s *service) Indexer(index string) (bufferedsender.Indexer, error) {
	if index == "" {
		return nil, errors.New("an index has a name")
	}
	return &sendertest.Catalog{KeyField: func(context.Context) (string, error) { return "id", nil }, Indexer: sendertest.Indexer{Delay: s.takes, Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		s.mu.Lock()
		s.counts[index]++
		s.times = append(s.times, time.Now())
		err := s.errs[index]
		s.mu.Unlock()
		if err != nil {
			return models.IndexDocumentsResult{}, err
		}
		return sendertest.AcceptAll(ctx, body)
	}}}, nil
}

func (s *service) IndexNames(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, name := range s.names {
			if !yield(name, nil) {
				return
			}
		}
	}
}

// steady returns options of breakers that stay open for exactly ten seconds.
func steady() *breaker.Options {
	return &breaker.Options{OpenFor: 10 * time.Second, MaxOpenFor: 10 * time.Second, Jitter: -1}
}

func newFleet(t *testing.T, s Service, opts *Options) *Fleet {
	t.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Logger = sendertest.NoLog
	f, err := New(s, &o)
	require.NoError(t, err)
	sendertest.CloseAtEnd(t, f)
	return f
}

func senderOf(t *testing.T, f *Fleet, index string, opts *bufferedsender.Options[hotel]) *bufferedsender.BufferedSender[hotel] {
	t.Helper()
	s, err := Sender(f, index, opts)
	require.NoError(t, err)
	return s
}

func upload(t *testing.T, s *bufferedsender.BufferedSender[hotel], n int) {
	t.Helper()
	require.NoError(t, s.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.Hotels("k", n)...))
}

func TestAnIndexHasOneSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newService(), nil)
		all := make([]*bufferedsender.BufferedSender[hotel], 20)
		var wait sync.WaitGroup
		for i := range all {
			wait.Go(func() { all[i], _ = Sender[hotel](f, "hotels", nil) })
		}
		wait.Wait()
		for _, s := range all {
			require.NotNil(t, s)
			assert.Same(t, all[0], s)
		}
		_, err := Sender[models.Document](f, "hotels", nil)
		require.ErrorContains(t, err, `the sender of index "hotels" is a *bufferedsender.BufferedSender[`)
		raw, err := f.Raw("hotels")
		require.NoError(t, err)
		require.NoError(t, raw.Add(t.Context(), models.RawAction{Type: models.ActionTypeDelete, Key: "1"}))
		require.NoError(t, f.Flush(t.Context()))
		assert.EqualValues(t, 1, all[0].Stats().Completed)

		_, err = f.Raw("motels")
		require.NoError(t, err)
		assert.Equal(t, []string{"hotels", "motels"}, f.Indexes())
		_, err = Sender[hotel](f, "", nil)
		require.ErrorContains(t, err, "an index has a name")
	})
}

func TestOptionsThatTheFleetSetsAreRefused(t *testing.T) {
	p, err := pool.New(nil)
	require.NoError(t, err)
	m, err := p.Join("x")
	require.NoError(t, err)
	b, err := breaker.New(nil)
	require.NoError(t, err)
	f := newFleet(t, newService(), nil)
	for want, opts := range map[string]bufferedsender.Options[hotel]{
		"have a Share":          {Share: m},
		"has a breaker":         {Outage: bufferedsender.Hold{Breaker: b}},
		"Outage: got ":          {Outage: bufferedsender.FailSoon{}},
		"MaxInFlight is -1":     {Limits: bufferedsender.Limits{MaxInFlight: -1}},
		"there is no class 200": {Class: 200},
	} {
		_, err := Sender(f, "hotels", &opts)
		require.ErrorContains(t, err, want)
	}
	_, err = Sender[hotel](f, "hotels", nil)
	require.NoError(t, err, "a failed call leaves nothing behind")

	for want, opts := range map[string]Options{
		"set Hints":              {WhenFull: PurgeSick},
		"there is no WhenFull 7": {WhenFull: 7},
		"Expedited is -1":        {Pool: &pool.Options{Expedited: -1}},
		"Tuning is a nil *":      {Tuning: (*struct{ tuning.Policy })(nil)},
	} {
		_, err := New(newService(), &opts)
		require.ErrorContains(t, err, want)
	}
	_, err = New(nil, nil)
	require.ErrorContains(t, err, "service is nil")
	_, err = New((*struct{ Service })(nil), nil)
	require.ErrorContains(t, err, "service is nil")
}

func TestDiscoverKnowsAllIndexesAndMakesNoSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService("b", "a")
		f := newFleet(t, s, nil)
		names, err := f.Discover(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, names)
		assert.Equal(t, 2, f.Stats().Indexes)
		assert.Zero(t, f.Stats().Senders)
		_, err = newFleet(t, From(func(string) (*sendertest.Indexer, error) { return nil, nil }, nil), nil).Discover(t.Context())
		require.ErrorContains(t, err, "give it to From")
	})
}

// All indexes share the deadline, and one of them fails.
func TestFlushAndCloseReportByIndexAndTheSickOneKeepsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.answers(sendertest.StatusError(403), "sick")
		f := newFleet(t, s, nil)
		for _, name := range []string{"a", "b", "sick"} {
			upload(t, senderOf(t, f, name, nil), 5)
		}
		err := f.Flush(sendertest.Within(t, time.Second))
		failed := (*Error)(nil)
		require.ErrorAs(t, err, &failed)
		require.Len(t, failed.Indexes, 1)
		assert.Equal(t, "sick", failed.Indexes[0].Index)
		require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
		assert.ErrorContains(t, err, "1 of 3 indexes failed")
		assert.EqualValues(t, 10, f.Stats().All.Completed)
		require.NoError(t, f.Drain(sendertest.Within(t, time.Second), func(index string) bool { return index != "sick" }))

		h := f.Health()
		require.Len(t, h.Indexes, 1)
		assert.Equal(t, "sick", h.Indexes[0].Index)
		require.ErrorIs(t, f.Health().Indexes[0].Err, bufferedsender.ErrCircuitOpen)
		require.Error(t, h.Err())
		assert.Contains(t, h.String(), "1 of 3 senders are not healthy")

		closed := (*bufferedsender.CloseError)(nil)
		require.ErrorAs(t, f.Close(sendertest.Within(t, time.Second)), &closed)
		assert.Equal(t, 5, closed.Unsent+closed.Unknown, "the probe may be under way")
		require.NoError(t, f.Close(t.Context()))
		_, err = Sender[hotel](f, "a", nil)
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestDropClosesASenderAndTheNextOneIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newService(), nil)
		first := senderOf(t, f, "hotels", nil)
		upload(t, first, 5)
		require.NoError(t, f.Drop(t.Context(), "hotels"))
		require.ErrorIs(t, first.UploadDocuments(t.Context(), hotel{ID: "1"}), bufferedsender.ErrClosed)
		assert.EqualValues(t, 5, first.Stats().Completed)
		assert.Empty(t, f.Indexes())
		second := senderOf(t, f, "hotels", nil)
		assert.NotSame(t, first, second)
		upload(t, second, 1)
		require.NoError(t, f.Drop(t.Context(), "nobody"))
	})
}

func TestPauseHoldsSendersThatAreMadeLaterToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		f := newFleet(t, s, nil)
		require.NoError(t, f.Pause("later"))
		upload(t, senderOf(t, f, "later", nil), 1)
		upload(t, senderOf(t, f, "hotels", nil), 1)
		require.ErrorIs(t, f.Flush(sendertest.Within(t, time.Second)), bufferedsender.ErrPaused)
		assert.Equal(t, 1, s.requests("hotels"))
		assert.Zero(t, s.requests("later"))
		require.NoError(t, f.Resume("later"))
		require.NoError(t, f.Flush(sendertest.Within(t, time.Second)))

		require.NoError(t, f.Pause())
		upload(t, senderOf(t, f, "third", nil), 1)
		upload(t, senderOf(t, f, "hotels", nil), 1)
		require.Error(t, f.Flush(sendertest.Within(t, time.Second)))
		assert.Zero(t, s.requests("third"))
		require.NoError(t, f.Resume("fourth"))
		upload(t, senderOf(t, f, "fourth", nil), 1)
		require.NoError(t, senderOf(t, f, "fourth", nil).Flush(sendertest.Within(t, time.Second), nil), "it was resumed by name, before it had a sender")
		require.NoError(t, f.Resume())
		require.NoError(t, f.Flush(sendertest.Within(t, time.Second)))
	})
}

// Every index answers 503: a single index cannot show that the service is down.
func TestWhenAllIndexesFailOneRequestAtATimeFindsOutWhenTheyWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for i := range 24 {
			names = append(names, fmt.Sprint("index", i))
		}
		s := newService(names...)
		f := newFleet(t, s, &Options{Breaker: &breaker.Options{OpenFor: time.Second, MaxOpenFor: 30 * time.Second}})
		for _, name := range names {
			upload(t, senderOf(t, f, name, nil), 1)
		}
		require.NoError(t, f.Flush(t.Context()))
		s.answers(sendertest.StatusError(503), names...)
		for _, name := range names {
			upload(t, senderOf(t, f, name, nil), 1)
		}
		require.Error(t, f.Flush(sendertest.Within(t, 10*time.Minute)))
		assert.NotEqual(t, breaker.Closed, f.Breaker().Status().State)
		assert.Error(t, f.Health().Service)
		s.mu.Lock()
		late := 0
		for _, at := range s.times {
			if time.Since(at) < 8*time.Minute {
				late++
			}
		}
		s.mu.Unlock()
		assert.Less(t, late, 200, "one probe every few seconds for eight minutes; a probe of each index would make five hundred")

		s.answers(nil, names...)
		began := time.Now()
		require.NoError(t, f.Flush(t.Context()))
		assert.Less(t, time.Since(began), 31*time.Second, "one probe, and soon afterwards all requests are sent")
		assert.Equal(t, breaker.Closed, f.Breaker().Status().State)
	})
}

func TestASickIndexDoesNotHoldTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		f := newFleet(t, s, nil)
		s.answers(sendertest.StatusError(503), "sick", "sicker")
		for _, name := range []string{"sick", "sicker", "a", "b"} {
			upload(t, senderOf(t, f, name, nil), 100)
		}
		require.NoError(t, f.Drain(sendertest.Within(t, time.Second), func(i string) bool { return i[0] != 's' }))
		time.Sleep(time.Minute)
		for range 20 {
			upload(t, senderOf(t, f, "a", nil), 100)
			upload(t, senderOf(t, f, "b", nil), 100)
			began := time.Now()
			require.NoError(t, f.Drain(t.Context(), func(i string) bool { return i[0] != 's' }))
			assert.LessOrEqual(t, time.Since(began), 20*time.Millisecond)
			time.Sleep(time.Second)
		}
		assert.Equal(t, breaker.Closed, f.Breaker().Status().State)
		s.answers(nil, "sick", "sicker")
	})
}

// Nothing proves that the service works, but the failing indexes are not the majority.
func TestTwoSickIndexesAmongIdleOnesAreNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		f := newFleet(t, s, nil)
		s.answers(sendertest.StatusError(503), "sick", "sicker")
		for _, name := range []string{"a", "b", "sick", "sicker"} {
			senderOf(t, f, name, nil)
		}
		for _, name := range []string{"sick", "sicker"} {
			upload(t, senderOf(t, f, name, nil), 100)
		}
		time.Sleep(time.Minute)
		assert.Len(t, f.Health().Indexes, 2)
		assert.Zero(t, f.Breaker().Status().Counts.Opened)
		s.answers(nil, "sick", "sicker")
	})
}

// The failing index has borrowed all shared room, and a new index needs some.
func TestPurgeSickGivesUpWhatASickIndexKeepsAndRemembersTheKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := new(hints.Set)
		s := newService()
		f := newFleet(t, s, &Options{
			Hints: set, WhenFull: PurgeSick, Breaker: steady(),
			Pool: &pool.Options{BufferedActions: 100, FloorActions: 50},
		})
		for _, name := range []string{"one", "two", "three"} { // otherwise the service would count as failing
			senderOf(t, f, name, nil)
		}
		s.answers(sendertest.StatusError(403), "sick", "ill")
		healthy := senderOf(t, f, "healthy", nil)
		senderOf(t, f, "idle", nil) // so that failing indexes are not the majority, and are tried one by one
		for _, name := range []string{"sick", "ill"} {
			one := senderOf(t, f, name, nil)
			upload(t, one, 50)
			require.Error(t, one.Flush(sendertest.Within(t, time.Second), nil))
		}
		began := time.Now()
		upload(t, healthy, 10)
		assert.LessOrEqual(t, time.Since(began), 4*time.Second)
		require.NoError(t, healthy.Flush(t.Context(), nil))
		time.Sleep(5 * time.Second) // no call is waiting now
		assert.GreaterOrEqual(t, set.Stats().Keys["sick"], 49, "the first index to fail; one of its actions may be in flight as a probe")
		assert.Empty(t, set.Stats().Everything)
		assert.Zero(t, set.Stats().Keys["ill"])

		n, err := f.Purge(t.Context(), "ill")
		require.NoError(t, err)
		assert.GreaterOrEqual(t, n, 49)
		assert.Equal(t, []string{"ill", "sick"}, slices.Sorted(maps.Keys(set.Stats().Keys)))
		_, err = f.Purge(t.Context(), "nobody")
		require.Error(t, err)
		s.answers(nil, "sick", "ill")
	})
}

// What waits is less urgent than half of what the failing index keeps.
func TestPurgeSickGivesUpNothingMoreUrgentThanWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, s := new(hints.Set), newService()
		f := newFleet(t, s, &Options{Hints: set, WhenFull: PurgeSick, Breaker: steady(), Pool: &pool.Options{BufferedActions: 400, FloorActions: 25}})
		sick := senderOf(t, f, "sick", nil)
		upload(t, sick, 250)
		require.NoError(t, sick.Flush(t.Context(), nil)) // it may borrow as much as it has returned
		s.answers(sendertest.StatusError(403), "sick")
		for class, name := range map[models.Class]string{models.ClassExpedited: "urgent", models.ClassBestEffort: "idle"} {
			require.NoError(t, sick.UploadDocuments(models.WithClass(t.Context(), class), sendertest.Hotels(name, 120)...))
		}
		time.Sleep(time.Minute)
		other, err := f.Pool().Join("other")
		require.NoError(t, err)
		room := other.Room(func() {}, nil)
		takes := func(class models.Class) (n int) {
			for room.Take(class, 1, true, false) {
				n++
			}
			return n
		}
		for range 400 { // it may borrow as much
			require.True(t, room.Take(models.ClassBestEffort, 1, true, false))
			room.Return(1, 1)
		}
		purged := func() (urgent, idle int) {
			keys := set.Take("sick", 1000).Keys
			n := len(slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !strings.HasPrefix(key, "urgent") }))
			return n, len(keys) - n
		}
		require.Positive(t, takes(models.ClassBestEffort))
		time.Sleep(3 * time.Second)
		urgent, idle := purged()
		assert.Zero(t, urgent)
		assert.InDelta(t, 25, idle, 0, "one batch, and then there was room")
		for range 60 {
			takes(models.ClassBestEffort)
			time.Sleep(time.Second)
		}
		urgent, idle = purged()
		assert.Zero(t, urgent)
		assert.InDelta(t, 95, idle, 1, "one may be in flight as a probe")
		require.Equal(t, 1, f.Pool().Stats().WaitingForRoom)
		assert.Equal(t, models.ClassBestEffort, f.Pool().Stats().WaitingClass)
		takes(models.ClassExpedited)
		assert.Equal(t, models.ClassExpedited, f.Pool().Stats().WaitingClass)
		time.Sleep(3 * time.Second)
		urgent, _ = purged()
		assert.Positive(t, urgent, "now the call is as urgent")
		room.Quit()
		other.Leave()
		s.answers(nil, "sick")
	})
}

// slowToOpen is a service whose clients take time to create.
type slowToOpen struct{ *service }

func (s slowToOpen) Indexer(index string) (bufferedsender.Indexer, error) {
	time.Sleep(time.Second)
	return s.service.Indexer(index)
}

// A sender that is created during Close must be closed too.
func TestASenderThatIsBeingMadeIsClosedWithTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, slowToOpen{newService()}, nil)
		made := make(chan error, 1)
		go func() {
			_, err := Sender[hotel](f, "hotels", nil)
			made <- err
		}()
		synctest.Wait()
		require.NoError(t, f.Close(t.Context()))
		require.ErrorIs(t, <-made, ErrClosed)
		assert.Zero(t, f.made.Load())
		assert.Zero(t, f.pool.Stats().Members)
	})
}

// One controller serves all indexes: what it learns applies to all of them.
func TestTheSlotsFollowTheTuningOfTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		f := newFleet(t, s, &Options{Tuning: onlyTwo{}})
		assert.Equal(t, 1, f.Pool().Stats().Slots, "the fleet has its initial number of slots")
		for _, name := range []string{"a", "b", "c"} {
			one := senderOf(t, f, name, &bufferedsender.Options[hotel]{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 8}})
			upload(t, one, 100)
		}
		require.NoError(t, f.Flush(t.Context()))
		assert.Equal(t, 2, f.Pool().Stats().Slots)
		assert.Equal(t, 5, senderOf(t, f, "a", nil).Stats().BatchActionsLimit)
	})
}

// onlyTwo is a policy of one request in flight at first, and later of two with five documents each.
type onlyTwo struct{ seen bool }

func (onlyTwo) New(tuning.Bounds) tuning.Controller { return &onlyTwo{} }

func (c *onlyTwo) Pace() tuning.Pace {
	if !c.seen {
		return tuning.Pace{BatchActions: 10, BatchBytes: 1 << 20, InFlight: 1}
	}
	return tuning.Pace{BatchActions: 5, BatchBytes: 1 << 20, InFlight: 2}
}

func (c *onlyTwo) Observe(tuning.Observation) tuning.Pace {
	c.seen = true
	return c.Pace()
}

// Counts survive, and a closed fleet does not report healthy.
func TestStatsKeepWhatClosedSendersHaveDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		f := newFleet(t, s, nil)
		upload(t, senderOf(t, f, "a", nil), 5)
		upload(t, senderOf(t, f, "b", nil), 3)
		require.NoError(t, f.Flush(t.Context()))
		require.NoError(t, f.Drop(t.Context(), "a"))
		assert.EqualValues(t, 8, f.Stats().All.Completed)
		require.NoError(t, f.Health().Err())
		require.NoError(t, f.Close(t.Context()))
		assert.EqualValues(t, 8, f.Stats().All.Completed)
		assert.EqualValues(t, 8, f.Stats().All.Accepted)
		require.ErrorIs(t, f.Health().Err(), ErrClosed)
	})
}

func TestAnIndexWhoseSenderCannotBeMadeIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newService(), nil)
		_, err := Sender[hotel](f, "", nil)
		require.Error(t, err)
		assert.Empty(t, f.Indexes())
		require.NoError(t, f.Pause("named"))
		_, err = Sender(f, "named", &bufferedsender.Options[hotel]{Class: 99})
		require.Error(t, err)
		assert.Equal(t, []string{"named"}, f.Indexes(), "a call has named this index")
	})
}

// sumsOf reads the metrics of the fleet, summed over their attributes.
func sumsOf(t *testing.T, reader *sdkmetric.ManualReader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	sums := map[string]float64{}
	for _, of := range all.ScopeMetrics {
		if of.Scope.Name != scope {
			continue
		}
		for _, m := range of.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					sums[m.Name] += float64(p.Value)
				}
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					sums[m.Name] += p.Value
				}
			}
		}
	}
	return sums
}

func TestTheMetricsOfTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdkmetric.NewManualReader()
		s := newService()
		f := newFleet(t, s, &Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), Pool: &pool.Options{Expedited: 3}})
		upload(t, senderOf(t, f, "a", nil), 5)
		s.answers(sendertest.StatusError(403), "b")
		upload(t, senderOf(t, f, "b", nil), 5)
		require.Error(t, f.Flush(sendertest.Within(t, time.Second)))
		synctest.Wait() // slots are released after the outcomes that Flush waits for
		for f.Pool().Stats().Classes[models.ClassExpedited].InUse > 0 {
			time.Sleep(s.takes) // the breaker probes a refusing index at random times
		}
		sums := sumsOf(t, reader)
		assert.InDelta(t, 2, sums["azsearch.fleet.senders"], 0)
		assert.InDelta(t, 1, sums["azsearch.fleet.held_senders"], 0)
		assert.InDelta(t, 7, sums["azsearch.pool.slots.limit"], 0)
		assert.Positive(t, sums["azsearch.pool.slots.granted"])
		assert.Positive(t, sums["azsearch.pool.work.duration"])
		assert.Positive(t, sums["azsearch.pool.room.actions"])
		assert.Positive(t, sums["azsearch.pool.room.bytes"])
		for _, name := range []string{"slots.in_use", "slots.waiting", "slots.refused", "queue.duration", "fallbacks", "room.waiting"} {
			assert.Contains(t, sums, "azsearch.pool."+name)
			assert.Zero(t, sums["azsearch.pool."+name], name)
		}
	})
}

// A program that its load balancer removed during the outage gets no document that could be a probe.
func TestAFleetIsReadyOnceNothingButADocumentIsWantedToTryWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService("a", "b")
		f := newFleet(t, s, &Options{Breaker: &breaker.Options{OpenFor: time.Hour, MaxOpenFor: time.Hour}})
		s.answers(sendertest.ErrReset, "a", "b")
		for range 10 { // each is withdrawn when its caller gives up
			for _, name := range []string{"a", "b"} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				_, err := senderOf(t, f, name, nil).IndexDocumentsAndWait(ctx, []models.IndexDocumentsAction[hotel]{models.UploadAction(hotel{ID: "x"})}, nil)
				require.Error(t, err)
				cancel()
			}
		}
		require.ErrorIs(t, f.Health().Ready(), breaker.ErrOpen)
		time.Sleep(3 * time.Hour)
		require.NoError(t, f.Health().Ready())
		require.Error(t, f.Health().Err(), "no request has shown that the outage is over")
		s.answers(nil, "a", "b")
		upload(t, senderOf(t, f, "a", nil), 1)
		upload(t, senderOf(t, f, "b", nil), 1)
		require.NoError(t, f.Flush(t.Context()))
		require.NoError(t, f.Health().Err())
		require.NoError(t, f.Close(t.Context()))
		require.ErrorIs(t, f.Health().Ready(), ErrClosed)
	})
}
