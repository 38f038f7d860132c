// Package storetest tests the contract of rebuild.Store, for the tests of each store.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/rebuild"
)

// Place is a new, empty location for stores.
type Place struct {
	// Again opens the same store again, as another process would.
	Again func() rebuild.Store
	// Other opens a store of another name in the same place.
	Other func() rebuild.Store
}

// Run tests each promise of a store in a subtest. open returns a new place.
func Run(t *testing.T, open func(t *testing.T) Place) {
	for name, test := range map[string]func(t *testing.T, p Place){
		"a record changes only over the version that was read":             recordChangesOverItsVersion,
		"a record is what was stored, whatever its callers do to it":       recordIsTheStores,
		"keys are marked in the round and epoch of the record only":        keysAreMarkedInTheRound,
		"writers are registered by name":                                   writersAreRegistered,
		"a mark before those that are removed is found":                    markBeforeRemovedOnes,
		"rounds differ however large they are":                             roundsDiffer,
		"a call has any number of keys":                                    anyNumberOfKeys,
		"a key that is marked in each round is returned once":              markedInEachRound,
		"a call whose context has ended does nothing and returns an error": contextHasEnded,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// marking stores a record of PhaseMarking.
func marking(t *testing.T, s rebuild.Store, round int64) rebuild.Record {
	t.Helper()
	x, err := s.Swap(t.Context(), rebuild.Record{Phase: rebuild.PhaseMarking, Route: "x", Epoch: 1, Round: round})
	require.NoError(t, err)
	return x
}

// marked returns all keys of rounds up to last.
func marked(t *testing.T, s rebuild.Store, last int64) []string {
	t.Helper()
	keys, err := s.Marked(t.Context(), last, 100_000)
	require.NoError(t, err)
	return slices.Sorted(slices.Values(keys))
}

func recordChangesOverItsVersion(t *testing.T, p Place) {
	ctx, a, b := t.Context(), p.Again(), p.Again()
	none, err := a.Load(ctx)
	require.NoError(t, err)
	assert.Zero(t, none)
	first := rebuild.Record{
		Phase: rebuild.PhaseMarking, Route: "x", Epoch: 1, Round: 2, Drained: 3, Step: rebuild.StepFilling, Old: "x", New: "y", Alias: "z",
		Owner: "o", Beat: 4, Cursor: "ß'\"", IdleValid: time.Second, Settle: -1, KeepUntil: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Dropped: map[string]time.Time{"w": time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)},
	}
	got, err := a.Swap(ctx, first)
	require.NoError(t, err)
	require.Positive(t, got.Version)
	first.Version = got.Version
	assert.Equal(t, first, got)
	read, err := b.Load(ctx)
	require.NoError(t, err)
	assert.Equal(t, first, read)
	for _, version := range []int64{0, first.Version - 1, first.Version + 1} {
		_, err = b.Swap(ctx, rebuild.Record{Version: version, Route: "second"})
		require.ErrorIs(t, err, rebuild.ErrChanged)
	}
	read.Route = "third"
	got, err = b.Swap(ctx, read)
	require.NoError(t, err)
	read.Version++
	assert.Equal(t, read, got)
	_, err = a.Swap(ctx, first)
	require.ErrorIs(t, err, rebuild.ErrChanged)
	none, err = p.Other().Load(ctx)
	require.NoError(t, err)
	assert.Zero(t, none)
	_, err = p.Other().Swap(ctx, rebuild.Record{Version: first.Version})
	require.ErrorIs(t, err, rebuild.ErrChanged, "there is none yet")
}

func keysAreMarkedInTheRound(t *testing.T, p Place) {
	ctx, s := t.Context(), p.Again()
	_, err := s.Mark(ctx, 0, []string{"a"})
	require.ErrorIs(t, err, rebuild.ErrStale)
	x := rebuild.Record{Phase: rebuild.PhaseIdle, Route: "x", Epoch: 1, Round: 1}
	change := func(f func()) {
		f()
		x, err = s.Swap(ctx, x)
		require.NoError(t, err)
	}
	mark := func(epoch int64, keys ...string) (int64, error) { return s.Mark(ctx, epoch, keys) }
	change(func() {})
	for _, phase := range []rebuild.Phase{rebuild.PhaseIdle, rebuild.PhaseClosed} {
		change(func() { x.Phase = phase })
		_, err = mark(1, "a")
		require.ErrorIs(t, err, rebuild.ErrStale, phase)
	}
	change(func() { x.Phase = rebuild.PhaseMarking })
	_, err = mark(2, "a")
	require.ErrorIs(t, err, rebuild.ErrStale)
	for range 2 {
		round, err := mark(1, "b", "a", `"'ß`)
		require.NoError(t, err)
		assert.EqualValues(t, 1, round)
	}
	change(func() { x.Phase, x.Round = rebuild.PhaseSwapped, 2 })
	round, err := mark(1, "a", "c")
	require.NoError(t, err)
	assert.EqualValues(t, 2, round)
	assert.Empty(t, marked(t, s, 0))
	assert.Equal(t, []string{`"'ß`, "a", "b"}, marked(t, s, 1), "a was marked in both rounds: round 1 ends without it otherwise")
	assert.Equal(t, []string{`"'ß`, "a", "b", "c"}, marked(t, s, 2))
	few, err := s.Marked(ctx, 2, 3)
	require.NoError(t, err)
	assert.Len(t, few, 3)
	require.NoError(t, s.Unmark(ctx, 1, []string{"a", "b", "c", "unknown"}))
	assert.Equal(t, []string{`"'ß`}, marked(t, s, 1))
	assert.Equal(t, []string{`"'ß`, "a", "c"}, marked(t, s, 2), "a was marked again, c later only")
	assert.Empty(t, marked(t, p.Other(), 2))
}

func writersAreRegistered(t *testing.T, p Place) {
	ctx, at := t.Context(), time.UnixMilli(1_700_000_000_123)
	require.NoError(t, p.Again().Register(ctx, "b", at))
	require.NoError(t, p.Again().Register(ctx, "a", at))
	require.NoError(t, p.Again().Register(ctx, "b", at.Add(time.Hour)))
	all, err := p.Again().Writers(ctx)
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, []string{"a", "b"}, []string{all[0].Name, all[1].Name})
	assert.True(t, all[1].Seen.Equal(at.Add(time.Hour)))
	all, err = p.Other().Writers(ctx)
	require.NoError(t, err)
	assert.Empty(t, all)
}

