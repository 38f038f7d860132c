package digesttree

import (
	"context"
	"iter"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

func TestARebuildGivesTheTreeWhatTheIndexHas(t *testing.T) {
	for _, folded := range []bool{false, true} {
		d := disktest.New()
		tree := openDisk(t, d, Options{SegmentBits: 8})
		tell(tree, map[string]int64{"k1": 1, "k2": 7, "gone": 3, "k3": 3})
		if folded {
			require.NoError(t, tree.fold())
		}
		index := versions(1000)
		done := rebuildAll(t, tree, tableOf(index))
		require.Equal(t, [2]int64{256, 1000}, done)
		require.Equal(t, index, content(t, tree))
		require.Zero(t, tree.Stats().Due)
		require.Equal(t, Differences{}, compared(t, tree, tableOf(index)))
		end(t, tree)
		tree = openDisk(t, d, Options{})
		require.Equal(t, index, content(t, tree))
		require.Zero(t, tree.Stats().Due)
		require.Len(t, d.Files(), 2+tree.Stats().Segments/256*btoi(folded), "the files of the rows are gone")
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// during calls do before the row of a key.
func during(rows table, key string, do func()) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		for row, err := range rows.Scan(context.Background(), "", "") {
			if row.Key == key {
				do()
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func TestWhatIsToldDuringARebuildCountsMoreThanItsRows(t *testing.T) {
	tree := openDisk(t, disktest.New(), Options{SegmentBits: 2})
	index := versions(20)
	_, _, err := tree.Rebuild(t.Context(), during(tableOf(index), "k5", func() {
		tree.Confirmed("k1", 99) // its row was already read
		tree.Confirmed("k7", 98) // and this one was not
		tree.Deleted("k2")
		tree.Deleted("k8")
		tree.Confirmed("new", 97)
		require.NoError(t, tree.fold()) // which makes them indistinguishable from older changes
	}), 0)
	require.NoError(t, err)
	index["k1"], index["k7"], index["new"] = 99, 98, 97
	delete(index, "k2")
	delete(index, "k8")
	require.Equal(t, index, content(t, tree))
}

func TestAScanThatFailsOrEndsEarlyBuildsNothing(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	want := versions(10)
	tell(tree, want)
	tree.mu.Lock()
	tree.forget(0)
	tree.forget(1)
	tree.mu.Unlock()
	fails := failing{tableOf(want), disktest.ErrDisk}.Scan(t.Context(), "", "")
	_, _, err := tree.Rebuild(t.Context(), fails, 0)
	require.ErrorIs(t, err, disktest.ErrDisk)
	ctx, cancel := context.WithCancelCause(t.Context())
	ends := during(tableOf(want), "k0", func() { cancel(disktest.ErrDisk) })
	_, _, err = tree.Rebuild(ctx, ends, 0)
	require.ErrorIs(t, err, disktest.ErrDisk)
	require.Equal(t, want, content(t, tree))
	require.Equal(t, 2, tree.Stats().Due)
	require.Len(t, d.Files(), 1, "the files of the rows are gone")
	require.Equal(t, [2]int64{2, 10}, rebuildAll(t, tree, tableOf(want)))
}

func TestADiskThatFailsDuringARebuildBuildsNothing(t *testing.T) {
	for _, op := range []string{"create", "write"} {
		d := disktest.New()
		tree := openDisk(t, d, Options{SegmentBits: 2})
		d.Fail = func(o, name string) error {
			if o == op && strings.HasPrefix(name, rebuildPrefix) {
				return disktest.ErrDisk
			}
			return nil
		}
		_, _, err := tree.Rebuild(t.Context(), tableOf(versions(20)).Scan(t.Context(), "", ""), 0)
		d.Fail = nil
		require.ErrorIs(t, err, disktest.ErrDisk, op)
		require.Empty(t, content(t, tree))
		require.Equal(t, 4, tree.Stats().Due)
		require.Len(t, d.Files(), 1, "the files of the rows are gone")
	}
}

func TestOnlyWhatIsDueIsBuilt(t *testing.T) {
	tree := newTree(t)
	index := versions(100)
	tell(tree, index)
	asked := false
	segments, rows, err := tree.Rebuild(t.Context(), during(tableOf(index), "k0", func() { asked = true }), 0)
	require.NoError(t, err)
	require.Zero(t, int64(segments)+rows)
	require.False(t, asked, "nothing is due, so nothing is read")
	tree.mu.Lock()
	tree.forget(3)
	tree.mu.Unlock()
	maps.DeleteFunc(index, func(key string, _ int64) bool { return tree.shape.segment(hashOf(key)) == 3 })
	require.Equal(t, [2]int64{1, 0}, rebuildAll(t, tree, table{}))
	require.Equal(t, index, content(t, tree))
}

func TestASegmentIsDueAfterAWeekAndComparedAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := start(t, disktest.New(), few)
		tree.Confirmed("a", 1)
		time.Sleep(defaultExpireAfter)
		require.Zero(t, tree.Stats().Due)
		time.Sleep(2 * time.Second)
		require.Equal(t, 4, tree.Stats().Due)
		require.Len(t, compared(t, tree, (table{})).Keys, 1)
		require.Equal(t, [2]int64{4, 0}, rebuildAll(t, tree, table{}))
		require.Zero(t, tree.Stats().Due)
		require.Equal(t, Differences{}, compared(t, tree, (table{})))

		never := start(t, disktest.New(), Options{SegmentBits: 2, Empty: true, expireAfter: -1})
		time.Sleep(100 * defaultExpireAfter)
		require.Zero(t, never.Stats().Due)
	})
}

func TestARebuildWaitsUntilTheIndexShowsWhatWasConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := start(t, disktest.New(), Options{SegmentBits: 2})
		const settle = 10 * time.Second
		began := time.Now()
		var read time.Duration
		index := tableOf(versions(3))
		_, _, err := tree.Rebuild(t.Context(), during(index, "k0", func() { read = time.Since(began) }), settle)
		require.NoError(t, err)
		require.Equal(t, settle, read)

		tree.mu.Lock()
		tree.forget(0)
		tree.mu.Unlock()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, disktest.ErrDisk)
		defer cancel()
		_, _, err = tree.Rebuild(ctx, index.Scan(ctx, "", ""), settle)
		require.ErrorIs(t, err, disktest.ErrDisk)
	})
}

