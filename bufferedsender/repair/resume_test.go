package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// The process is killed after each page in turn.
func TestAPassThatWasKilledGoesOnBehindTheLastPage(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const n = 25_000 // five pages
		w.fill(n)
		lost := rand.New(rand.NewPCG(1, 2)).Perm(n)[:300]
		for _, i := range lost {
			w.behind(key(i), nil)
		}
		for i := range 100 {
			w.behind(fmt.Sprintf("k%06dx", i*200), &hotel{ID: fmt.Sprintf("k%06dx", i*200)})
		}
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		w.reads = 200 * time.Millisecond
		runs := 0
		for from := ""; ; runs++ {
			require.Less(t, runs, 12)
			s := w.sender(nil)
			ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
			report, err := repairer(half{w, "source"}, half{w, "index"}, s.Raw(), &Options{Store: store, Logger: quiet}).Run(ctx)
			cancel()
			began := w.scanned[1][len(w.scanned[1])-1]
			assert.GreaterOrEqual(t, began, from, "the pass does not go back")
			from = began
			if err == nil {
				assert.EqualValues(t, n, report.SourceRows, "each page counts once")
				break
			}
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		assert.GreaterOrEqual(t, runs, 2)
		w.agrees()
	})
}

func TestADeleteThatWasInterruptedIsFinished(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(5000)
		for i := range 200 {
			w.behind(fmt.Sprintf("k%06dx", i), &hotel{ID: fmt.Sprintf("k%06dx", i)})
		}
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		to := &stops{Sender: w.sender(nil).Raw()}
		to.afterAdd = cancel
		_, err = repairer(half{w, "source"}, half{w, "index"}, to, &Options{Store: store, Logger: quiet}).Run(ctx)
		require.ErrorIs(t, err, context.Canceled)
		scans := len(w.scanned[1])
		time.Sleep(time.Minute)
		_, err = w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.Len(t, w.scanned[1], scans, "everything was compared before")
		w.agrees()
	})
}

func TestOneProcessHasARange(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		for i := range 100 {
			w.behind(key(i*10), nil)
		}
		time.Sleep(time.Minute)
		w.reads = 10 * time.Millisecond
		dir := t.TempDir()
		var group sync.WaitGroup
		reports := make([]Report, 3)
		for i := range reports {
			store, err := NewFileStore(dir)
			require.NoError(t, err)
			s := w.sender(nil)
			group.Go(func() {
				var err error
				reports[i], err = repairer(half{w, "source"}, half{w, "index"}, s.Raw(), &Options{
					Store: store, Splits: []string{key(250), key(500), key(750)}, parallel: 2, Logger: quiet,
				}).Run(t.Context())
				assert.NoError(t, err)
			})
		}
		group.Wait()
		var total Report
		for i := range reports {
			total.plus(&reports[i])
		}
		assert.EqualValues(t, 1000, total.SourceRows, "each row once")
		assert.EqualValues(t, 100, total.Repaired)
		assert.Len(t, total.Elsewhere, 8)
		w.agrees()
	})
}

func TestASideThatIsNotInOrderEndsThePass(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(3)
		to := w.sender(nil).Raw()
		for says, rows := range map[string][]string{
			`ORDER BY key COLLATE "C"`: {"a", "B", "c"},
			`has the key "a" twice`:    {"a", "a", "b"},
			"a row without a key":      {"", "a"},
		} {
			lies := func(yield func(models.Row, error) bool) {
				for _, k := range rows {
					if !yield(models.Row{Key: k, Version: 1}, nil) {
						return
					}
				}
			}
			source := scanned{half{w, "source"}, lies}
			_, err := repairer(source, half{w, "index"}, to, &Options{Logger: quiet}).Run(t.Context())
			require.ErrorContains(t, err, says)
			require.ErrorContains(t, err, "the source")
			index := scanned{half{w, "index"}, lies}
			_, err = repairer(half{w, "source"}, index, to, &Options{Logger: quiet}).Run(t.Context())
			require.ErrorContains(t, err, "the index")
		}
		beyond := scanned{half{w, "source"}, func(yield func(models.Row, error) bool) { yield(models.Row{Key: "z"}, nil) }}
		_, err := repairer(beyond, half{w, "index"}, to, &Options{Splits: []string{"m"}, Logger: quiet}).Run(t.Context())
		require.ErrorContains(t, err, `should end with "m", but returned the key "z"`)
		assert.Empty(t, w.deleted)
		assert.Len(t, w.index, 3)
	})
}

