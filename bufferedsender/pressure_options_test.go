package bufferedsender_test

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// turnedDown is New that must refuse, and must not have asked anybody anything.
func turnedDown(t *testing.T, opts *hotelOptions, names ...string) {
	t.Helper()
	var calls atomic.Int64
	s, err := bufferedsender.New(broken(&calls), opts)
	require.Error(t, err)
	assert.Nil(t, s)
	for _, name := range names {
		assert.ErrorContains(t, err, name)
	}
	assert.Zero(t, calls.Load())
}

func TestPressureBadInputToTheNewOptions(t *testing.T) {
	tooMany := math.MaxInt32
	tooMany++ // with 32 bits it becomes negative, and is refused too
	for name, c := range map[string]struct {
		opts  hotelOptions
		names []string
	}{
		"purging the oldest without a repair":        {hotelOptions{Outage: bufferedsender.Hold{WhenFull: bufferedsender.PurgeOldest(nil)}}, []string{"PurgeOldest", "AllowLoss"}},
		"purging all without a repair":               {hotelOptions{Outage: bufferedsender.Hold{WhenFull: bufferedsender.PurgeAll(nil)}}, []string{"PurgeAll", "AllowLoss"}},
		"an unknown policy for merges":               {hotelOptions{OnMergeMissing: 99}, []string{"OnMergeMissing is 99", "MergeMissingUpload"}},
		"more requests in flight than there may be":  {hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 1025}}, []string{"MaxInFlight is 1025", "1024"}},
		"a negative number of them":                  {hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: -1}}, []string{"MaxInFlight is -1"}},
		"a buffer for more than can be counted":      {hotelOptions{Limits: bufferedsender.Limits{MaxBufferedActions: tooMany}}, []string{"MaxBufferedActions"}},
		"a negative buffer":                          {hotelOptions{Limits: bufferedsender.Limits{MaxBufferedActions: -1, MaxBufferedBytes: -1}}, []string{"MaxBufferedActions", "MaxBufferedBytes"}},
		"jitter that is no share":                    {hotelOptions{Retry: retry.Options{Jitter: 2}}, []string{"Jitter"}},
		"everything at once, and all of it is named": {hotelOptions{Outage: bufferedsender.Hold{WhenFull: bufferedsender.PurgeAll(nil)}, OnMergeMissing: 99, Limits: bufferedsender.Limits{MaxInFlight: -1, MaxBatchActions: 1 << 20}, Retry: retry.Options{Jitter: 2}}, []string{"Outage", "OnMergeMissing", "MaxInFlight", "MaxBatchActions", "Jitter"}},
	} {
		t.Run(name, func(t *testing.T) { turnedDown(t, &c.opts, c.names...) })
	}
}

func TestPressureOptionsThatMayBeNil(t *testing.T) {
	var noBreaker *breaker.Breaker
	var noFile *deadletter.File
	var noPolicy tuning.Policy
	s, err := bufferedsender.New(&fakeIndexer{agree}, &hotelOptions{Outage: bufferedsender.Hold{Breaker: noBreaker}, DeadLetters: noFile, Tuning: noPolicy})
	require.NoError(t, err)
	assert.NotNil(t, s.Breaker(), "nil is the default")
	require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: "k"}))
	require.NoError(t, s.Close(within(t, 10*time.Second)))
}

// Each option reaches what it is about: Yokozuna had one whose name in the code
// differed from that in the configuration.
func TestYZ16OptionsRoundTrip(t *testing.T) {
	s, err := bufferedsender.New[hotel](&fakeIndexer{agree}, nil)
	require.NoError(t, err)
	assert.Equal(t, bufferedsender.Limits{
		MaxBatchActions: bufferedsender.DefaultMaxBatchActions, MaxBatchBytes: bufferedsender.DefaultMaxBatchBytes, MaxInFlight: 1,
		MaxBufferedActions: bufferedsender.DefaultMaxBufferedActions, MaxBufferedBytes: bufferedsender.DefaultMaxBufferedBytes,
	}, s.Limits())
	require.NoError(t, s.Close(t.Context()))

	s, err = bufferedsender.New(&fakeIndexer{agree}, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 11, MaxBatchBytes: 2222, MaxInFlight: 3, MaxBufferedActions: 44, MaxBufferedBytes: 55_555}})
	require.NoError(t, err)
	assert.Equal(t, bufferedsender.Limits{MaxBatchActions: 11, MaxBatchBytes: 2222, MaxInFlight: 3, MaxBufferedActions: 44, MaxBufferedBytes: 55_555}, s.Limits())
	stats := s.Stats()
	assert.Equal(t, 11, stats.BatchActionsLimit)
	assert.Equal(t, 2222, stats.BatchBytesLimit)
	assert.Equal(t, 3, stats.InFlightLimit)
	assert.Zero(t, stats.RequestInterval)
	require.NoError(t, s.Close(t.Context()))

	s, err = bufferedsender.New(&fakeIndexer{agree}, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 20_000, MaxBatchBytes: 40_000_000}})
	require.NoError(t, err)
	assert.Equal(t, 80_000, s.Limits().MaxBufferedActions, "four full batches if that is more")
	assert.EqualValues(t, 160_000_000, s.Limits().MaxBufferedBytes)
	require.NoError(t, s.Close(t.Context()))
}
