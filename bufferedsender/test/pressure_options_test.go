package test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// turnedDown is New that must refuse, and must not have asked anybody anything.
func turnedDown(t *testing.T, opts *sendertest.Options, names ...string) {
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
	b := sendertest.SteadyBreaker(t, nil)
	lost := func(context.Context, []string) {}
	version := func(h sendertest.Hotel) int64 { return int64(h.Rooms) }
	tooMany := math.MaxInt32
	tooMany++ // with 32 bits it becomes negative, and is refused too
	for name, c := range map[string]struct {
		opts  sendertest.Options
		names []string
	}{
		"a breaker and none":                         {sendertest.Options{Breaker: b, DisableBreaker: true}, []string{"Breaker", "DisableBreaker"}},
		"an unknown overload policy":                 {sendertest.Options{Overload: 99, AllowLoss: true}, []string{"Overload is 99", "OverloadPurgeIndex"}},
		"purging one without repair or consent":      {sendertest.Options{Overload: bufferedsender.OverloadPurgeOne}, []string{"OnPurged", "AllowLoss"}},
		"purging all without repair or consent":      {sendertest.Options{Overload: bufferedsender.OverloadPurgeIndex}, []string{"OnPurged", "AllowLoss"}},
		"a repair hook that nothing calls":           {sendertest.Options{OnPurged: lost}, []string{"OnPurged", "Overload"}},
		"a repair hook with Fail":                    {sendertest.Options{OnPurged: lost, Overload: bufferedsender.OverloadFail}, []string{"OnPurged", "Overload"}},
		"an overload policy without a breaker":       {sendertest.Options{Overload: bufferedsender.OverloadFail, DisableBreaker: true}, []string{"Overload", "DisableBreaker"}},
		"purging without a breaker":                  {sendertest.Options{Overload: bufferedsender.OverloadPurgeOne, AllowLoss: true, DisableBreaker: true}, []string{"Overload", "DisableBreaker"}},
		"purging for calls that never wait":          {sendertest.Options{Overload: bufferedsender.OverloadPurgeOne, AllowLoss: true, DisableAutoFlush: true}, []string{"DisableAutoFlush"}},
		"purging all for calls that never wait":      {sendertest.Options{Overload: bufferedsender.OverloadPurgeIndex, OnPurged: lost, DisableAutoFlush: true}, []string{"DisableAutoFlush"}},
		"versions that nothing asks for":             {sendertest.Options{Version: version}, []string{"Version", "Fold"}},
		"an unknown policy for merges":               {sendertest.Options{OnMergeMissing: 99}, []string{"OnMergeMissing is 99", "MergeMissingUpload"}},
		"more requests in flight than there may be":  {sendertest.Options{MaxInFlight: 1025}, []string{"MaxInFlight is 1025", "1024"}},
		"a negative number of them":                  {sendertest.Options{MaxInFlight: -1}, []string{"MaxInFlight is -1"}},
		"a buffer for more than can be counted":      {sendertest.Options{MaxBufferedActions: tooMany}, []string{"MaxBufferedActions"}},
		"a negative buffer":                          {sendertest.Options{MaxBufferedActions: -1, MaxBufferedBytes: -1}, []string{"MaxBufferedActions", "MaxBufferedBytes"}},
		"jitter that is no share":                    {sendertest.Options{Retry: retry.Options{Jitter: 2}}, []string{"Jitter"}},
		"everything at once, and all of it is named": {sendertest.Options{Breaker: b, DisableBreaker: true, Overload: 99, Version: version, OnMergeMissing: 99, MaxInFlight: -1, MaxBatchActions: 1 << 20, Retry: retry.Options{Jitter: 2}}, []string{"DisableBreaker", "Overload", "Version", "OnMergeMissing", "MaxInFlight", "MaxBatchActions", "Jitter"}},
	} {
		t.Run(name, func(t *testing.T) { turnedDown(t, &c.opts, c.names...) })
	}
}

func TestPressureOptionsThatMayBeNil(t *testing.T) {
	var noBreaker *breaker.Breaker
	var noFile *deadletter.File
	var noPolicy tuning.Policy
	s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Breaker: noBreaker, DeadLetters: noFile, Tuning: noPolicy})
	require.NoError(t, err)
	assert.NotNil(t, s.Breaker(), "nil is the default")
	require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "k"}))
	require.NoError(t, s.Close(sendertest.Within(t, 10*time.Second)))
}

// Each option reaches what it is about: Yokozuna had one whose name in the code
// differed from that in the configuration.
func TestYZ16OptionsRoundTrip(t *testing.T) {
	s, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{}, nil)
	require.NoError(t, err)
	assert.Equal(t, bufferedsender.Limits{
		MaxBatchActions: bufferedsender.DefaultMaxBatchActions, MaxBatchBytes: bufferedsender.DefaultMaxBatchBytes, MaxInFlight: 1,
		MaxBufferedActions: bufferedsender.DefaultMaxBufferedActions, MaxBufferedBytes: bufferedsender.DefaultMaxBufferedBytes,
	}, s.Limits())
	require.NoError(t, s.Close(t.Context()))

	s, err = bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{MaxBatchActions: 11, MaxBatchBytes: 2222, MaxInFlight: 3, MaxBufferedActions: 44, MaxBufferedBytes: 55_555})
	require.NoError(t, err)
	assert.Equal(t, bufferedsender.Limits{MaxBatchActions: 11, MaxBatchBytes: 2222, MaxInFlight: 3, MaxBufferedActions: 44, MaxBufferedBytes: 55_555}, s.Limits())
	stats := s.Stats()
	assert.Equal(t, 11, stats.BatchActionsLimit)
	assert.Equal(t, 2222, stats.BatchBytesLimit)
	assert.Equal(t, 3, stats.InFlightLimit)
	assert.Zero(t, stats.RequestInterval)
	require.NoError(t, s.Close(t.Context()))

	s, err = bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{MaxBatchActions: 20_000, MaxBatchBytes: 40_000_000})
	require.NoError(t, err)
	assert.Equal(t, 80_000, s.Limits().MaxBufferedActions, "four full batches if that is more")
	assert.EqualValues(t, 160_000_000, s.Limits().MaxBufferedBytes)
	require.NoError(t, s.Close(t.Context()))
}