// scanned is a half that returns other rows.
type scanned struct {
	half
	rows func(yield func(models.Row, error) bool)
}

func (s scanned) Scan(context.Context, string, string) iter.Seq2[models.Row, error] { return s.rows }

func TestAStateThatCannotBeReadIsNotTakenForNone(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(3)
		for text, says := range map[string]string{"{": "delete it to start over", `{"format":2}`: "has format 2"} {
			_, err := w.repair(&Options{Store: spoiled(text)})
			require.ErrorContains(t, err, says)
		}
	})
}

type spoiled string

func (s spoiled) Lock(context.Context, string) (func() error, bool, error) {
	return func() error { return nil }, true, nil
}
func (s spoiled) Load(context.Context, string) ([]byte, error) { return []byte(s), nil }
func (s spoiled) Save(context.Context, string, []byte) error {
	return errors.New("the state must not be replaced")
}

// Writers run at full speed: some through the repairing sender, one in another process, which holds no keys.
// Documents are deleted, corrupted and added without their knowledge. At the end index and table are equal, and no
// existing document was deleted.
func TestRandomWritersBesideARepairLoseNothing(t *testing.T) {
	first, seeds := uint64(0), uint64(testkit.Cases(20, 60, 200))
	if text := os.Getenv("AZSEARCH_TEST_SEED"); text != "" { // see internal/soak
		var err error
		first, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		seeds = 2000
	}
	for seed := first; seed < first+seeds; seed++ {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) { randomWorld(t, w, seed) })
		})
		if !ok {
			return
		}
	}
}

