package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/models"
)

// refusing is a sender whose add fails, for a reason that is none of the documents.
type refusing struct {
	Sender
	err error
}

func (r *refusing) HoldKeys(ctx context.Context, keys []string, act func(context.Context, func(...models.RawAction) error) error) error {
	return r.Sender.HoldKeys(ctx, keys, func(ctx context.Context, add func(...models.RawAction) error) error {
		return act(ctx, func(actions ...models.RawAction) error {
			if r.err != nil {
				return &bufferedsender.AddError{Err: r.err}
			}
			return add(actions...)
		})
	})
}

// A sender that is closed between taking keys and adding has not rejected the documents, which must not be left out
// ever after.
func TestASenderThatTakesNothingHasNotRejectedTheDocument(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.behind(key(1), nil)
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		report, err := w.run(&refusing{w.sender(nil).Raw(), bufferedsender.ErrClosed}, &Options{Store: store})
		require.ErrorIs(t, err, bufferedsender.ErrClosed)
		assert.Zero(t, report.Rejected)
		report, err = w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Repaired)
		w.agrees()
	})
}

// A table that is being restored, and the keys of an outage as hints.
func TestHintsDoNotLiftTheGuard(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		set, err := hints.NewMemory(nil)
		require.NoError(t, err)
		for i := 1; i < 1000; i++ {
			w.set(key(i), nil)
			require.NoError(t, set.Add("hotels", key(i)))
		}
		report, err := w.repair(&Options{Hints: set, HintsOf: "hotels"})
		require.ErrorAs(t, err, new(*DeletesError))
		assert.Zero(t, report.Deleted)
		assert.Empty(t, w.deleted)
		n, _ := set.Len("hotels")
		assert.Equal(t, 999, n, "they are to be repaired still")

		report, err = w.repair(&Options{Hints: set, HintsOf: "hotels", AllowDeletes: 999})
		require.NoError(t, err)
		assert.EqualValues(t, 999, report.Deleted)
		n, _ = set.Len("hotels")
		assert.Zero(t, n)
		w.agrees()
	})
}

// forgetful says that it has written what it has not.
type forgetful struct{ Sender }

func (f forgetful) HoldKeys(ctx context.Context, keys []string, act func(context.Context, func(...models.RawAction) error) error) error {
	return f.Sender.HoldKeys(ctx, keys, func(ctx context.Context, _ func(...models.RawAction) error) error {
		return act(ctx, func(actions ...models.RawAction) error {
			for _, a := range actions {
				a.OnOutcome(models.Outcome{Key: a.Key, Reason: models.ReasonClosed, Err: bufferedsender.ErrClosed})
			}
			return nil
		})
	})
}

func TestHintsOfWhatWasNotRepairedAreKept(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.behind(key(1), nil)
		set, err := hints.NewMemory(nil)
		require.NoError(t, err)
		require.NoError(t, set.Add("hotels", key(1), key(2)))
		time.Sleep(time.Minute)
		report, err := w.run(forgetful{w.sender(nil).Raw()}, &Options{Hints: set, HintsOf: "hotels"})
		require.NoError(t, err)
		assert.Zero(t, report.Repaired)
		n, _ := set.Len("hotels")
		assert.Equal(t, 1, n, "the one that is not as it should be")
	})
}

// Hinted says that they are counted nowhere else.
func TestHintedKeysAreNotCountedAsDifferences(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.behind(key(1), nil)
		set, err := hints.NewMemory(nil)
		require.NoError(t, err)
		require.NoError(t, set.Add("hotels", key(1)))
		time.Sleep(time.Minute)
		report, err := w.repair(&Options{Hints: set, HintsOf: "hotels"})
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 1, 0}, []int64{report.Hinted, report.Repaired, report.Missing})
	})
}

