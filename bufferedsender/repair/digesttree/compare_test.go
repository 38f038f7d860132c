package digesttree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

func TestADifferenceIsFoundWithItsDirection(t *testing.T) {
	here := map[string]int64{"same": 1, "old": 1, "new": 5, "only here": 3, "negative": -4}
	there := map[string]int64{"same": 1, "old": 2, "new": 4, "only there": 7, "negative": -4}
	want := []Difference{
		{Key: "new", Here: 5, There: 4},
		{Key: "old", Here: 1, There: 2},
		{Key: "only here", Here: 3, MissingThere: true},
		{Key: "only there", There: 7, MissingHere: true},
	}
	tree := newTree(t)
	tell(tree, here)
	found := compared(t, tree, tableOf(there))
	require.ElementsMatch(t, want, found.Keys)
	require.False(t, found.More)
	require.Zero(t, found.Unknown)
	require.Empty(t, compared(t, tree, tableOf(here)).Keys)
	tell(tree, there)
	tree.Deleted("only here")
	require.Equal(t, Differences{}, compared(t, tree, tableOf(there)))
}

// moving is a source with another table at each scan and lookup.
type moving struct {
	tables []table
	n      int
}

func (m *moving) next() table {
	m.n++
	return m.tables[min(m.n, len(m.tables))-1]
}

func (m *moving) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return m.next().Scan(ctx, after, through)
}

func (m *moving) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	return m.next().Lookup(ctx, keys)
}

func TestOnlyWhatDiffersAllAlongIsADifference(t *testing.T) {
	tree := newTree(t)
	tell(tree, map[string]int64{"lost": 1, "written": 1, "late": 1, "same": 1})
	first := tableOf(map[string]int64{"lost": 2, "written": 2, "late": 1, "same": 1})
	second := tableOf(map[string]int64{"lost": 2, "written": 2, "late": 2, "same": 1})
	third := tableOf(map[string]int64{"lost": 2, "written": 3, "late": 3, "same": 1})
	found := compared(t, tree, &moving{tables: []table{first, second, third}})
	require.Equal(t, []Difference{{Key: "lost", Here: 1, There: 2}}, found.Keys)

	found = compared(t, tree, &moving{tables: []table{first, tableOf(map[string]int64{"lost": 1, "written": 1, "late": 1, "same": 1})}})
	require.Equal(t, Differences{}, found, "changes that arrived during the comparison are not differences")
	tell(tree, map[string]int64{"lost": 2, "written": 2})
	found = compared(t, tree, &moving{tables: []table{first, third}})
	require.Equal(t, Differences{}, found, "equal segments are not read again")
}

func TestAComparisonWaitsAJitteredPauseBeforeEachLookUnlessNothingDiffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := start(t, disktest.New(), few)
		tree.Confirmed("a", 1)
		same, other := tableOf(map[string]int64{"a": 1}), tableOf(map[string]int64{"a": 2})
		const pause = 500 * time.Millisecond
		began := time.Now()
		_, err := tree.Compare(t.Context(), same, pause)
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		waited := map[time.Duration]bool{}
		for range 20 {
			began = time.Now()
			found, err := tree.Compare(t.Context(), other, pause)
			require.NoError(t, err)
			require.Len(t, found.Keys, 1)
			waited[time.Since(began)] = true
			require.GreaterOrEqual(t, time.Since(began), pause, "the pause is twice its lower half")
			require.LessOrEqual(t, time.Since(began), 3*pause)
		}
		require.Greater(t, len(waited), 10)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("the end"))
		defer cancel()
		_, err = tree.Compare(ctx, other, pause)
		require.ErrorContains(t, err, "the end")
	})
}

func TestARoundFindsAtMost128KeysAndTheNextGoesOnBehindThem(t *testing.T) {
	for _, bits := range []int{2, 8} {
		tree := openDir(t, t.TempDir(), Options{SegmentBits: bits, Empty: true})
		all := versions(1000)
		found := map[string]bool{}
		for range 8 { // 1000 = 7*128 + 104
			round := compared(t, tree, tableOf(all))
			require.Len(t, round.Keys, 128)
			require.True(t, round.More)
			for _, d := range round.Keys {
				found[d.Key] = true
			}
		}
		require.Len(t, found, 1000, "%d bits: each key is found once before one is found again", bits)

		few, err := compareMost(tree, tableOf(all), 3)
		require.NoError(t, err)
		require.Len(t, few.Keys, 3)
		tell(tree, all)
		tree.Deleted("k7")
		tree.Deleted("k8")
		round := compared(t, tree, tableOf(all))
		require.Len(t, round.Keys, 2)
		require.False(t, round.More)
	}
}

