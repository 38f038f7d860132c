package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

func TestMain(m *testing.M) {
	if of := os.Getenv(otherProcessOf); of != "" {
		url, dir, _ := strings.Cut(of, " ")
		if err := otherProcess(url, dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	servers.Main(m)
}

// inBubble runs a test in simulated time.
func inBubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lag, w.takes = time.Second, 50*time.Millisecond
		test(t, w)
	})
}

func TestHalfOfTheDocumentsThatWereDeletedBehindOurBackAreWrittenAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(2000)
		for i := range 1000 {
			w.behind(key(2*i), nil)
		}
		time.Sleep(2 * time.Second)
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.EqualValues(t, 1000, report.Missing)
		assert.EqualValues(t, 1000, report.Repaired)
		assert.Zero(t, report.Deleted+report.Surplus+report.Different+report.Rejected+report.Failed+report.Unsettled)
		assert.Len(t, report.Keys[Missing], 100)
		w.agrees()
		assert.Len(t, w.written, 1000, "no other document was written")
	})
}

func TestWhatTheSourceDoesNotHaveIsDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(2000)
		for i := range 100 {
			w.behind(fmt.Sprint("orphan", i), &hotel{ID: fmt.Sprint("orphan", i), Version: 7})
		}
		time.Sleep(2 * time.Second)
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.EqualValues(t, 100, report.Surplus)
		assert.EqualValues(t, 100, report.Deleted)
		assert.Zero(t, report.Repaired+report.Missing+report.Different)
		w.agrees()
	})
}

func TestOlderDocumentsAreWrittenAgainAndDraftsDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		for i := range 10 {
			w.set(key(i), &hotel{ID: key(i), Version: 5})
		}
		w.set(key(50), &hotel{ID: key(50), Version: 5, Draft: true})
		w.set(key(100), &hotel{ID: key(100), Version: 5, Draft: true})
		report, err := w.repair(&Options{MaxShare: 0.2})
		require.NoError(t, err)
		assert.EqualValues(t, 10, report.Different)
		assert.EqualValues(t, 1, report.Surplus, "the draft that was published before")
		assert.EqualValues(t, 2, report.Hidden)
		assert.EqualValues(t, []int64{10, 1}, []int64{report.Repaired, report.Deleted})
		delete(w.index, key(50))
		delete(w.table, key(50))
		w.agrees()
	})
}

func TestASecondPassOverAQuietSystemRepairsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(500)
		for i := range 20 {
			w.behind(key(i), nil)
			w.behind("x"+key(i), &hotel{ID: "x" + key(i)})
			w.set(key(100+i), &hotel{ID: key(100 + i), Version: 2})
		}
		w.refuses[key(3)], w.refuses[key(103)] = true, true
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		first, err := w.repair(&Options{Store: store, MaxShare: 0.1})
		require.NoError(t, err)
		assert.Equal(t, []int64{38, 20, 2}, []int64{first.Repaired, first.Deleted, first.Rejected})
		before := len(w.written)
		for range 2 {
			second, err := w.repair(&Options{Store: store, MaxShare: 0.1}) // like a new process with the same store
			require.NoError(t, err)
			assert.Zero(t, second.Repaired+second.Deleted+second.Missing+second.Different+second.Surplus)
			assert.EqualValues(t, 2, second.Rejected, "rejected as before")
			assert.ElementsMatch(t, []string{key(3), key(103)}, second.Keys[Rejected])
		}
		assert.Len(t, w.written, before)
		assert.Equal(t, 1, w.written[key(3)])

		w.set(key(3), &hotel{ID: key(3), Version: 9}) // another document now
		delete(w.refuses, key(3))
		third, err := w.repair(&Options{Store: store, MaxShare: 0.1})
		require.NoError(t, err)
		assert.EqualValues(t, 1, third.Repaired)
		assert.EqualValues(t, 1, third.Rejected)
	})
}

// Without a store, rejections are remembered only within a pass.
func TestWhatIsRejectedIsTriedOnceInAPass(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.behind(key(1), nil)
		w.refuses[key(1)] = true
		time.Sleep(time.Minute)
		for range 2 {
			report, err := w.repair(nil)
			require.NoError(t, err)
			assert.EqualValues(t, 1, report.Rejected)
			assert.Zero(t, report.Repaired+report.Unsettled)
		}
		assert.Equal(t, 2, w.written[key(1)])
	})
}

