package sendertest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestARigShowsWhatHappensBetweenSenderAndService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Retry: sendertest.RetryAtOnce})
		rig.Respond(sendertest.First(1, sendertest.When(sendertest.Carrying("k-1"), sendertest.Always(503, ""))))
		rig.Upload(sendertest.Hotels("k", 3)...)
		require.NoError(t, rig.Flush())

		assert.Equal(t, []string{"k-0", "k-1", "k-2"}, rig.Indexed())
		assert.Equal(t, []string{"k-0", "k-1"}, rig.Requests()[0].Keys)
		assert.Equal(t, 503, rig.Requests()[0].Status)
		assert.NotContains(t, rig.AppliedKeys(), "")
		assert.Equal(t, `upload {"id":"k-0","rooms":1}`, rig.Traveled()[0])
		assert.Equal(t, 2, rig.Outcome("k-0").Attempt)
		assert.Len(t, rig.Ledger.Endings(""), 3)
		assert.Contains(t, rig.Ledger.Notes("completed"), "completed k-2")
		rig.AllCompleted(3)
	})
}

func TestAnIndexerAcceptsEverythingAfterItsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		indexer := &sendertest.Indexer{Delay: time.Second}
		s, err := bufferedsender.New(indexer, &sendertest.Options{Logger: sendertest.NoLog})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotels("k", 3)...))
		require.NoError(t, s.Flush(t.Context(), nil))
		assert.Equal(t, time.Second, time.Since(began))
		assert.EqualValues(t, 1, indexer.Requests())
		assert.EqualValues(t, 3, s.Stats().Completed)
	})
}

func TestDeadLettersAreKeptUntilTheyAreToFail(t *testing.T) {
	var l sendertest.Ledger
	full := errors.New("disk full")
	dead := &sendertest.DeadLetters{Ledger: &l}
	require.NoError(t, dead.Write(context.Background(), nil))
	dead.FailWith(func() error { return full })
	require.ErrorIs(t, dead.Write(context.Background(), nil), full)
	assert.Equal(t, 2, dead.Writes())
	assert.Len(t, l.Notes("letters"), 2)
}

// A soak prints the seed of a failure, so the seed must reproduce the program.
func TestTheModelIsRepeatable(t *testing.T) {
	draws := func() []int {
		rnd := rand.New(rand.NewPCG(7, 0))
		var drawn []int
		_, err := sendertest.RunModel(t, func(n int) int {
			drawn = append(drawn, rnd.IntN(n))
			return drawn[len(drawn)-1]
		}, nil)
		require.NoError(t, err)
		return drawn
	}
	assert.Equal(t, draws(), draws())
}