func TestAKeyThatIsNeverRepairedDoesNotKeepOthersFromBeingFound(t *testing.T) {
	tree := newTree(t)
	all := versions(800)
	stuck := map[string]bool{} // in one segment, more than a round
	for key := range all {
		if tree.shape.segment(hashOf(key)) == 0 {
			stuck[key] = true
		}
	}
	require.Greater(t, len(stuck), maxDifferences)
	for rounds := 0; len(content(t, tree)) < len(all)-len(stuck); rounds++ {
		require.Less(t, rounds, 12)
		for _, d := range compared(t, tree, tableOf(all)).Keys {
			if !stuck[d.Key] {
				tree.Confirmed(d.Key, d.There)
			}
		}
	}
}

// wrong is a source whose scan returns a key twice, so the digest of its segment is wrong.
type wrong struct {
	table
	key string
}

func (w wrong) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		for row, err := range w.table.Scan(ctx, after, through) {
			if row.Key == w.key && !yield(row, err) || !yield(row, err) {
				return
			}
		}
	}
}

// If each segment has one key, the next comparison starts after the last segment found.
func TestManySegmentsWithAKeyEachAreAllFoundAlthoughNoneIsRepaired(t *testing.T) {
	for _, most := range []int{1, 2, 50, maxDifferences} {
		tree := openDir(t, t.TempDir(), Options{SegmentBits: 12, Empty: true})
		first := make(map[int]string)
		for i := 0; len(first) < 3*most; i++ {
			key := fmt.Sprintf("k%d", i)
			first[tree.shape.segment(hashOf(key))] = key
		}
		for _, key := range first {
			tree.Confirmed(key, 1)
		}
		seen := make(map[string]bool)
		for range 3 {
			found, err := compareMost(tree, table{}, most)
			require.NoError(t, err)
			require.Len(t, found.Keys, most)
			for _, d := range found.Keys {
				seen[d.Key] = true
			}
		}
		require.Len(t, seen, 3*most, "each call continues after the keys of the previous one")
	}
}

func TestASegmentThatDiffersAndYieldsNothingTwiceIsBuiltAnewAndCounted(t *testing.T) {
	tree := newTree(t)
	all := versions(20)
	tell(tree, all)
	side := wrong{tableOf(all), "k3"}
	found := compared(t, tree, side)
	require.Equal(t, Differences{Segments: 1}, found)
	require.Equal(t, Differences{}, compared(t, tree, tableOf(all)), "the segment does not differ now, so its count restarts")
	require.Equal(t, Differences{Segments: 1}, compared(t, tree, side))
	require.Equal(t, Differences{Segments: 1}, compared(t, tree, side))
	require.Equal(t, Differences{Unknown: 1}, compared(t, tree, side), "the segment does not differ forever")
	require.Equal(t, int64(1), tree.Stats().Fruitless)
	require.Equal(t, [2]int64{1, 20}, rebuildAll(t, tree, tableOf(all)))
	require.Equal(t, Differences{}, compared(t, tree, tableOf(all)))

	delete(all, "k7")      // the segment differs no longer if another key in it was found
	for key := range all { // one in the same segment
		if tree.shape.segment(hashOf(key)) == tree.shape.segment(hashOf("k7")) {
			side = wrong{tableOf(all), key}
		}
	}
	for range 5 {
		require.Len(t, compared(t, tree, side).Keys, 1)
	}
	require.Equal(t, int64(1), tree.Stats().Fruitless)
}

func TestAWrongDigestOfTheTreeIsMendedByARebuild(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	all := versions(20)
	tell(tree, all)
	require.NoError(t, tree.fold())
	tree.base.table[1].Digest++ // cannot happen otherwise
	for range 2 {
		require.Equal(t, 1, compared(t, tree, tableOf(all)).Segments)
	}
	require.Equal(t, 1, tree.Stats().Unknown)
	rebuildAll(t, tree, tableOf(all))
	require.Equal(t, Differences{}, compared(t, tree, tableOf(all)))
	require.NoError(t, tree.fold())
	require.Equal(t, Differences{}, compared(t, tree, tableOf(all)))
}

