package repair_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// A query returns at most 100 000 documents, with any paging.
func TestMoreThanAHundredThousandMatchesAreDeleted(t *testing.T) {
	testkit.Long(t)
	synctest.Test(t, func(t *testing.T) {
		const many = 100_700
		r := newDeleteRig(t, &searchtest.Options{KeepChanges: -1}, nil)
		r.fill("ann", many)
		r.fill("ben", 10)
		opts := r.all()
		opts.SetSpoolBytes(1 << 20) // for a third of them
		n, last := 0, ""
		opts.OnKey = func(key string) {
			n++
			assert.Less(t, last, key)
			last = key
		}
		receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), opts)
		require.NoError(t, err)
		balanced(t, receipt)
		assert.EqualValues(t, many, receipt.Deleted)
		assert.Equal(t, many, n)
		assert.EqualValues(t, 10, r.service.DocumentCount("records"))
	})
}

func TestWhatDoesNotFitIntoMemoryIsScannedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile        []record
		matched, changed int64
	}{
		"nothing changes":                                    {nil, 100, 0},
		"one document stops matching":                        {[]record{{ID: "ann-0000070", Owner: "ben"}}, 100, 1},
		"one document begins to match":                       {[]record{{ID: "ann-0000070x", Owner: "ann"}}, 101, 0},
		"a document before the second match begins to match": {[]record{{ID: "aaa", Owner: "ann"}}, 100, 0},
		"one document stops matching and another begins":     {[]record{{ID: "ann-0000070", Owner: "ben"}, {ID: "ann-0000070x", Owner: "ann"}}, 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newDeleteRig(t, nil, nil)
				r.fill("ann", 100)
				r.fill("ben", 50)
				index := r.of("ann")
				index.afterScan = func(n int) {
					if n == 1 {
						r.write(c.meanwhile...)
					}
				}
				opts := r.all()
				opts.SetSpoolBytes(30 * (16 + 11))
				opts.SetBatches(7, 0)
				receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), opts)
				if name == "a document before the second match begins to match" {
					require.ErrorIs(t, err, repair.ErrMatchesLeft)
				} else {
					require.NoError(t, err)
				}
				balanced(t, receipt)
				assert.Equal(t, c.matched, receipt.Matched)
				assert.Equal(t, c.changed, receipt.Changed)
				assert.Equal(t, c.matched-c.changed, receipt.Deleted)
			})
		})
	}
}

// The limit is twenty deletes, and twenty documents match; later ones match in the second scan.
func TestMoreThanWereCountedAreNotDeletedBeyondTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 20)
		r.fill("ben", 80)
		index := r.of("ann")
		index.afterScan = func(n int) {
			if n == 1 {
				r.fill("ann", 90)
			}
		}
		opts := &repair.DeleteOptions{Total: r.total, MaxShare: 0.2}
		opts.SetBatches(3, 0)
		opts.SetSpoolBytes(1)
		receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), opts)
		require.ErrorAs(t, err, new(*repair.DeletesError))
		balanced(t, receipt)
		assert.LessOrEqual(t, receipt.Deleted, int64(20))
		assert.EqualValues(t, receipt.Deleted, r.deletes())
	})
}

func TestWhatBeganToMatchIsDeletedUntilNothingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 100)
		r.fill("ben", 100)
		index := r.of("ann")
		index.beforeScan = func(n int) {
			if n == 2 || n == 5 { // each round has one scan with matches, and two more in case the index lags
				r.write(record{ID: fmt.Sprint("new-", n), Owner: "ann"})
			}
		}
		opts := r.all()
		opts.UntilStable = 5
		var keys []string
		opts.OnKey = func(key string) { keys = append(keys, key) }
		receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), opts)
		require.NoError(t, err)
		balanced(t, receipt)
		assert.Equal(t, 3, receipt.Rounds)
		assert.EqualValues(t, 102, receipt.Deleted)
		assert.Equal(t, []string{"new-2", "new-5"}, keys[100:])
		assert.Equal(t, digestOf(keys...), receipt.Digest)
		assert.Zero(t, receipt.Left)
		assert.Len(t, r.keys(), 100)
	})
}

func TestRoundsHaveAnEnd(t *testing.T) {
	for rounds, want := range []int{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			r := newDeleteRig(t, nil, nil)
			r.fill("ann", 1)
			r.fill("ben", 100)
			index := r.of("ann")
			index.beforeScan = func(n int) { r.write(record{ID: fmt.Sprint("new-", n), Owner: "ann"}) }
			opts := r.all()
			opts.UntilStable, opts.Pause = rounds, -1
			receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), opts)
			require.ErrorIs(t, err, repair.ErrMatchesLeft)
			assert.Equal(t, want, receipt.Rounds)
			assert.EqualValues(t, 1, receipt.Left)
			assert.True(t, receipt.NoneLeftAt.IsZero())
			balanced(t, receipt)
		})
	}
}

// A limit of fifty does not cover documents that match later: those are limited by their share.
func TestWhatBeganToMatchIsBoundedAsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 50)
		index := r.of("ann")
		index.beforeScan = func(n int) {
			if n == 2 {
				r.fill("ann", 3) // 5 % of 50 are 2
			}
		}
		receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), &repair.DeleteOptions{AllowDeletes: 50, UntilStable: 3, Pause: -1})
		require.ErrorAs(t, err, new(*repair.DeletesError))
		require.ErrorIs(t, err, repair.ErrMatchesLeft)
		balanced(t, receipt)
		assert.EqualValues(t, 50, receipt.Deleted)
		assert.EqualValues(t, 3, receipt.Left)
		assert.Len(t, r.keys(), 3)
	})
}

