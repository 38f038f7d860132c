package repair

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/hints"
)

// invent adds documents that the source lacks.
func (w *world) invent(n int, name string) {
	for i := range n {
		k := fmt.Sprintf("%s%06d", name, i)
		w.behind(k, &hotel{ID: k, Version: 1})
	}
}

func TestTheBoundOnDeletesIsOfADay(t *testing.T) {
	for name, store := range map[string]func() Store{
		"in the process": func() Store { return nil },
		"in a store": func() Store {
			s, err := NewFileStore(t.TempDir())
			require.NoError(t, err)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(1000)
				kept := store()
				deleted, refusals := int64(0), 0
				for range 4 { // 4 % each time
					for i := range 40 {
						w.set(key(int(deleted)+i), nil)
					}
					time.Sleep(time.Minute)
					report, err := w.repair(&Options{Store: kept})
					if e := (*DeletesError)(nil); err != nil {
						require.ErrorAs(t, err, &e)
						assert.Equal(t, DeletesError{Surplus: 40, Deleted: 40, Most: 50, IndexRows: 1000}, *e)
						refusals++
					}
					deleted += report.Deleted
				}
				assert.EqualValues(t, 40, deleted, "a day deletes no more than 50 of 1000")
				assert.Equal(t, 3, refusals)
				_, err := DeleteWhere(t.Context(), half{w, "index"}, w.sender(nil).Raw(), &DeleteOptions{Total: func(context.Context) (int64, error) { return 960, nil }})
				require.ErrorAs(t, err, new(*DeletesError))
				time.Sleep(24 * time.Hour)
				report, err := w.repair(&Options{Store: kept})
				require.NoError(t, err)
				assert.EqualValues(t, 40, report.Deleted)
				w.agrees()
			})
		})
	}
}

// A Store is shared by processes. Deletes of this process without a Store count together with deletes in the Store,
// in both directions.
func TestADayIsOfPassesWithAndWithoutAStoreTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		kept, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		next := 0
		pass := func(store Store) error { // 4 %
			for range 40 {
				w.set(key(next), nil)
				next++
			}
			time.Sleep(time.Minute)
			_, err := w.repair(&Options{Store: store})
			return err
		}
		for _, order := range [][2]Store{{kept, nil}, {nil, kept}} {
			require.NoError(t, pass(order[0]))
			var e *DeletesError
			require.ErrorAs(t, pass(order[1]), &e)
			assert.EqualValues(t, 40, e.Deleted)
			require.ErrorAs(t, pass(order[0]), &e)
			assert.EqualValues(t, 40, e.Deleted, "the delete counts once")
			time.Sleep(24 * time.Hour)
			for i := range 80 { // the refused ones
				w.set(key(next-1-i), &hotel{ID: key(next - 1 - i), Version: 1})
			}
			next -= 80
		}
	})
}

func TestAWrongSourceWritesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		for i := range 500 {
			w.set(key(i), nil)
		}
		for i := range 1000 {
			w.set(fmt.Sprint("wrong", i), &hotel{ID: fmt.Sprint("wrong", i), Version: 1})
		}
		report, err := w.repair(nil)
		require.ErrorAs(t, err, new(*DeletesError))
		assert.ErrorContains(t, err, "set AllowDeletes to 500, or MaxShare to at least 0.5")
		assert.Equal(t, []int64{1000, 500}, []int64{report.Missing, report.Surplus})
		assert.Empty(t, w.written)
		report, err = w.repair(&Options{MaxShare: 0.5})
		require.NoError(t, err)
		assert.Equal(t, []int64{1000, 500}, []int64{report.Repaired, report.Deleted})
		w.agrees()
	})
}

func TestNoMoreThanTheBoundIsOverwritten(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		for i := range 51 {
			w.set(key(i), &hotel{ID: key(i), Version: 2})
		}
		for i := range 400 { // missing in the index; uploads are not limited
			w.set(fmt.Sprint("new", i), &hotel{ID: fmt.Sprint("new", i), Version: 1})
		}
		_, err := w.repair(nil)
		var e *DeletesError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, DeletesError{Different: 51, Most: 50, IndexRows: 1000}, *e)
		assert.Empty(t, w.written)
		w.set(key(0), &hotel{ID: key(0), Version: 1})
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.EqualValues(t, 450, report.Repaired)
	})
}