func TestKeysThatSettleMeanwhileAreNoReasonToBuildAnything(t *testing.T) {
	tree := newTree(t)
	tree.Confirmed("a", 1)
	late, arrived := tableOf(map[string]int64{"a": 2}), tableOf(map[string]int64{"a": 1})
	for range 5 {
		require.Empty(t, compared(t, tree, &moving{tables: []table{late, late, arrived}}).Keys)
	}
	require.Zero(t, tree.Stats().Fruitless)
}

func TestUnknownSegmentsAreNotCompared(t *testing.T) {
	all := versions(100)
	for segment := range 4 {
		tree := newTree(t)
		tell(tree, all)
		tree.mu.Lock()
		tree.forget(segment)
		tree.mu.Unlock()
		want := 0
		for key := range all {
			if tree.shape.segment(hashOf(key)) != segment {
				want++
			}
		}
		found := compared(t, tree, table{})
		require.Len(t, found.Keys, want)
		require.Equal(t, 1, found.Unknown)
		require.Zero(t, compared(t, tree, tableOf(all)).Segments)
	}
	tree := openDir(t, t.TempDir(), Options{SegmentBits: 2}) // not Empty
	require.Equal(t, Differences{Unknown: 4}, compared(t, tree, tableOf(all)))
}

func TestHiddenRowsAreNotToBeInTheIndex(t *testing.T) {
	tree := newTree(t)
	tell(tree, map[string]int64{"a": 1, "draft": 1})
	source := tableOf(map[string]int64{"a": 1})
	source["draft"] = models.Row{Key: "draft", Version: 1, Hidden: true}
	require.Equal(t, []Difference{{Key: "draft", Here: 1, MissingThere: true}}, compared(t, tree, (source)).Keys)
	source["draft"] = models.Row{Key: "draft", Version: 1}
	require.Empty(t, compared(t, tree, (source)).Keys)
}

// failing is a source that fails or ends early.
type failing struct {
	table
	err error
}

func (f failing) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		for row, err := range f.table.Scan(ctx, after, through) {
			if !yield(row, err) {
				return
			}
			break
		}
		if f.err != nil {
			yield(models.Row{}, f.err)
		}
	}
}

func TestASourceThatFailsOrEndsEarlyIsNotOneThatHasLess(t *testing.T) {
	tree := newTree(t)
	tell(tree, versions(10))
	_, err := tree.Compare(t.Context(), failing{tableOf(versions(10)), disktest.ErrDisk}, 0)
	require.ErrorIs(t, err, disktest.ErrDisk)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(disktest.ErrDisk)
	_, err = tree.Compare(ctx, failing{tableOf(versions(10)), nil}, 0)
	require.ErrorIs(t, err, disktest.ErrDisk)
	require.NoError(t, tree.Close(t.Context()))
	_, err = tree.Compare(t.Context(), table{}, 0)
	require.ErrorIs(t, err, errClosed)
}

func TestTellingTheTreeWhatTheIndexHasSettlesADifference(t *testing.T) {
	tree := newTree(t)
	source := versions(300)
	there := tableOf(source)
	for {
		found := compared(t, tree, there)
		if len(found.Keys) == 0 {
			break
		}
		for _, d := range found.Keys {
			require.True(t, d.MissingHere)
			tree.Confirmed(d.Key, source[d.Key])
		}
	}
	require.True(t, maps.Equal(source, content(t, tree)))
}

// ending is a source whose context ends during a lookup.
type ending struct {
	table
	end func()
}

func (e ending) Lookup(context.Context, []string) ([]models.Row, error) {
	e.end()
	return nil, nil
}

func TestASourceThatIsLookedUpWhenTheContextHasEndedSaysNothing(t *testing.T) {
	tree := newTree(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := tree.Compare(ctx, ending{tableOf(map[string]int64{"a": 1}), cancel}, 0)
	require.ErrorIs(t, err, context.Canceled)
}