func TestNoneLeftIsSaidWhenTheIndexHasCaughtUp(t *testing.T) {
	for _, c := range []struct {
		lag  time.Duration
		left int64
	}{{time.Second, 0}, {5 * time.Second, 0}, {13 * time.Second, 0}, {time.Minute, 50}} {
		t.Run(c.lag.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newDeleteRig(t, &searchtest.Options{VisibilityLag: c.lag}, nil)
				r.fill("ann", 50)
				time.Sleep(time.Hour)
				receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), r.all())
				balanced(t, receipt)
				assert.EqualValues(t, 50, receipt.Deleted)
				assert.Equal(t, c.left, receipt.Left)
				if c.left > 0 {
					require.ErrorIs(t, err, repair.ErrMatchesLeft)
					assert.True(t, receipt.NoneLeftAt.IsZero())
					return
				}
				require.NoError(t, err)
				assert.GreaterOrEqual(t, receipt.NoneLeftAt.Sub(receipt.Began), 2*time.Second+c.lag, "the documents become visible only after the lag")
			})
		})
	}
}

// The first scan does not show a recent upload, so a scan without matches is repeated after a pause.
func TestWhatTheFirstScanDoesNotShowYetIsDeletedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, &searchtest.Options{VisibilityLag: time.Second}, nil)
		r.fill("ben", 100)
		time.Sleep(time.Minute)
		r.fill("ann", 2)
		opts := &repair.DeleteOptions{Total: r.total}
		receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), opts)
		require.NoError(t, err)
		balanced(t, receipt)
		assert.EqualValues(t, 2, receipt.Deleted)
		assert.Len(t, r.keys(), 100)
	})
}

// Each request takes 100 ms. Counting takes ten pages, deleting is possible at ten thousand a second, and twenty
// sequential lookups would take two seconds.
func TestLookupsAndDeletesOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 10_000)
		r.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Delay: searchtest.Duration(100 * time.Millisecond)}}})
		opts := r.all()
		opts.Pause = -1
		receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), opts)
		require.NoError(t, err)
		assert.EqualValues(t, 10_000, receipt.Deleted)
		assert.Less(t, receipt.Ended.Sub(receipt.Began), 3500*time.Millisecond)
	})
}

// counting is a sender that records how much is held and added at once, and the class.
type counting struct {
	repair.Sender
	held, most, mostPending atomic.Int64
	class                   atomic.Int64
}

func (c *counting) HoldKeys(ctx context.Context, keys []string, act func(ctx context.Context, add func(actions ...models.RawAction) error) error) error {
	class, _ := models.ClassOf(ctx)
	c.class.Store(int64(class))
	return c.Sender.HoldKeys(ctx, keys, func(ctx context.Context, add func(actions ...models.RawAction) error) error {
		n := int64(len(keys))
		c.most.Store(max(c.most.Load(), c.held.Add(n)))
		defer c.held.Add(-n)
		err := act(ctx, add)
		c.mostPending.Store(max(c.mostPending.Load(), int64(c.Info().Pending)))
		return err
	})
}

func TestWhatIsHeldAndWhatIsInTheSenderIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, &bufferedsender.Options[record]{Limits: bufferedsender.Limits{MaxBufferedActions: 400, MaxBatchActions: 50}})
		r.fill("ann", 5000)
		r.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(time.Second)}}})
		opts := r.all()
		opts.SetHeldKeys(1000)
		s := &counting{Sender: r.sender.Raw()}
		_, err := repair.DeleteWhere(t.Context(), r.of("ann"), s, opts)
		require.NoError(t, err)
		assert.LessOrEqual(t, s.most.Load(), int64(1000))
		assert.Greater(t, s.most.Load(), int64(500))
		assert.LessOrEqual(t, s.mostPending.Load(), int64(100), "a quarter of the buffer")
		assert.EqualValues(t, models.ClassBestEffort, s.class.Load())

		r.service.SetFaults(nil)
		r.fill("ann", 1)
		_, err = repair.DeleteWhere(models.WithClass(t.Context(), models.ClassAssured2), r.of("ann"), s, opts)
		require.NoError(t, err)
		assert.EqualValues(t, models.ClassAssured2, s.class.Load())
	})
}

// Writers of the same sender continue while a filter is deleted: each key ends as its last write or delete left it.
func TestDeletionsAmongWritersConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, &searchtest.Options{VisibilityLag: time.Second}, nil)
		r.fill("ann", 300)
		time.Sleep(time.Minute)
		const keys = 300
		var ended atomic.Bool
		written := make([]record, keys)
		done := make(chan struct{})
		go func() { // repeatedly moves every third document away from ann
			defer close(done)
			for rev := int64(1); !ended.Load(); rev++ {
				for i := 0; i < keys; i += 3 {
					written[i] = record{ID: fmt.Sprintf("ann-%07d", i), Owner: "ben", Rev: rev}
					if !assert.NoError(t, r.sender.UploadDocuments(t.Context(), written[i])) {
						return
					}
				}
				time.Sleep(100 * time.Millisecond)
			}
		}()
		both := make(chan repair.Receipt)
		for range 2 {
			go func() {
				opts := r.all()
				opts.SetBatches(20, 0)
				receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), opts)
				assert.NoError(t, err)
				both <- receipt
			}()
		}
		a, b := <-both, <-both
		balanced(t, a)
		balanced(t, b)
		ended.Store(true)
		<-done
		require.NoError(t, r.sender.Flush(t.Context(), nil))
		left := r.keys()
		assert.Len(t, left, keys/3)
		for i := 0; i < keys; i += 3 {
			raw, there := r.service.Document("records", written[i].ID)
			require.True(t, there, written[i].ID)
			assert.Contains(t, strings.ReplaceAll(string(raw), " ", ""), fmt.Sprintf(`"rev":%d`, written[i].Rev))
		}
	})
}