// "Everything" came when half had been compared already.
func TestAPassThatGoesOnIsNotOneOfEverything(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(30_000)
		w.reads = 200 * time.Millisecond
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		set, err := hints.NewMemory(nil)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		opts := &Options{Store: store, Hints: set, HintsOf: "hotels", Logger: quiet}
		to := w.sender(nil).Raw()
		_, err = Run(ctx, half{w, "source"}, half{w, "index"}, to, opts)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		w.behind(key(1), nil)
		require.NoError(t, set.AddEverything("hotels"))
		time.Sleep(time.Minute)
		_, err = w.run(to, opts)
		require.NoError(t, err)
		if _, everything := set.Len("hotels"); !everything {
			w.agrees()
		}
		_, err = w.run(to, opts)
		require.NoError(t, err)
		w.agrees()
		_, everything := set.Len("hotels")
		assert.False(t, everything)
	})
}

// Pages wait for their time together, not one after another.
func TestManyDifferencesDoNotWaitForEachOther(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.lag = 100 * time.Millisecond
		w.fill(30_000)
		clear(w.index)
		clear(w.shown)
		began := time.Now()
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.EqualValues(t, 30_000, report.Repaired)
		assert.Less(t, time.Since(began), 40*time.Second, "60 pages of 500 differences")
		w.agrees()
	})
}

// The source lags, and says that what was published since is a draft.
func TestAHiddenRowThatIsOlderThanItsDocumentDeletesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.set(key(1), &hotel{ID: key(1), Version: 3, Draft: true})
		w.behind(key(1), &hotel{ID: key(1), Version: 4})
		time.Sleep(time.Minute)
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 0, 0}, []int64{report.Ahead, report.Surplus, report.Deleted})
		assert.Contains(t, w.index, key(1))
		report, err = w.repair(&Options{TrustSource: true})
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Deleted)
		assert.NotContains(t, w.index, key(1))
	})
}

func TestWatchLogsWhatGoesWrong(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.failScan = func(string, int) error { return errors.New("connection reset") }
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		var log bytes.Buffer
		err := Watch(ctx, time.Hour, half{w, "source"}, half{w, "index"}, w.sender(nil).Raw(), &Options{
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Contains(t, log.String(), "connection reset")
		assert.Contains(t, log.String(), "WARN")
	})
}

// A document that was written again counts once.
func TestADocumentThatIsRepairedTwiceCountsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.lag = 5 * time.Second // longer than the pause
		w.fill(100)
		w.behind(key(1), nil)
		w.behind("orphan", &hotel{ID: "orphan", Version: 1})
		time.Sleep(time.Minute)
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 1}, []int64{report.Repaired, report.Deleted})
		assert.Greater(t, w.written[key(1)], 1)
		w.agrees()
	})
}

// Another process writes the row while its delete is on the way, and this one is killed before it looks again: the
// next run has the key in its state.
func TestABirthUnderADeleteOfAProcessThatWasKilledIsRepaired(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.behind("orphan", &hotel{ID: "orphan", Version: 1})
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		to := &stops{Sender: w.sender(nil).Raw()}
		to.beforeAdd = func() {
			w.set("orphan", &hotel{ID: "orphan", Version: 2})
			w.behind("orphan", &hotel{ID: "orphan", Version: 2})
		}
		to.afterHold = func() {
			time.Sleep(time.Second) // it was sent
			cancel()
		}
		_, err = Run(ctx, half{w, "source"}, half{w, "index"}, to, &Options{Store: store, Logger: quiet})
		require.ErrorIs(t, err, context.Canceled)
		w.falsely = nil
		time.Sleep(time.Minute)
		_, err = w.repair(&Options{Store: store})
		require.NoError(t, err)
		w.agrees()
	})
}

// Without versions and digests nobody can see that a row has changed, so what was rejected is tried again.
func TestARowThatNothingTellsApartIsNotRejectedForEver(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		for k := range w.table {
			h := hotel{ID: k}
			w.table[k], w.index[k], w.shown[k] = h, h, h
		}
		w.behind(key(1), nil)
		w.refuses[key(1)] = true
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		report, err := w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Rejected)
		delete(w.refuses, key(1)) // somebody has corrected the row
		report, err = w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Repaired)
		w.agrees()
	})
}

// calm is a sender that was busy at first.
type calm struct {
	Sender
	until time.Time
}

