package repair

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/models"
)

// treed is a world whose sender reports to a tree.
type treed struct {
	*world
	tree   *digesttree.Tree
	sender *bufferedsender.BufferedSender[hotel]
}

// nothing is a source without rows.
type nothing struct{}

func (nothing) Scan(context.Context, string, string) iter.Seq2[models.Row, error] {
	return func(func(models.Row, error) bool) {}
}

func (nothing) Lookup(context.Context, []string) ([]models.Row, error) { return nil, nil }

func withTree(t *testing.T, w *world, opts digesttree.Options) *treed {
	if opts.SegmentBits == 0 {
		opts.SegmentBits = 4
	}
	tree, err := digesttree.Open(t.TempDir(), &opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Close(context.Background())) })
	return &treed{w, tree, w.sender(&bufferedsender.Options[hotel]{
		Handlers: digesttree.Follow(tree, func(h hotel) int64 { return h.Version }),
	})}
}

func (w *treed) runTree(opts *Options) (Report, error) {
	w.t.Helper()
	if opts == nil {
		opts = &Options{}
	}
	opts.Logger = quiet
	return repairer(half{w.world, "source"}, half{w.world, "index"}, w.sender.Raw(), opts).RunTree(context.Background(), w.tree)
}

// write makes the sender write rows of the table.
func (w *treed) write(version int64, keys ...string) {
	w.t.Helper()
	for _, k := range keys {
		h := hotel{ID: k, Version: version}
		w.set(k, &h)
		require.NoError(w.t, w.sender.UploadDocuments(w.t.Context(), h))
	}
	require.NoError(w.t, w.sender.Flush(w.t.Context(), nil))
}

func keysFrom(first, n int) (keys []string) {
	for i := range n {
		keys = append(keys, key(first+i))
	}
	return keys
}

// indexScans returns the number of scans of the index.
func (w *treed) indexScans() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.scanned[1])
}

func TestWhatASenderHasLostIsFoundAndRepairedWithoutReadingTheIndex(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{Empty: true})
		w.lag = time.Second
		w.write(1, keysFrom(0, 300)...)
		for _, k := range keysFrom(100, 200) { // lost messages: rows that were never sent
			w.set(k, &hotel{ID: k, Version: 2})
		}
		w.set("new", &hotel{ID: "new", Version: 1})
		for _, k := range keysFrom(0, 3) {
			w.set(k, nil)
		}
		report, err := w.runTree(&Options{MaxShare: 1})
		require.NoError(t, err)
		assert.Equal(t, []int64{200, 1, 3, 204, 0}, []int64{report.Different, report.Missing, report.Surplus, report.Tree.Found, report.Tree.Lost})
		assert.Equal(t, []int64{201, 3, 0}, []int64{report.Repaired, report.Deleted, report.Unsettled})
		assert.False(t, report.Tree.More)
		assert.True(t, report.Complete)
		assert.False(t, report.Agrees(), "the index differed from the source before")
		w.agrees()
		report, err = w.runTree(nil)
		require.NoError(t, err)
		assert.True(t, report.Agrees(), "%+v", report)
		assert.Equal(t, TreeReport{Rounds: 1}, *report.Tree)
		assert.Zero(t, w.indexScans())
	})
}

func TestANewTreeIsBuiltFromAScanOfTheIndexOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		world.fill(100)
		w := withTree(t, world, digesttree.Options{})
		w.set(key(5), &hotel{ID: key(5), Version: 2})
		report, err := w.runTree(&Options{DryRun: true})
		require.NoError(t, err)
		assert.Equal(t, TreeReport{Rebuilt: 16, Rows: 100, Rounds: 2, Found: 1}, *report.Tree)
		assert.Equal(t, map[Kind][]string{Different: {key(5)}}, report.Keys)
		assert.Empty(t, w.written)
		report, err = w.runTree(nil)
		require.NoError(t, err)
		assert.Equal(t, TreeReport{Rounds: 2, Found: 1}, *report.Tree)
		assert.Equal(t, int64(1), report.Repaired)
		assert.Equal(t, 1, w.indexScans())
		w.agrees()
	})
}

func TestWhatOnlyTheTreeHasLostIsToldAndNotWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		world.fill(10) // unknown to the tree, as after a crash
		w := withTree(t, world, digesttree.Options{Empty: true})
		report, err := w.runTree(nil)
		require.NoError(t, err)
		assert.Equal(t, TreeReport{Rounds: 2, Found: 10, Lost: 10}, *report.Tree)
		assert.True(t, report.Agrees())
		assert.Empty(t, w.written)
		report, err = w.runTree(nil)
		require.NoError(t, err)
		assert.Zero(t, report.Tree.Found)
	})
}