func markBeforeRemovedOnes(t *testing.T, p Place) {
	ctx, s := t.Context(), p.Again()
	marking(t, s, 1)
	for _, key := range []string{"c", "b", "d", "a", "c"} {
		_, err := s.Mark(ctx, 1, []string{key})
		require.NoError(t, err)
		keys, err := s.Marked(ctx, 1, 10)
		require.NoError(t, err)
		require.Equal(t, []string{key}, keys)
		require.NoError(t, s.Unmark(ctx, 1, keys))
	}
	require.Empty(t, marked(t, s, 1))
}

func roundsDiffer(t *testing.T, p Place) {
	ctx, s, large := t.Context(), p.Again(), int64(1)<<60
	x := marking(t, s, large)
	for range 2 {
		round, err := s.Mark(ctx, 1, []string{fmt.Sprint(x.Round - large), "both"})
		require.NoError(t, err)
		assert.Equal(t, x.Round, round)
		x.Round++
		x, err = s.Swap(ctx, x)
		require.NoError(t, err)
	}
	assert.Empty(t, marked(t, s, large-1))
	assert.Equal(t, []string{"0", "both"}, marked(t, s, large))
	require.NoError(t, s.Unmark(ctx, large, []string{"0", "1", "both"}))
	assert.Equal(t, []string{"1", "both"}, marked(t, s, 1<<63-1))
}

func anyNumberOfKeys(t *testing.T, p Place) {
	ctx, s := t.Context(), p.Again()
	marking(t, s, 1)
	round, err := s.Mark(ctx, 1, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 1, round)
	require.NoError(t, s.Unmark(ctx, 1, nil))
	keys := make([]string, 5003)
	for i := range keys {
		keys[i] = fmt.Sprintf("%01024d", i)
	}
	round, err = s.Mark(ctx, 1, keys)
	require.NoError(t, err)
	assert.EqualValues(t, 1, round)
	for _, limit := range []int{0, 1, 999, 1001, 5000} {
		few, err := s.Marked(ctx, 1, limit)
		require.NoError(t, err)
		assert.Len(t, few, limit)
	}
	assert.Equal(t, keys, marked(t, s, 1))
	require.NoError(t, s.Unmark(ctx, 1, keys[1:]))
	assert.Equal(t, keys[:1], marked(t, s, 1))
}