// All surplus documents are in one range: 12 % of that range, and 3 % of the index.
func TestTheBoundIsOfTheWholeIndex(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		for i := range 30 {
			w.set(key(i), nil)
		}
		report, err := w.repair(&Options{Splits: []string{key(249), key(499), key(749)}})
		require.NoError(t, err)
		assert.EqualValues(t, 30, report.Deleted)
		w.agrees()
	})
}

func TestWhatWasAllowedAndNotDoneIsGivenBack(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		w.invent(40, "x")
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		looks := 0
		w.lookups = func(side string, _ []string) {
			if looks++; looks == 4 { // both sides have confirmed, and the deletes begin
				cancel()
			}
		}
		_, err := repairer(half{w, "source"}, half{w, "index"}, w.sender(nil).Raw(), &Options{Logger: quiet}).Run(ctx)
		require.Error(t, err)
		require.Empty(t, w.deleted)
		time.Sleep(time.Minute)
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.EqualValues(t, 40, report.Deleted)
	})
}

// The index was empty when scanned, and documents added since have left the source again.
func TestABoundIsNotOfACountThatWasNotTaken(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		clear(w.index)
		clear(w.shown)
		w.lookups = func(side string, keys []string) {
			if w.total() < 1000 {
				return
			}
			for i := range 3 { // between the write and the lookup after it
				w.set(key(i), nil)
			}
		}
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.EqualValues(t, 1000, report.Missing)
		assert.EqualValues(t, 3, report.Deleted)
		w.agrees()
	})
}

// interrupted makes a pass that ends before its first write.
func (w *world) interrupted(store Store) {
	ctx, cancel := context.WithCancel(w.t.Context())
	_, err := repairer(half{w, "source"}, half{w, "index"}, &stops{Sender: w.sender(nil).Raw(), beforeHold: cancel}, &Options{Store: store, Logger: quiet}).Run(ctx)
	require.ErrorIs(w.t, err, context.Canceled)
	require.Zero(w.t, w.total())
	time.Sleep(time.Minute)
}

// The documents were missing when the guard agreed. Since then another writer has added old ones.
func TestAResumedPassOverwritesNoMoreThanWasCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		w.lose(400)
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		w.interrupted(store)
		for i := range 400 {
			w.behind(key(i), &hotel{ID: key(i), Version: 1})
			w.set(key(i), &hotel{ID: key(i), Version: 2})
		}
		time.Sleep(time.Minute)
		_, err = w.repair(&Options{Store: store})
		require.ErrorAs(t, err, new(*DeletesError))
		assert.Zero(t, w.total())
	})
}

func TestAResumedPassDoesNotCountItsOverwritesTwice(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		changed := func(first, n int) {
			for i := range n {
				w.set(key(first+i), &hotel{ID: key(first + i), Version: 2})
			}
			time.Sleep(time.Minute)
		}
		changed(0, 40)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		w.interrupted(store)
		report, err := w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.EqualValues(t, 40, report.Repaired)
		changed(40, 10)
		report, err = w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.EqualValues(t, 10, report.Repaired)
		changed(50, 1)
		_, err = w.repair(&Options{Store: store})
		require.ErrorAs(t, err, new(*DeletesError))
	})
}

func TestAPassWithoutRangesIsNotOneOfASourceWithoutRows(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.invent(1, "x")
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		unlock, ok, err := store.Lock(t.Context(), `repair ("", ""]`)
		require.NoError(t, err)
		require.True(t, ok)
		set := new(hints.Set)
		require.NoError(t, set.Add("hotels", "x000000"))
		report, err := w.repair(&Options{Store: store, Hints: set, HintsOf: "hotels"})
		require.NoError(t, err)
		assert.Len(t, report.Elsewhere, 1)
		n := set.Stats().Keys["hotels"]
		assert.Equal(t, 1, n)
		require.NoError(t, unlock())
	})
}

// All rows change after they were compared, and before the first write.
func TestGivenKeysAreNotOverwrittenBeyondTheBound(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const n = 10_100
		w.fill(n)
		time.Sleep(time.Minute)
		w.failScan = func(string, int) error {
			for i := range n {
				w.set(key(i), &hotel{ID: key(i), Version: 2})
			}
			return nil
		}
		r := repairer(half{w, "source"}, half{w, "index"}, w.sender(nil).Raw(), &Options{Logger: quiet, Throttle: []Tier{}})
		report, err := r.RunKeys(t.Context(), keysFrom(0, n)...)
		require.ErrorAs(t, err, new(*DeletesError))
		assert.LessOrEqual(t, report.Repaired, int64(10_000))
	})
}