func TestKeysOfAllKindsAreRepaired(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		for _, k := range []string{"A-_=", "0", "Zz", "zZ", "a_", "YSBiIGM="} {
			w.table[k] = hotel{ID: k, Version: 3}
		}
		w.table["a b"] = hotel{ID: "a b", Version: 3} // not a legal key
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.EqualValues(t, 6, report.Repaired)
		assert.Equal(t, []string{"a b"}, report.Keys[Rejected])
		delete(w.table, "a b")
		w.agrees()
	})
}

func TestTheMoreTheSenderHasToDoTheSlowerTheRepair(t *testing.T) {
	for pending, want := range map[int]time.Duration{
		0: 0, 499: 0, 500: 10, 999: 10, 1000: 50, 5000: 250, 10_000: 1000, 49_999: 1000, 50_000: 3000, 1 << 30: 3000,
	} {
		assert.Equal(t, want*time.Millisecond, waitFor(yokozuna, pending), "%d", pending)
	}
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		for i := range 10 {
			w.behind(key(i), nil)
		}
		time.Sleep(time.Minute)
		w.lag = 0
		s := w.sender(nil)
		busy := &busySender{Sender: s.Raw(), pending: 5000}
		began := time.Now()
		report, err := w.run(busy, &Options{Pause: time.Nanosecond})
		require.NoError(t, err)
		assert.EqualValues(t, 10, report.Repaired)
		assert.GreaterOrEqual(t, time.Since(began), 2500*time.Millisecond, "250 ms for each of ten keys")
		assert.Less(t, time.Since(began), 10*time.Second)
	})
}

// busySender reports that it has more to do.
type busySender struct {
	Sender
	pending int
	held    error
}

func (b *busySender) Info() models.SenderInfo {
	info := b.Sender.Info()
	info.Pending += b.pending
	if b.held != nil {
		info.Held = b.held
	}
	return info
}

func TestNothingIsSentWhileTheBreakerIsOpen(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.behind(key(1), nil)
		time.Sleep(time.Minute)
		held := &busySender{Sender: w.sender(nil).Raw(), held: bufferedsender.ErrCircuitOpen}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := repairer(half{w, "source"}, half{w, "index"}, held, nil).Run(ctx)
		require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Empty(t, w.written)
	})
}

// Keys are held because of this schedule: the repair sees an orphan, its row is created and uploaded, and the delete
// must not follow the upload.
func TestADeleteDoesNotLandBehindTheBirthOfItsRow(t *testing.T) {
	for name, at := range map[string]func(s *stops) *func(){
		"when the difference is confirmed":     func(s *stops) *func() { return &s.beforeHold },
		"after the key was taken":              func(s *stops) *func() { return &s.inHold },
		"later, after the source row was read": func(s *stops) *func() { return &s.beforeAdd },
		"later, after the delete was added":    func(s *stops) *func() { return &s.afterAdd },
		"later, after the key was released":    func(s *stops) *func() { return &s.afterHold },
		"between confirming and hold":          func(s *stops) *func() { return &s.contains },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(100)
				w.behind("orphan", &hotel{ID: "orphan", Version: 1})
				time.Sleep(time.Minute)
				s := w.sender(&bufferedsender.Options[hotel]{AutoFlushInterval: time.Millisecond})
				to := &stops{Sender: s.Raw()}
				born := false
				*at(to) = func() {
					if !born {
						born = true
						w.set("orphan", &hotel{ID: "orphan", Version: 2})
						require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: "orphan", Version: 2}))
					}
				}
				_, err := w.run(to, nil)
				require.NoError(t, err)
				require.True(t, born)
				require.NoError(t, s.Flush(t.Context(), nil))
				orphan, _ := w.has("orphan")
				assert.Equal(t, hotel{ID: "orphan", Version: 2}, orphan)
				if !strings.HasPrefix(name, "later") {
					assert.Empty(t, w.deleted, "the row existed when it was read")
				}
			})
		})
	}
}

// stops is a sender that calls functions between the steps of a repair.
type stops struct {
	Sender
	contains, beforeHold, inHold, beforeAdd, afterAdd, afterHold func()
}

func call(f func()) {
	if f != nil {
		f()
	}
}

func (s *stops) Contains(keys ...string) []bool {
	found := s.Sender.Contains(keys...)
	call(s.contains)
	return found
}