func markedInEachRound(t *testing.T, p Place) {
	ctx, s := t.Context(), p.Again()
	x := marking(t, s, 1)
	keys := make([]string, 300)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%03d", i)
	}
	for range 40 {
		_, err := s.Mark(ctx, 1, keys)
		require.NoError(t, err)
		x.Round++
		x, err = s.Swap(ctx, x)
		require.NoError(t, err)
	}
	assert.Equal(t, keys, marked(t, s, 40))
	require.NoError(t, s.Unmark(ctx, 39, keys))
	assert.Empty(t, marked(t, s, 39))
	assert.Equal(t, keys, marked(t, s, 40))
	require.NoError(t, s.Unmark(ctx, 40, keys))
	assert.Empty(t, marked(t, s, 40))
}

func recordIsTheStores(t *testing.T, p Place) {
	s, at := p.Again(), time.Now().UTC().Truncate(time.Millisecond)
	mine, err := s.Swap(t.Context(), rebuild.Record{Phase: rebuild.PhaseIdle, Dropped: map[string]time.Time{"a": at}})
	require.NoError(t, err)
	mine.Dropped["b"] = at
	got, err := s.Load(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]time.Time{"a": at}, got.Dropped)
	delete(got.Dropped, "a")
	got, err = s.Load(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]time.Time{"a": at}, got.Dropped)
}

func contextHasEnded(t *testing.T, p Place) {
	s := p.Again()
	x := marking(t, s, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	next := x
	next.Route = "y"
	_, err := s.Swap(ctx, next)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Mark(ctx, 1, []string{"a"})
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Load(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Marked(ctx, 1, 10)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.Unmark(ctx, 1, []string{"a"}), context.Canceled)
	require.ErrorIs(t, s.Register(ctx, "a", time.Now()), context.Canceled)
	_, err = s.Writers(ctx)
	require.ErrorIs(t, err, context.Canceled)
	got, err := s.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, x, got)
	assert.Empty(t, marked(t, s, 1))
}

// NoMarkComesBehindTheSwapThatEndsItsRound tests what the argument in DESIGN.md depends on: once the record has the
// next round, or is closed, all marks of earlier rounds are in the store, even if processes are marking at that moment.
func NoMarkComesBehindTheSwapThatEndsItsRound(t *testing.T, open func(t *testing.T) Place) {
	ctx, p := t.Context(), open(t)
	s := p.Again()
	x := marking(t, s, 1)
	var mu sync.Mutex
	accepted := map[int64]map[string]bool{}
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			store := p.Again()
			for n := 0; ; n++ {
				keys := []string{fmt.Sprintf("%d-%d", i, n%1000), "common", fmt.Sprintf("hot-%d", n%3)}
				if i%2 == 0 {
					slices.Reverse(keys)
				}
				round, err := store.Mark(ctx, 1, keys)
				if errors.Is(err, rebuild.ErrStale) {
					return
				}
				if !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				if accepted[round] == nil {
					accepted[round] = map[string]bool{}
				}
				for _, key := range keys {
					accepted[round][key] = true
				}
				mu.Unlock()
			}
		})
	}
	seen := map[int64]map[string]bool{}
	for last := int64(1); last <= 10; last++ {
		x.Round = last + 1
		if last == 10 {
			x.Phase = rebuild.PhaseClosed
		}
		var err error
		x, err = s.Swap(ctx, x)
		require.NoError(t, err)
		keys, err := s.Marked(ctx, last, 100_000)
		require.NoError(t, err)
		seen[last] = map[string]bool{}
		for _, key := range keys {
			seen[last][key] = true
		}
		require.NoError(t, s.Unmark(ctx, last, keys))
	}
	writers.Wait()
	for round, keys := range accepted {
		for key := range keys {
			assert.True(t, seen[round][key], "%s was marked in round %d behind its end", key, round)
		}
	}
	assert.Empty(t, marked(t, s, 1<<60))
}
