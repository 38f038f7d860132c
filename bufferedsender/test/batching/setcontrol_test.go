package batching

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
)

type limits = bufferedsender.Limits

// control has a row for each field of Control and of its Limits; a test requires that.
var control = map[string]struct {
	options func(o *sendertest.Options)
	set     bufferedsender.Control
	// show calls set half-way through, and returns the difference.
	show     func(t *testing.T, r *sendertest.Rig, set func())
	unusable []bufferedsender.Control
}{
	"MinBatchActions": {
		options: func(o *sendertest.Options) { o.Limits.MinBatchActions = 5 },
		set:     bufferedsender.Control{Limits: limits{MinBatchActions: 2}},
		show: func(t *testing.T, r *sendertest.Rig, set func()) {
			r.Upload(sendertest.Hotels("k", 3)...)
			time.Sleep(time.Second)
			require.Empty(t, r.Requests())
			set()
			synctest.Wait()
			assert.Equal(t, [][]string{{"k-0", "k-1", "k-2"}}, sendertest.KeysOf(r.Requests()))
		},
		unusable: []bufferedsender.Control{{Limits: limits{MinBatchActions: -1}}, {Limits: limits{MinBatchActions: 11}}, {Limits: limits{MaxBatchActions: 4}}},
	},
	"MaxBatchActions": {
		options: func(o *sendertest.Options) { o.Limits.MinBatchActions = 1 },
		set:     bufferedsender.Control{Limits: limits{MaxBatchActions: 5}},
		show: func(t *testing.T, r *sendertest.Rig, set func()) {
			r.Upload(sendertest.Hotels("k", 20)...)
			synctest.Wait()
			set()
			require.NoError(t, r.Flush())
			assert.Equal(t, []int{10, 5, 5}, sizes(r))
		},
		unusable: []bufferedsender.Control{{Limits: limits{MaxBatchActions: -1}}, {Limits: limits{MaxBatchActions: bufferedsender.ServiceMaxBatchActions + 1}}},
	},
	"MaxBatchBytes": {
		options: func(o *sendertest.Options) { o.Limits.MaxBatchBytes = 4500 },
		set:     bufferedsender.Control{Limits: limits{MaxBatchBytes: 2500}},
		show: func(t *testing.T, r *sendertest.Rig, set func()) {
			for i := range 8 {
				r.Upload(sendertest.HotelOfSize(fmt.Sprint(i), 1000))
			}
			synctest.Wait()
			set()
			require.NoError(t, r.Flush())
			assert.Equal(t, []int{4, 2, 2}, sizes(r))
		},
		unusable: []bufferedsender.Control{{Limits: limits{MaxBatchBytes: -1}}, {Limits: limits{MaxBatchBytes: 5}}},
	},
	"MaxInFlight": {
		options: func(o *sendertest.Options) { o.Limits.MaxInFlight = 3 },
		set:     bufferedsender.Control{Limits: limits{MaxInFlight: 1}},
		show: func(t *testing.T, r *sendertest.Rig, set func()) {
			r.Upload(sendertest.Hotels("k", 50)...)
			synctest.Wait()
			set()
			require.NoError(t, r.Flush())
			assert.Equal(t, []time.Duration{0, 0, 0, time.Second, 2 * time.Second}, sendertest.Times(r.Requests()))
		},
		unusable: []bufferedsender.Control{{Limits: limits{MaxInFlight: -1}}, {Limits: limits{MaxInFlight: 1025}}},
	},
	"MaxBufferedActions": {
		options: func(o *sendertest.Options) { o.Limits.MaxBufferedActions = 5 },
		set:     bufferedsender.Control{Limits: limits{MaxBufferedActions: 7}},
		show: func(t *testing.T, r *sendertest.Rig, set func()) {
			r.Sender.Pause()
			r.Upload(sendertest.Hotels("k", 5)...)
			waits := sendertest.Later(func() error { return r.Sender.UploadDocuments(t.Context(), sendertest.Hotels("more", 2)...) })
			sendertest.StillRunning(t, waits, "a call without room")
			set()
			require.NoError(t, <-waits)
			assert.Zero(t, r.Now(), "the call returns at once")
		},
		unusable: []bufferedsender.Control{{Limits: limits{MaxBufferedActions: -1}}},
	},
	"MaxBufferedBytes": {
		options: func(o *sendertest.Options) { o.Limits.MaxBufferedBytes = 2000 },
		set:     bufferedsender.Control{Limits: limits{MaxBufferedBytes: 3000}},
		show: func(t *testing.T, r *sendertest.Rig, set func()) {
			r.Sender.Pause()
			r.Upload(sendertest.HotelOfSize("a", 900), sendertest.HotelOfSize("b", 900))
			waits := sendertest.Later(func() error { return r.Sender.UploadDocuments(t.Context(), sendertest.HotelOfSize("c", 900)) })
			sendertest.StillRunning(t, waits, "a call without room")
			set()
			require.NoError(t, <-waits)
			assert.Zero(t, r.Now(), "the call returns at once")
		},
		unusable: []bufferedsender.Control{{Limits: limits{MaxBufferedBytes: -1}}},
	},
	"AutoFlushInterval": {
		options: func(*sendertest.Options) {},
		set:     bufferedsender.Control{AutoFlushInterval: 3 * time.Second},
		show: func(t *testing.T, r *sendertest.Rig, set func()) {
			r.Upload(sendertest.Hotel{ID: "k"})
			time.Sleep(2 * time.Second)
			set()
			time.Sleep(time.Minute)
			assert.Equal(t, []time.Duration{3 * time.Second}, sendertest.Times(r.Requests()), "the interval counts from the acceptance")
		},
		// Every duration is valid; durations without an effect are tested below.
	},
	"WhenFull": {
		options: func(o *sendertest.Options) { o.Limits.MaxBufferedActions = 2 },
		set:     bufferedsender.Control{WhenFull: bufferedsender.Reject()},
		show: func(t *testing.T, r *sendertest.Rig, set func()) {
			r.Sender.Breaker().Disable()
			r.Upload(sendertest.Hotels("k", 2)...)
			waits := sendertest.Later(func() error { return r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "more"}) })
			sendertest.StillRunning(t, waits, "a call without room")
			set()
			require.ErrorIs(t, <-waits, bufferedsender.ErrBufferFull)
			assert.Zero(t, r.Now(), "the call returns at once")
			r.Sender.Breaker().Enable()
			require.NoError(t, r.Flush())
		},
		unusable: []bufferedsender.Control{{WhenFull: bufferedsender.PurgeOldest(nil)}, {WhenFull: bufferedsender.PurgeAll(nil)}},
	},
}