func randomWorld(t *testing.T, w *world, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 5))
	const keys = 60
	w.page, w.reads = 7, time.Duration(random.IntN(30))*time.Millisecond
	w.lag = time.Duration(random.IntN(1500)) * time.Millisecond
	w.takes = time.Duration(random.IntN(100)) * time.Millisecond
	w.fill(keys)
	var versions int64 = 1
	shared := w.sender(&bufferedsender.Options[hotel]{AutoFlushInterval: 20 * time.Millisecond})
	stop := time.Now().Add(20 * time.Second)
	var group sync.WaitGroup

	// The application writes the row first, then the document, and sometimes omits the document.
	forgets := random.IntN(10)
	clean := seed%2 == 0 // without faults a repair must change nothing
	if clean {
		forgets = 0
	}
	for id := range 2 {
		r := rand.New(rand.NewPCG(seed, uint64(10+id)))
		group.Go(func() {
			for time.Now().Before(stop) {
				time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
				k := key(id + 2*r.IntN(keys/2)) // each writer has its own keys, so their order is known
				w.mu.Lock()
				_, there := w.table[k]
				versions++
				h := hotel{ID: k, Version: versions}
				action := models.UploadAction(h)
				if there && r.IntN(3) == 0 {
					delete(w.table, k)
					action = models.DeleteAction(h)
				} else {
					w.table[k] = h
				}
				w.mu.Unlock()
				if r.IntN(20) < forgets {
					continue
				}
				if err := shared.IndexDocuments(t.Context(), action); err != nil {
					t.Error(err)
				}
			}
		})
	}
	// Unauthorized changes of the index.
	chaos := rand.New(rand.NewPCG(seed, 20))
	group.Go(func() {
		for !clean && time.Now().Before(stop) {
			time.Sleep(time.Duration(chaos.IntN(1000)) * time.Millisecond)
			switch k := key(chaos.IntN(keys)); chaos.IntN(3) {
			case 0:
				w.behind(k, nil)
			case 1:
				w.behind(k, &hotel{ID: k, Version: 0})
			default:
				k = fmt.Sprintf("k%06dx", chaos.IntN(keys))
				w.behind(k, &hotel{ID: k, Version: 1})
			}
		}
	})
	opts := &Options{Pause: 2 * time.Second, Logger: quiet, MaxShare: 1}
	group.Go(func() {
		for time.Now().Before(stop) {
			_, err := repairer(half{w, "source"}, half{w, "index"}, shared.Raw(), opts).Run(t.Context())
			if tooMany := (*DeletesError)(nil); errors.As(err, &tooMany) {
				opts.AllowDeletes = tooMany.Surplus
			} else if err != nil {
				t.Error(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	group.Wait()
	require.NoError(t, shared.Flush(t.Context(), nil))
	time.Sleep(time.Minute)
	w.falsely = nil // a row created during its delete is not a false delete, because its upload follows
	if clean {
		w.agrees()
	}
	for range 4 { // raises the limit to the number in the error
		_, err := repairer(half{w, "source"}, half{w, "index"}, shared.Raw(), opts).Run(t.Context())
		if tooMany := (*DeletesError)(nil); errors.As(err, &tooMany) {
			opts.AllowDeletes = tooMany.Surplus
			continue
		}
		require.NoError(t, err)
	}
	w.agrees()
	report, err := repairer(half{w, "source"}, half{w, "index"}, shared.Raw(), &Options{Logger: quiet}).Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, report.Repaired+report.Deleted+report.Missing+report.Different+report.Surplus, "the second pass finds no difference")
}

// stuckStore has ranges that it does not release.
type stuckStore struct{ memory }

func (stuckStore) Lock(context.Context, string) (func() error, bool, error) {
	return func() error { return errors.New("the database is gone") }, true, nil
}

func TestARangeThatCannotBeReleasedIsLogged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		time.Sleep(time.Minute)
		var log bytes.Buffer
		s := w.sender(nil)
		report, err := repairer(half{w, "source"}, half{w, "index"}, s.Raw(), &Options{Store: stuckStore{}, Logger: slog.New(slog.NewTextHandler(&log, nil))}).Run(t.Context())
		require.NoError(t, err)
		require.True(t, report.Agrees())
		require.Contains(t, log.String(), "repair: range not released")
		require.Contains(t, log.String(), "the database is gone")
	})
}

// at is an index with an endpoint.
type at struct {
	half
	endpoint string
}

func (a at) IndexName() string { return "hotels" }
func (a at) Endpoint() string  { return a.endpoint }

// A state of another service or source is useless here, even if the names are equal.
func TestAStateOfAnotherSourceOrIndexIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		run := func(source Source, index Index) error {
			s := w.sender(nil)
			_, err := repairer(source, index, s.Raw(), &Options{Store: store, Logger: quiet, SameIndex: true}).Run(t.Context())
			return err
		}
		here := at{half{w, "index"}, "https://here.search.windows.net"}
		require.NoError(t, run(half{w, "source"}, here))
		require.NoError(t, run(half{w, "source"}, here))
		require.ErrorContains(t, run(half{w, "source"}, at{half{w, "index"}, "https://there.search.windows.net"}), "set another Name or Store")
		require.NoError(t, run(half{w, "source"}, half{w, "index"}), "the index reports no endpoint")
	})
}

// sidesOf has sources that a program may confuse: tables, files, indexes.
func TestAStateKnowsItsSource(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) Source {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(`{"id":"a"}`), 0o600))
		j, err := OpenJSONL(filepath.Join(dir, name), &JSONLOptions{Key: "id"})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, j.Close()) })
		return j
	}
	index := at{endpoint: "https://here.search.windows.net"}
	for first, other := range map[Source]Source{
		file("hotels.jsonl"):              file("rooms.jsonl"),
		&SQLSource{Table: "hotels"}:       &SQLSource{Table: "rooms"},
		&SQLSource{Table: "hotels.jsonl"}: file("hotels.jsonl"),
	} {
		was := sidesOf(first, index)
		require.NoError(t, was.check(sidesOf(first, index)))
		require.ErrorContains(t, was.check(sidesOf(other, index)), "the saved state is of "+was.Source)
	}
}