// AllowDeletes is the number of a dry run. As many rows that disappear during the pass are others.
func TestLateDeletesAreNotTheOnesThatWereAskedFor(t *testing.T) {
	late := func(w *world) Sender {
		once := sync.OnceFunc(func() {
			for i := range 40 {
				w.set(key(i), nil)
			}
		})
		return &stops{Sender: w.sender(nil).Raw(), beforeHold: once}
	}
	for name, run := range map[string]func(w *world, opts *Options) (Report, error){
		"Run": func(w *world, opts *Options) (Report, error) { return w.run(late(w), opts) },
		"RunKeys": func(w *world, opts *Options) (Report, error) {
			return repairer(half{w, "source"}, half{w, "index"}, late(w), opts).RunKeys(w.t.Context(), keysFrom(0, 40)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(1000)
				before := int64(45)
				if name == "RunKeys" {
					before = 10_000
				}
				inProcess(half{w, "index"}, func(s *spent) { s.add(time.Now(), before, 0) })
				for i := range 40 {
					w.behind(key(i), &hotel{ID: key(i)})
				}
				time.Sleep(time.Minute)
				_, err := run(w, &Options{AllowDeletes: 40, Logger: quiet})
				require.ErrorAs(t, err, new(*DeletesError))
				assert.Empty(t, w.deleted)
			})
		})
	}
}

// The process with the range of the surplus documents has no range with rows.
func TestARangeWithoutRowsIsNotASourceWithoutRows(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.invent(3, "z")
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		unlock, ok, err := store.Lock(t.Context(), `repair ("", "m"]`) // another process
		require.NoError(t, err)
		require.True(t, ok)
		defer func() { assert.NoError(t, unlock()) }()
		opts := &Options{Store: store, Splits: []string{"m"}, MaxShare: 1}
		report, err := w.repair(opts)
		require.NoError(t, err)
		assert.EqualValues(t, 3, report.Deleted)
		w.invent(3, "z")
		time.Sleep(time.Minute)
		w.mu.Lock()
		clear(w.table)
		w.mu.Unlock()
		_, err = w.repair(opts)
		require.ErrorIs(t, err, ErrNoRows)
	})
}

// Without a Store the counts of an index belong to the process. The other Repairer is that of a smaller table.
func TestAnotherRepairerOfTheIndexDoesNotLowerTheBound(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		for i := range 20 {
			w.set(key(i), &hotel{ID: key(i), Version: 2})
		}
		w.behind(key(500), nil)
		time.Sleep(time.Minute)
		w.afterTheGuard(func() {
			small := newWorld(t)
			small.fill(10)
			_, err := repairer(half{small, "source"}, at{half{small, "index"}, ""}, small.sender(nil).Raw(), &Options{Logger: quiet}).Run(t.Context())
			assert.NoError(t, err)
			w.behind(key(500), &hotel{ID: key(500), Version: 1}) // another writer
			w.set(key(500), &hotel{ID: key(500), Version: 2})
		})
		report, err := repairer(half{w, "source"}, at{half{w, "index"}, ""}, w.sender(nil).Raw(), &Options{Logger: quiet}).Run(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 21, report.Repaired)
	})
}

// afterTheGuard calls do before the keys of the next pass are looked up for the second time.
func (w *world) afterTheGuard(do func()) {
	looks := 0
	w.lookups = func(side string, _ []string) {
		if side == "source" {
			if looks++; looks == 2 {
				do()
				time.Sleep(2 * w.lag)
			}
		}
	}
}

func TestLateDeletesAreBoundedByTheWholeIndex(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		for i := range 30 {
			w.set(key(900+i), nil)
		}
		w.behind(key(500), &hotel{ID: key(500)})
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		opts := &Options{Store: store, Splits: []string{key(99)}}
		_, err = w.repair(opts)
		require.NoError(t, err)
		unlock, ok, err := store.Lock(t.Context(), fmt.Sprintf(`repair (%q, ""]`, key(99))) // another process
		require.NoError(t, err)
		require.True(t, ok)
		defer func() { assert.NoError(t, unlock()) }()
		for i := range 3 {
			w.set(key(i), nil)
		}
		w.behind(key(10), &hotel{ID: key(10)})
		time.Sleep(time.Minute)
		late := &stops{Sender: w.sender(nil).Raw(), beforeHold: sync.OnceFunc(func() { w.set(key(10), nil) })}
		report, err := w.run(late, opts)
		require.NoError(t, err)
		assert.EqualValues(t, 4, report.Deleted)
	})
}