// sizes returns the number of actions of each request.
func sizes(r *sendertest.Rig) (all []int) {
	for _, x := range r.Requests() {
		all = append(all, len(x.Keys))
	}
	return all
}

// leaves calls f for each option of a Control, with its index.
func leaves(f func(name string, at []int)) {
	for i := range reflect.TypeFor[bufferedsender.Control]().NumField() {
		field := reflect.TypeFor[bufferedsender.Control]().Field(i)
		if field.Type != reflect.TypeFor[limits]() {
			f(field.Name, []int{i})
			continue
		}
		for j := range field.Type.NumField() {
			f(field.Type.Field(j).Name, []int{i, j})
		}
	}
}

// said formats a Control without its functions.
func said(c bufferedsender.Control) string { return fmt.Sprintf("%+v", c) }

func TestEveryOptionOfControlTakesEffectAtOnce(t *testing.T) {
	rows := 0
	leaves(func(name string, at []int) {
		rows++
		c, known := control[name]
		require.True(t, known, "%s has no row in the table", name)
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := sendertest.Options{
					Limits: limits{MaxBatchActions: 10}, AutoFlushInterval: 10 * time.Second,
					Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)},
				}
				c.options(&o)
				r := sendertest.New(t, &o)
				r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 1 }))
				before := r.Sender.Control()
				c.show(t, r, func() {
					for _, bad := range c.unusable {
						old, err := r.Sender.SetControl(bad)
						require.ErrorContains(t, err, name)
						require.Equal(t, said(before), said(old))
						require.Equal(t, said(before), said(r.Sender.Control()), "nothing is changed")
					}
					old, err := r.Sender.SetControl(c.set)
					require.NoError(t, err)
					assert.Equal(t, said(before), said(old))
					want := before
					reflect.ValueOf(&want).Elem().FieldByIndex(at).Set(reflect.ValueOf(c.set).FieldByIndex(at))
					require.NotEqual(t, said(before), said(want))
					assert.Equal(t, said(want), said(r.Sender.Control()), "only this setting changes")
					assert.Equal(t, want.Limits, r.Sender.Control().Limits)
				})
				_, err := r.Sender.SetControl(before)
				require.NoError(t, err)
				assert.Equal(t, said(before), said(r.Sender.Control()), "the old settings undo it")
			})
		})
	})
	assert.Len(t, control, rows, "rows of missing fields")
}

func TestSetControlNamesEveryProblemAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		before := r.Sender.Control()
		_, err := r.Sender.SetControl(bufferedsender.Control{
			Limits: limits{MaxInFlight: -1, MaxBatchBytes: 1}, AutoFlushInterval: time.Second, WhenFull: bufferedsender.PurgeAll(nil),
		})
		for _, name := range []string{"bufferedsender: ", "MaxInFlight is -1", "MaxBatchBytes is 1", "WhenFull purges"} {
			require.ErrorContains(t, err, name)
		}
		assert.Equal(t, said(before), said(r.Sender.Control()), "the interval was right")
	})
}

// A setting without an effect is refused, because its caller expects one.
func TestSetControlRefusesWhatWouldHaveNoEffect(t *testing.T) {
	queue, err := memqueue.New(nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, queue.Close()) }()
	interval, reject := bufferedsender.Control{AutoFlushInterval: time.Second}, bufferedsender.Control{WhenFull: bufferedsender.Reject()}
	for name, c := range map[string]struct {
		options sendertest.Options
		set     bufferedsender.Control
		want    string
	}{
		"an interval without a timer": {sendertest.Options{DisableAutoFlush: true}, interval, "AutoFlushInterval has no effect on a sender with DisableAutoFlush"},
		"a policy with FailSoon":      {sendertest.Options{Outage: bufferedsender.FailSoon{}}, reject, "WhenFull has no effect on a sender with FailSoon"},
		"a policy where no call waits": {
			sendertest.Options{DisableAutoFlush: true}, reject, "WhenFull has no effect on a sender with DisableAutoFlush",
		},
		"a policy with a Queue": {sendertest.Options{Queue: queue}, reject, "WhenFull is Reject"},
		"a purge with a Queue": {
			sendertest.Options{Queue: queue}, bufferedsender.Control{WhenFull: bufferedsender.PurgeAll(bufferedsender.AllowLoss)}, "WhenFull purges accepted actions: a Queue",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := bufferedsender.New(&sendertest.Indexer{}, &c.options)
			require.NoError(t, err)
			before := s.Control()
			_, err = s.SetControl(c.set)
			require.ErrorContains(t, err, c.want)
			_, err = s.SetControl(before)
			require.NoError(t, err, "settings that do not apply read as 0, so that they can be set again")
			assert.Equal(t, said(before), said(s.Control()))
			require.NoError(t, s.Close(t.Context()))
		})
	}
}

func TestAnIntervalCountsForWhatWaitsWhenItIsSet(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		from, to time.Duration
		want     time.Duration // after the action was added; negative: never
	}{
		"shorter":                    {time.Hour, 20 * s, 20 * s},
		"shorter than it has waited": {time.Hour, s, 10 * s},
		"longer":                     {15 * s, 40 * s, 40 * s},
		"never":                      {15 * s, -1, -1},
		"a timer after none":         {-1, 15 * s, 15 * s},
		"a timer after none, and the action has waited long": {-1, s, 10 * s},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: c.from})
				r.Upload(sendertest.Hotel{ID: "k"})
				time.Sleep(10 * s)
				_, err := r.Sender.SetControl(bufferedsender.Control{AutoFlushInterval: c.to})
				require.NoError(t, err)
				time.Sleep(24 * time.Hour)
				if c.want < 0 {
					assert.Empty(t, r.Requests())
				} else {
					assert.Equal(t, []time.Duration{c.want}, sendertest.Times(r.Requests()))
				}
			})
		})
	}
}

// full returns a sender with a disabled breaker and a full buffer of two.
func full(t *testing.T, change func(*sendertest.Options)) *sendertest.Rig {
	t.Helper()
	o := sendertest.Options{Limits: limits{MaxBufferedActions: 2}, Outage: bufferedsender.Hold{Breaker: sendertest.NewBreaker(t, nil)}}
	if change != nil {
		change(&o)
	}
	r := sendertest.New(t, &o)
	r.Sender.Breaker().Disable()
	r.Upload(sendertest.Hotels("k", 2)...)
	return r
}