func TestTheTreeIsToldOnlyWhatTheIndexShowsAndNothingOverWhatWasConfirmedMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{Empty: true})
		w.refuses["refused"] = true
		w.set("refused", &hotel{ID: "refused", Version: 1})
		w.write(1, "ahead")
		w.behind("ahead", &hotel{ID: "ahead", Version: 9})
		w.set("ahead", &hotel{ID: "ahead", Version: 2})
		w.set("moving", &hotel{ID: "moving", Version: 1})
		w.behind("moving", &hotel{ID: "moving", Version: 1})
		seen := 0
		w.lookups = func(side string, keys []string) {
			if side == "index" && slices.Contains(keys, "moving") {
				if seen++; seen == 2 { // the row read for the tree is not the newest
					w.tree.Confirmed("moving", 2)
				}
			}
		}
		w.set("waits", &hotel{ID: "waits", Version: 1})
		w.behind("waits", &hotel{ID: "waits", Version: 1})
		report, err := w.runTree(&Options{Pending: func(_ context.Context, keys []string) ([]bool, error) {
			pending := make([]bool, len(keys))
			for i := range keys {
				pending[i] = keys[i] == "waits"
			}
			return pending, nil
		}})
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 1, 2}, []int64{report.Rejected, report.Ahead, report.Tree.Lost})
		all, err := w.tree.Compare(t.Context(), nothing{}, 0) // so everything in the tree differs
		require.NoError(t, err)
		got := map[string]int64{}
		for _, d := range all.Keys {
			if slices.Contains([]string{"refused", "ahead", "moving", "waits"}, d.Key) {
				got[d.Key] = d.Here
			}
		}
		assert.Equal(t, map[string]int64{"ahead": 9, "moving": 2}, got)
	})
}

func TestATreeThatFindsMoreThanItLooksAtDeletesNothingAndSaysSo(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{Empty: true})
		const n = treeRounds*128 + 100
		w.page = 10_000
		w.write(1, keysFrom(0, n+100)...)
		for _, k := range keysFrom(0, n) {
			w.set(k, nil)
		}
		report, err := w.runTree(nil)
		require.ErrorIs(t, err, ErrMore)
		assert.Equal(t, int64(treeRounds*128), report.Surplus)
		assert.True(t, report.Tree.More)
		assert.Empty(t, w.deleted)
	})
}

func TestASourceThatLiesDeletesNothingByATree(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{Empty: true})
		w.write(1, keysFrom(0, 100)...)
		for _, k := range keysFrom(0, 6) {
			w.set(k, nil)
		}
		report, err := w.runTree(&Options{DryRun: true})
		require.NoError(t, err)
		assert.Contains(t, report.Refused, "6 of 100 documents would be deleted")
		report, err = w.runTree(&Options{DryRun: true, AllowDeletes: 6})
		require.NoError(t, err)
		assert.Empty(t, report.Refused)
		report, err = w.runTree(nil)
		var refused *DeletesError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, DeletesError{Surplus: 6, Most: 5, IndexRows: 100}, *refused)
		assert.Equal(t, int64(6), report.Surplus)
		w.mu.Lock()
		w.table = map[string]hotel{}
		w.mu.Unlock()
		_, err = w.runTree(&Options{AllowDeletes: 100})
		require.ErrorIs(t, err, ErrNoRows)
		assert.Empty(t, w.deleted)
	})
}

// With the table of another system, the more rows it has, the fewer of a hundred documents seem surplus.
func TestASourceThatLiesWritesNothingByATree(t *testing.T) {
	for name, rows := range map[string]int{"few": 60, "as many as one pass looks at": treeRounds*128 - 148, "more": treeRounds * 128} {
		inBubble(t, func(t *testing.T, world *world) {
			w := withTree(t, world, digesttree.Options{Empty: true})
			w.page = 10_000
			w.write(1, keysFrom(0, 100)...)
			for i := range rows {
				w.set("other"+key(i), &hotel{ID: "other" + key(i), Version: 1})
			}
			for _, k := range keysFrom(0, 99) {
				w.set(k, nil)
			}
			w.set(key(99), &hotel{ID: key(99), Version: 2})
			want := maps.Clone(w.index)
			_, err := w.runTree(nil)
			require.Error(t, err, name)
			assert.True(t, maps.Equal(want, w.index), name)
		})
	}
}

// A counted difference that is not written is removed from the count.
func TestATreeWhoseWritesFailGivesBackWhatWasCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{Empty: true})
		w.write(1, keysFrom(0, 100)...)
		for _, k := range keysFrom(0, 5) {
			w.set(k, nil)
		}
		w.set(key(50), &hotel{ID: key(50), Version: 2})
		broken := errors.New("broken")
		failing := half{w.world, "source"}
		_, err := repairer(unreadable{failing, broken}, half{w.world, "index"}, w.sender.Raw(), &Options{Logger: quiet}).RunTree(t.Context(), w.tree)
		require.ErrorIs(t, err, broken)
		assert.Empty(t, w.deleted)
		report, err := w.runTree(nil)
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 5}, []int64{report.Repaired, report.Deleted})
		w.agrees()
	})
}

// unreadable is a source whose documents cannot be read.
type unreadable struct {
	half
	err error
}