func (s *stops) HoldKeys(ctx context.Context, keys []string, act func(context.Context, func(...models.RawAction) error) error) error {
	call(s.beforeHold)
	defer call(s.afterHold)
	return s.Sender.HoldKeys(ctx, keys, func(ctx context.Context, add func(...models.RawAction) error) error {
		call(s.inHold)
		return act(ctx, func(actions ...models.RawAction) error {
			call(s.beforeAdd)
			defer call(s.afterAdd)
			return add(actions...)
		})
	})
}

// Another process writes row and document between the repair's read and write. The repair's older document overwrites
// the newer one, and the check after the next pause repairs that.
func TestWhatAnotherWriterHasWrittenMeanwhileIsRepairedAgain(t *testing.T) {
	for name, newer := range map[string]*hotel{"written": {ID: key(5), Version: 9}, "deleted": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(100)
				w.set(key(5), &hotel{ID: key(5), Version: 2})
				to := &stops{Sender: w.sender(nil).Raw()}
				once := false
				to.beforeAdd = func() {
					if !once {
						once = true
						w.set(key(5), newer)
						w.behind(key(5), newer)
					}
				}
				_, err := w.run(to, nil)
				require.NoError(t, err)
				w.agrees()
			})
		})
	}
}

// With Mark the Loader's process holds the key.
func TestKeysAreMarkedWhereAQueueHasThem(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(300)
		for i := range 250 {
			w.behind(key(i), nil)
		}
		w.behind("orphan", &hotel{ID: "orphan"})
		time.Sleep(time.Minute)
		var marked []string
		report, err := w.run(nil, &Options{Mark: func(_ context.Context, keys []string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			marked = append(marked, keys...)
			return nil
		}})
		require.NoError(t, err)
		assert.EqualValues(t, 251, report.Marked)
		assert.Len(t, marked, 251)
		assert.Empty(t, w.written)
		failed := errors.New("no queue")
		_, err = w.run(nil, &Options{Mark: func(context.Context, []string) error { return failed }})
		require.ErrorIs(t, err, failed)
	})
}

func TestWhatIsOnItsWayIsNotRepaired(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.set(key(1), &hotel{ID: key(1), Version: 2})
		w.set(key(2), &hotel{ID: key(2), Version: 2})
		s := w.sender(&bufferedsender.Options[hotel]{AutoFlushInterval: time.Hour})
		require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: key(1), Version: 2}))
		report, err := w.run(s.Raw(), &Options{Pending: func(_ context.Context, keys []string) ([]bool, error) {
			found := make([]bool, len(keys))
			for i, k := range keys {
				found[i] = k == key(2) // in an outbox
			}
			return found, nil
		}})
		require.NoError(t, err)
		assert.EqualValues(t, 2, report.Pending)
		assert.Zero(t, report.Repaired+report.Different)
		assert.Empty(t, w.written)
	})
}

// The missing half of a scan would make the rest of the other side surplus, or missing.
func TestAScanThatWasEndedIsNotAtItsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(5 * chunkRows)
		ctx, cancel := context.WithCancel(t.Context())
		s := newSide(ctx, "source", half{w, "source"}, "", "")
		synctest.Wait() // until read-ahead is full
		cancel()
		synctest.Wait()
		n := 0
		for {
			row, err := s.head()
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				break
			}
			require.NotNil(t, row, "behind %d rows", n)
			s.next()
			n++
		}
		assert.Equal(t, chunkRows, n)
	})
}

// The index shows a write after a second; a recent write is not a difference.
func TestWhatIsNotVisibleYetIsNoDifference(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		for i := range 50 {
			w.set(key(i), &hotel{ID: key(i), Version: 2})
			w.behind(key(i), &hotel{ID: key(i), Version: 2})
			w.set(key(200+i), &hotel{ID: key(200 + i), Version: 1})
			w.behind(key(200+i), &hotel{ID: key(200 + i), Version: 1})
			w.set(key(50+i), nil)
			w.behind(key(50+i), nil)
		}
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.EqualValues(t, 150, report.Passing)
		assert.True(t, report.Agrees())
		assert.Empty(t, w.written)
	})
}

func TestADocumentThatIsNewerThanItsSourceIsLeftAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.behind(key(1), &hotel{ID: key(1), Version: 8})
		time.Sleep(time.Minute)
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 0}, []int64{report.Ahead, report.Different})
		assert.Equal(t, []string{key(1)}, report.Keys[Ahead])
		assert.Empty(t, w.written)
		report, err = w.repair(&Options{TrustSource: true})
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Repaired)
		w.agrees()
	})
}