func TestOneRebuildAtATime(t *testing.T) {
	tree := openDir(t, t.TempDir(), Options{SegmentBits: 2})
	index := tableOf(versions(3))
	_, _, err := tree.Rebuild(t.Context(), during(index, "k1", func() {
		_, _, err := tree.Rebuild(t.Context(), index.Scan(t.Context(), "", ""), 0)
		require.ErrorIs(t, err, errRebuilding)
	}), 0)
	require.NoError(t, err)
	require.NoError(t, tree.Close(t.Context()))
	_, _, err = tree.Rebuild(t.Context(), index.Scan(t.Context(), "", ""), 0)
	require.ErrorIs(t, err, errClosed)
}

func TestASegmentOfWhichSomethingIsDroppedDuringARebuildStaysDue(t *testing.T) {
	tree := openDisk(t, disktest.New(), Options{SegmentBits: 2})
	segments, _, err := tree.Rebuild(t.Context(), during(tableOf(versions(20)), "k5", func() {
		room := tree.options.MaxPending
		tree.options.MaxPending = 0
		tree.Confirmed("k1", 99)
		tree.options.MaxPending = room
	}), 0)
	require.NoError(t, err)
	require.Equal(t, 3, segments)
	require.Equal(t, 1, tree.Stats().Unknown)
	require.Equal(t, int64(1), tree.Stats().Dropped)
}

func TestARebuildOfMoreThanThereIsRoomForWaitsForTheFold(t *testing.T) {
	dir := t.TempDir()
	tree := openDir(t, dir, Options{MaxPending: minMaxPending, SegmentBits: 8})
	index := versions(50_000)
	done := rebuildAll(t, tree, tableOf(index))
	require.Equal(t, [2]int64{256, 50_000}, done)
	require.Equal(t, index, content(t, tree))
	require.Zero(t, tree.Stats().Dropped)
	require.Positive(t, tree.Stats().Folds)
}

func TestCloseEndsARebuildBeforeItGivesTheFolderBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const settle = time.Second
		for _, at := range []string{"waiting", "reading"} {
			d := disktest.New()
			tree := start(t, d, Options{SegmentBits: 2})
			index, read := tableOf(versions(20)), make(chan struct{})
			ended := make(chan error)
			go func() {
				_, _, err := tree.Rebuild(t.Context(), during(index, "k15", func() { <-read }), settle)
				ended <- err
			}()
			if at == "reading" {
				time.Sleep(settle)
				synctest.Wait()
				require.Greater(t, len(d.Files()), 1)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				require.ErrorIs(t, tree.Close(ctx), context.DeadlineExceeded, "the rows do not come")
				cancel()
				close(read)
			}
			require.NoError(t, tree.Close(t.Context()))
			require.Len(t, d.Files(), 1, "the files of the rows are gone")
			require.ErrorIs(t, <-ended, errClosed, at)
		}
	})
}

func TestASegmentThatWasBuiltInTheFutureIsDue(t *testing.T) {
	tree := newTree(t)
	tree.mu.Lock()
	tree.built[2] = time.Now().Add(2 * defaultExpireAfter).Unix()
	tree.mu.Unlock()
	require.Equal(t, 1, tree.Stats().Due)
}