func (c *calm) Info() models.SenderInfo {
	info := c.Sender.Info()
	if time.Now().Before(c.until) {
		info.Pending += 50_000
	}
	return info
}

func TestARepairDoesNotWaitForWhatASenderHadToDo(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		for i := range 100 {
			w.behind(key(i), nil)
		}
		time.Sleep(time.Minute)
		began := time.Now()
		_, err := w.run(&calm{w.sender(nil).Raw(), began.Add(10 * time.Second)}, nil)
		require.NoError(t, err)
		assert.Less(t, time.Since(began), 30*time.Second)
	})
}

// panics is a source that panics where it is told to.
type panics struct {
	half
	in string
}

func (p panics) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		if p.in == "Scan" {
			panic("of the source")
		}
		p.half.Scan(ctx, after, through)(yield)
	}
}

func (p panics) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	if p.in == "Lookup" {
		panic("of the source")
	}
	return p.half.Lookup(ctx, keys)
}

func (p panics) Read(ctx context.Context, keys []string) ([]models.RawAction, error) {
	if p.in == "Read" {
		panic("of the source")
	}
	return p.half.Read(ctx, keys)
}

// A process has more to do than this.
func TestASourceThatPanicsEndsThePassAndNotTheProcess(t *testing.T) {
	for _, in := range []string{"Scan", "Lookup", "Read"} {
		inBubble(t, func(t *testing.T, w *world) {
			w.fill(100)
			w.behind(key(1), nil)
			time.Sleep(time.Minute)
			s := w.sender(nil)
			_, err := Run(t.Context(), panics{half{w, "source"}, in}, half{w, "index"}, s.Raw(), &Options{Logger: quiet})
			require.ErrorContains(t, err, "panicked: of the source", in)
			require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: key(1)}), "no key is held")
			require.NoError(t, s.Flush(t.Context(), nil))
		})
	}
}

// stuck is a source that does not answer when it is asked for documents.
type stuck struct{ half }

func (s stuck) Read(ctx context.Context, _ []string) ([]models.RawAction, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Writers wait for the keys that a repair has taken, so it must not have them for ever.
func TestASourceThatDoesNotAnswerDoesNotKeepItsKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.behind(key(1), nil)
		time.Sleep(time.Minute)
		s := w.sender(nil)
		go func() {
			time.Sleep(10 * time.Second)
			_ = s.UploadDocuments(t.Context(), hotel{ID: key(1), Version: 1})
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		_, err := Run(ctx, stuck{half{w, "source"}}, half{w, "index"}, s.Raw(), &Options{Logger: quiet})
		require.Error(t, err)
		assert.Less(t, time.Since(began), 5*time.Minute)
		time.Sleep(time.Minute)
		_, there := w.has(key(1))
		assert.True(t, there, "the write that waited for the key")
	})
}

func TestAFileFromWindowsIsASource(t *testing.T) {
	var b bytes.Buffer
	for i := range 2500 {
		fmt.Fprintf(&b, "{\"id\":\"%04d\",\"version\":7}\r\n", i+1)
	}
	b.Truncate(b.Len() - 2) // without the end of the last line
	path := filepath.Join(t.TempDir(), "things.jsonl")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	j, err := OpenJSONL(path, &JSONLOptions{Key: "id", Version: "version"})
	require.NoError(t, err)
	defer j.Close()
	checkSource(t, j)
}

// The service keeps milliseconds: what databases have beside them is no difference, or it would be repaired for ever.
func TestTimesAreVersionsAsTheServiceKeepsThem(t *testing.T) {
	exact := time.Date(2026, 11, 26, 1, 2, 3, 755_205_300, time.UTC)
	kept := time.Date(2026, 11, 26, 1, 2, 3, 755_000_000, time.UTC)
	want, err := versionOf(kept)
	require.NoError(t, err)
	for _, value := range []any{exact, exact.Format(time.RFC3339Nano), []byte(exact.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano))} {
		got, err := versionOf(value)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%v", value)
	}
	a, err := models.DigestOf([]byte(`{"t":"` + exact.Format(time.RFC3339Nano) + `"}`))
	require.NoError(t, err)
	b, err := models.DigestOf([]byte(`{"t":"` + kept.Format(time.RFC3339Nano) + `"}`))
	require.NoError(t, err)
	assert.Equal(t, a, b)
}