func TestADryRunWritesNothingAndSaysWhatItWould(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		for i := range 300 {
			w.behind(key(i), nil)
			w.behind("x"+key(i), &hotel{ID: "x" + key(i)})
		}
		w.set(key(999), &hotel{ID: key(999), Version: 2})
		time.Sleep(time.Minute)
		dry, err := w.run(nil, &Options{DryRun: true})
		require.NoError(t, err)
		assert.Equal(t, []int64{300, 300, 1, 0, 0}, []int64{dry.Missing, dry.Surplus, dry.Different, dry.Repaired, dry.Deleted})
		assert.Empty(t, w.written)
		text, err := json.Marshal(dry)
		require.NoError(t, err)
		var again Report
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, dry.Keys, again.Keys)

		refused, err := w.repair(nil)
		var tooMany *DeletesError
		require.ErrorAs(t, err, &tooMany)
		assert.Equal(t, DeletesError{Surplus: 300, Different: 1, Most: 50, IndexRows: 1000}, *tooMany)
		assert.Contains(t, err.Error(), "set AllowDeletes to 300")
		assert.Empty(t, w.written, "no other document was written either")
		assert.Zero(t, refused.Repaired)
		assert.Empty(t, w.deleted)
		_, err = w.repair(&Options{AllowDeletes: 299})
		require.ErrorAs(t, err, &tooMany)
		report, err := w.repair(&Options{AllowDeletes: 300})
		require.NoError(t, err)
		assert.EqualValues(t, 300, report.Deleted)
		w.agrees()
	})
}

func TestASourceThatLiesDeletesNothing(t *testing.T) {
	broken := errors.New("connection reset")
	for name, c := range map[string]struct {
		documents int
		change    func(w *world)
		is        func(t *testing.T, err error)
	}{
		"the source is empty": {1000, func(w *world) { clear(w.table) }, func(t *testing.T, err error) {
			require.ErrorIs(t, err, ErrNoRows)
			assert.Contains(t, err.Error(), "none of the 1000 documents")
		}},
		"a part is missing": {1000, func(w *world) {
			for i := 949; i < 1000; i++ {
				delete(w.table, key(i))
			}
		}, func(t *testing.T, err error) { require.ErrorAs(t, err, new(*DeletesError)) }},
		"five of ninety documents": {90, func(w *world) {
			for i := range 5 {
				delete(w.table, key(i))
			}
		}, func(t *testing.T, err error) {
			var e *DeletesError
			require.ErrorAs(t, err, &e)
			assert.EqualValues(t, 4, e.Most)
		}},
		"the source fails half-way": {1000, func(w *world) {
			delete(w.table, key(10))
			w.failScan = func(side string, n int) error {
				if side == "source" && n == 500 {
					return broken
				}
				return nil
			}
		}, func(t *testing.T, err error) {
			require.ErrorIs(t, err, broken)
			assert.Contains(t, err.Error(), "scan the source")
		}},
		"the index fails half-way": {1000, func(w *world) {
			delete(w.table, key(10))
			w.failScan = func(side string, n int) error {
				if side == "index" && n == 500 {
					return broken
				}
				return nil
			}
		}, func(t *testing.T, err error) { require.ErrorIs(t, err, broken) }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(c.documents)
				c.change(w)
				report, err := w.repair(nil)
				c.is(t, err)
				assert.Zero(t, report.Deleted)
				assert.Empty(t, w.deleted)
			})
		})
	}
}

func TestAnEmptySourceDeletesNothingWhateverIsAllowed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		clear(w.table)
		report, err := w.repair(&Options{AllowDeletes: 100, DryRun: true})
		require.NoError(t, err)
		assert.Equal(t, "source has no rows: none of the 100 documents of the index was deleted", report.Refused)
		report, err = repairer(half{w, "source"}, half{w, "index"}, nil, &Options{DryRun: true}).RunKeys(t.Context(), key(1))
		require.NoError(t, err)
		assert.Equal(t, "source has no rows: none of 1 keys was deleted", report.Refused)
		_, err = w.repair(&Options{AllowDeletes: 100})
		require.ErrorIs(t, err, ErrNoRows)
		assert.Len(t, w.index, 100)
	})
}

func TestOneDocumentOfAFewIsDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(3)
		delete(w.table, key(1))
		_, err := w.repair(nil)
		require.NoError(t, err)
		w.agrees()
	})
}