func (u unreadable) Read(context.Context, []string) ([]models.RawAction, error) { return nil, u.err }

func TestASourceThatLiesDeletesNothingByATreeOfManySegments(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{Empty: true, SegmentBits: 18})
		w.page = 10_000
		w.write(1, keysFrom(0, 6000)...)
		for _, k := range keysFrom(0, 500) { // more segments than a round covers, one for each key
			w.set(k, nil)
		}
		report, err := w.runTree(nil)
		var refused *DeletesError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, DeletesError{Surplus: 500, Most: 300, IndexRows: 6000}, *refused)
		assert.Equal(t, int64(500), report.Tree.Found)
		assert.Empty(t, w.deleted)
	})
}

func TestASourceThatLiesDeletesNothingByATreeThatKnowsLittle(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{Empty: true, MaxPending: 1 << 20})
		w.page = 10_000
		w.write(1, keysFrom(0, 8000)...)
		for i := 0; w.tree.Stats().Unknown < 8; i++ { // faster than the disk
			w.tree.Deleted(strings.Repeat("x", 1000) + key(i))
		}
		for _, k := range keysFrom(0, 520) { // 6.5 % of all, half of which the tree has
			w.set(k, nil)
		}
		report, err := repairer(half{world, "source"}, half{world, "index"}, w.sender.Raw(), &Options{Logger: quiet}).runTree(t.Context(), w.tree, false)
		var refused *DeletesError
		require.ErrorAs(t, err, &refused)
		assert.Positive(t, report.Tree.Unknown)
		assert.Empty(t, w.deleted)
	})
}

func TestADocumentThatIsGoneWhenItIsMergedIsFoundByATree(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{Empty: true})
		h := hotel{ID: "gone", Version: 2}
		w.set("gone", &h)
		s := w.world.sender(&bufferedsender.Options[hotel]{
			OnMergeMissing: bufferedsender.MergeMissingIgnore,
			Handlers:       digesttree.Follow(w.tree, func(h hotel) int64 { return h.Version }),
		})
		require.NoError(t, s.MergeDocuments(t.Context(), h))
		require.NoError(t, s.Flush(t.Context(), nil))
		report, err := w.runTree(nil)
		require.NoError(t, err)
		assert.Equal(t, int64(1), report.Repaired)
		w.agrees()
	})
}

func TestMoreThanARoundFindsIsDeletedWhenAllWasSeen(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{Empty: true})
		w.page = 10_000
		w.write(1, keysFrom(0, 5000)...)
		for _, k := range keysFrom(0, 200) { // two rounds, and one that starts again
			w.set(k, nil)
		}
		report, err := repairer(half{world, "source"}, half{world, "index"}, world.sender(nil).Raw(), nil).RunTree(t.Context(), w.tree) // does not report to the tree
		require.NoError(t, err)
		assert.Equal(t, int64(200), report.Deleted)
		w.agrees()
		report, err = w.runTree(nil)
		require.NoError(t, err)
		assert.Zero(t, report.Tree.Found, "the tree has them as deleted")
	})
}

func TestAWatchComparesByTheTreeBetweenItsPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		w := withTree(t, newWorld(t), digesttree.Options{}) // it is due each week
		w.fill(50)
		w.page = 1000
		ctx, cancel := context.WithTimeout(t.Context(), 4*30*day)
		defer cancel()
		passes, byTree, built := 0, 0, 0
		opts := &Options{Tree: w.tree, treeEvery: 5 * day / 2, Logger: quiet}
		err := repairer(half{w.world, "source"}, half{w.world, "index"}, w.sender.Raw(), opts).Watch(ctx, 30*day, func(r Report, err error) {
			assert.NoError(t, err)
			if r.Tree == nil {
				passes++
				return
			}
			byTree++
			if r.Tree.Rebuilt > 0 {
				built++
			}
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.InDelta(t, 4, passes, 1)
		assert.InDelta(t, 48, byTree, 7)
		assert.InDelta(t, 4, built, 1, "no more often than there are passes")
		require.NoError(t, w.tree.Close(context.Background()))
		require.NoError(t, w.sender.Close(context.Background()))
	})
}

func TestWhatATreeCannotDoIsSaid(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{})
		w.fill(3)
		_, err := repairer(half{world, "source"}, half{world, "index"}, nil, &Options{DryRun: true}).RunTree(t.Context(), nil)
		require.ErrorContains(t, err, "the tree is nil")
		broken := errors.New("broken")
		w.failScan = func(side string, row int) error {
			if side == "index" && row == 1 {
				return broken
			}
			return nil
		}
		report, err := w.runTree(nil)
		require.ErrorIs(t, err, broken)
		assert.False(t, report.Complete)
		assert.Positive(t, w.tree.Stats().Due)
		w.failScan = func(side string, _ int) error {
			if side == "source" {
				panic("by the source")
			}
			return nil
		}
		_, err = w.runTree(nil)
		require.ErrorContains(t, err, "by the source")
	})
}