func setPolicy(t *testing.T, r *sendertest.Rig, w bufferedsender.WhenFull) {
	t.Helper()
	_, err := r.Sender.SetControl(bufferedsender.Control{WhenFull: w})
	require.NoError(t, err)
	assert.Equal(t, w.String(), r.Sender.Control().WhenFull.String())
}

func TestAPolicyThatIsSetWhileCallersWaitActsAtOnce(t *testing.T) {
	var purged []string
	note := func(_ context.Context, keys []string) { purged = append(purged, keys...) }
	for name, c := range map[string]struct {
		policy bufferedsender.WhenFull
		err    error
		purged []string
	}{
		"reject":       {bufferedsender.Reject(), bufferedsender.ErrBufferFull, nil},
		"purge oldest": {bufferedsender.PurgeOldest(note), nil, []string{"k-0"}},
		"purge all":    {bufferedsender.PurgeAll(note), nil, []string{"k-0", "k-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				purged = nil
				r := full(t, nil)
				add := func(keys ...string) <-chan error {
					return sendertest.Later(func() error {
						for _, key := range keys {
							if err := r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: key}); err != nil {
								return err
							}
						}
						return nil
					})
				}
				waits := add("w")
				synctest.Wait()
				time.Sleep(time.Hour)
				sendertest.StillRunning(t, waits, "a call without room")
				setPolicy(t, r, c.policy)
				require.ErrorIs(t, <-waits, c.err)
				assert.Equal(t, time.Hour, r.Now(), "the call returns at once")
				synctest.Wait()
				assert.Equal(t, c.purged, purged)

				setPolicy(t, r, bufferedsender.WaitForRoom())
				waits = add("x", "y", "z")
				time.Sleep(time.Hour)
				sendertest.StillRunning(t, waits, "a call without room")
				assert.Equal(t, c.purged, purged, "nothing more is purged")
				r.Sender.Breaker().Enable()
				require.NoError(t, <-waits)
			})
		})
	}
}

func TestPurgingEndsWhenThePolicyDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *sendertest.Rig
		var once sync.Once
		r = full(t, func(o *sendertest.Options) {
			o.Handlers.ActionFailed = func(context.Context, *events.ActionFailed[sendertest.Hotel]) {
				once.Do(func() { setPolicy(t, r, bufferedsender.WaitForRoom()) })
			}
		})
		waits := sendertest.Later(func() error { return r.Sender.UploadDocuments(t.Context(), sendertest.Hotels("w", 2)...) })
		synctest.Wait()
		setPolicy(t, r, bufferedsender.PurgeOldest(bufferedsender.AllowLoss))
		time.Sleep(time.Hour)
		sendertest.StillRunning(t, waits, "a call with room for one of two")
		assert.EqualValues(t, 1, r.Sender.Stats().Purged)
		r.Sender.Breaker().Enable()
		require.NoError(t, <-waits)
		require.Error(t, r.Flush(), "Flush reports the purged action")
		assert.Equal(t, []string{"k-1", "w-0", "w-1"}, r.Indexed())
	})
}

func TestPurgedKeysGoToThePolicyThatHasPurgedThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first, second []string
		var r *sendertest.Rig
		var once sync.Once
		r = full(t, func(o *sendertest.Options) {
			o.Handlers.ActionFailed = func(context.Context, *events.ActionFailed[sendertest.Hotel]) {
				once.Do(func() {
					setPolicy(t, r, bufferedsender.PurgeOldest(func(_ context.Context, keys []string) { second = append(second, keys...) }))
				})
			}
		})
		setPolicy(t, r, bufferedsender.PurgeAll(func(_ context.Context, keys []string) { first = append(first, keys...) }))
		r.Upload(sendertest.Hotels("w", 2)...)
		r.Upload(sendertest.Hotel{ID: "x"})
		synctest.Wait()
		assert.Equal(t, []string{"k-0", "k-1"}, first)
		assert.Equal(t, []string{"w-0"}, second)
		r.Sender.Breaker().Enable()
		require.Error(t, r.Flush())
	})
}