func TestKeysAreRepairedWithoutComparingEverything(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		set := new(hints.Set)
		for i := range 5 {
			w.behind(key(i), nil)
			w.behind("x"+key(i), &hotel{ID: "x" + key(i)})
			require.NoError(t, set.Add("hotels", key(i), key(500+i), "x"+key(i), "nowhere"))
		}
		time.Sleep(time.Minute)
		report, err := repairer(half{w, "source"}, half{w, "index"}, w.sender(nil).Raw(), nil).RunKeys(t.Context(), key(0), "x"+key(0), key(7))
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 1, 3}, []int64{report.Repaired, report.Deleted, report.Hinted})
		assert.Len(t, w.scanned[1], 0)

		report, err = w.repair(&Options{Hints: set, HintsOf: "hotels"})
		require.NoError(t, err)
		assert.Equal(t, []int64{4, 4, 16}, []int64{report.Repaired, report.Deleted, report.Hinted})
		n := set.Stats().Keys["hotels"]
		assert.Zero(t, n)
		w.agrees()

		require.NoError(t, set.AddEverything("hotels"))
		w.failScan = func(string, int) error { return errors.New("broken") }
		_, err = w.repair(&Options{Hints: set, HintsOf: "hotels"})
		require.Error(t, err)
		everything := set.Stats().Everything["hotels"]
		assert.True(t, everything, "the index was not compared")
		w.failScan = nil
		_, err = w.repair(&Options{Hints: set, HintsOf: "hotels"})
		require.NoError(t, err)
		everything = set.Stats().Everything["hotels"]
		assert.False(t, everything)
	})
}

func TestWatchRepairsAgainAndAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		s := w.sender(nil)
		var passes []time.Time
		err := repairer(half{w, "source"}, half{w, "index"}, s.Raw(), nil).Watch(ctx, time.Hour, func(report Report, err error) {
			assert.NoError(t, err)
			if len(passes) > 0 {
				assert.EqualValues(t, 1, report.Repaired, "%d", len(passes))
			}
			w.behind(key(len(passes)), nil)
			passes = append(passes, time.Now())
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.InDelta(t, 24, len(passes), 2)
	})
}

func TestQueriesToTheIndexGoBySlots(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(5000)
		for i := range 10 {
			w.behind(key(i), nil)
		}
		time.Sleep(time.Minute)
		p, err := pool.New(nil)
		require.NoError(t, err)
		member, err := p.Join("hotels")
		require.NoError(t, err)
		report, err := w.repair(&Options{Member: member})
		require.NoError(t, err)
		assert.EqualValues(t, 10, report.Repaired)
		assert.EqualValues(t, 5+4, p.Stats().Classes[models.ClassBestEffort].Ended, "five parts of a scan, and lookups: to confirm, after the comparison, before and after the writes")
		assert.Zero(t, p.Stats().Classes[models.ClassBestEffort].InUse)
		w.agrees()
	})
}

func TestWhatCannotBeIsRefusedBeforeAnythingIsCompared(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		good := w.sender(nil).Raw()
		for says, c := range map[string]struct {
			to   Sender
			opts *Options
		}{
			"the Sender is nil":         {nil, nil},
			"Pause is -1s":              {good, &Options{Pause: -time.Second}},
			"MaxShare is 1.5":           {good, &Options{MaxShare: 1.5}},
			"MaxShare is NaN":           {good, &Options{MaxShare: math.NaN()}},
			"sort them by bytes":        {good, &Options{Splits: []string{"b", "a"}}},
			"each once":                 {good, &Options{Splits: []string{"a", "a"}}},
			"whose From rises":          {good, &Options{Throttle: []Tier{{5, 1}, {5, 2}}}},
			"HintsOf is empty":          {good, &Options{Hints: new(hints.Set)}},
			"set Mark to its IndexKeys": {queued{good}, nil},
		} {
			_, err := w.run(c.to, c.opts)
			assert.ErrorContains(t, err, says)
			assert.ErrorContains(t, err, "nothing was compared")
		}
		_, err := repairer(nil, nil, good, nil).Run(t.Context())
		assert.ErrorContains(t, err, "Source is nil")
		assert.ErrorContains(t, err, "Index is nil")
		assert.Empty(t, w.scanned[0])
		assert.Error(t, repairer(half{w, "source"}, half{w, "index"}, good, nil).Watch(t.Context(), 0, nil))
	})
}

type queued struct{ Sender }

func (queued) Info() models.SenderInfo { return models.SenderInfo{Queued: true} }