// MySQL's driver returns BIGINT UNSIGNED as uint64.
func TestVersionsThatDriversReturn(t *testing.T) {
	for _, value := range []any{uint64(7), int32(7), int64(7), "7", []byte("7")} {
		got, err := versionOf(value)
		require.NoError(t, err)
		assert.EqualValues(t, 7, got, "%T", value)
	}
	_, err := versionOf(uint64(1) << 63)
	require.Error(t, err)
}

// plainIndex is an index whose rows have no versions.
type plainIndex struct{ half }

func (p plainIndex) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		p.half.Scan(ctx, after, through)(func(row models.Row, err error) bool {
			row.Version = 0
			return yield(row, err)
		})
	}
}

func (p plainIndex) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	rows, err := p.half.Lookup(ctx, keys)
	for i := range rows {
		rows[i].Version = 0
	}
	return rows, err
}

// The source has versions and the index none: every document differs, whatever is written.
func TestSidesThatCannotAgreeAreNotWrittenAgainAndAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(3000)
		_, err := Run(t.Context(), half{w, "source"}, plainIndex{half{w, "index"}}, w.sender(nil).Raw(), &Options{Logger: quiet})
		require.ErrorIs(t, err, ErrNothingSettles)
		w.agrees()
	})
}

func TestWhatWasRejectedIsTriedAgainAfterADay(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.behind(key(1), nil)
		w.refuses[key(1)] = true
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		for _, want := range []int{1, 1, 1} {
			report, err := w.repair(&Options{Store: store})
			require.NoError(t, err)
			assert.EqualValues(t, 1, report.Rejected)
			assert.Equal(t, want, w.written[key(1)])
			dry, err := w.repair(&Options{Store: store, DryRun: true})
			require.NoError(t, err)
			assert.True(t, dry.Agrees(), "a dry run knows it too")
		}
		delete(w.refuses, key(1)) // somebody has changed the index
		time.Sleep(rejectedFor)
		_, err = w.repair(&Options{Store: store})
		require.NoError(t, err)
		w.agrees()
	})
}

func TestAPassOfLongAgoBeginsAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		for i := range 50 {
			w.behind(fmt.Sprint("x", i), &hotel{ID: fmt.Sprint("x", i)})
		}
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		to := &stops{Sender: w.sender(nil).Raw(), afterAdd: cancel}
		_, err = Run(ctx, half{w, "source"}, half{w, "index"}, to, &Options{Store: store, Logger: quiet, AllowDeletes: 50})
		require.ErrorIs(t, err, context.Canceled)
		time.Sleep(oldest + time.Minute)
		scans := len(w.scanned[1])
		report, err := w.repair(&Options{Store: store, KeepSurplus: true})
		require.NoError(t, err)
		assert.Len(t, w.scanned[1], scans+1)
		assert.Zero(t, report.Deleted)
	})
}

func TestAReportThatCameWithAnErrorDoesNotAgree(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.failScan = func(string, int) error { return errors.New("broken") }
		report, err := w.repair(nil)
		require.Error(t, err)
		assert.False(t, report.Agrees())
	})
}

// The guard would not count it.
func TestADeleteOfTheSourceIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.set(key(1), &hotel{ID: key(1), Version: 2})
		source := Functions{ScanRows: half{w, "source"}.Scan, LookupKeys: half{w, "source"}.Lookup, ReadKeys: func(context.Context, []string) ([]models.RawAction, error) {
			return []models.RawAction{{Key: key(1), Type: models.ActionTypeDelete}}, nil
		}}
		_, err := Run(t.Context(), source, half{w, "index"}, w.sender(nil).Raw(), &Options{Logger: quiet})
		require.ErrorContains(t, err, "leave out what does not exist")
		assert.Empty(t, w.deleted)
	})
}
