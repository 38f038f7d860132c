package repair

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALongWaitForTheLockOfTheGuardIsLogged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.lose(1)
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		unlock, ok, err := store.Lock(t.Context(), "repair guard")
		require.NoError(t, err)
		require.True(t, ok)
		time.AfterFunc(time.Minute, func() { assert.NoError(t, unlock()) })
		var text bytes.Buffer
		opts := &Options{Store: store, Logger: slog.New(slog.NewTextHandler(&text, nil))}
		_, err = repairer(half{w, "source"}, half{w, "index"}, w.sender(nil).Raw(), opts).Run(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(text.String(), "keeps the guard's lock"), text.String())
	})
}

func TestCountsOfIndexesThatAreGoneAreDropped(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		kept := func() (n int) {
			processSpent.Lock()
			defer processSpent.Unlock()
			for key := range processSpent.of {
				if h, is := key.(*half); is && h.world == w {
					n++
				}
			}
			return n
		}
		pass := func() {
			_, err := repairer(half{w, "source"}, &half{w, "index"}, w.sender(nil).Raw(), &Options{Logger: quiet}).Run(t.Context())
			require.NoError(t, err)
		}
		w.fill(10)
		for range 3 {
			pass()
		}
		assert.Equal(t, 3, kept())
		time.Sleep(24 * time.Hour)
		pass()
		assert.Equal(t, 1, kept())
	})
}

func TestWhatIsTakenBackDoesNotOutliveItsCount(t *testing.T) {
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
				w.invent(40, "x")
				w.behind(key(1), nil) // it is written before the deletes
				time.Sleep(time.Minute)
				restored := &stops{Sender: w.sender(nil).Raw(), beforeHold: func() {
					for i := range 40 {
						k := fmt.Sprintf("x%06d", i)
						w.set(k, &hotel{ID: k, Version: 1})
					}
					time.Sleep(2 * time.Hour)
				}}
				kept := store()
				report, err := w.run(restored, &Options{Store: kept})
				require.NoError(t, err)
				require.Zero(t, report.Deleted)
				time.Sleep(23 * time.Hour) // the count is a day old, what was taken back is not
				w.invent(90, "y")
				time.Sleep(time.Minute)
				_, err = w.repair(&Options{Store: kept})
				var e *DeletesError
				require.ErrorAs(t, err, &e)
				assert.Zero(t, e.Deleted)
			})
		})
	}
}

func TestOnlyTheEntryThatCountedIsCorrected(t *testing.T) {
	began := time.Now()
	after := func(d time.Duration) time.Time { return began.Add(d) }
	fresh := func() *spent {
		s := new(spent)
		s.add(began, 3, 1)
		s.add(after(55*time.Minute), 4999, 2)
		s.add(after(70*time.Minute), 7, 5)
		return s
	}
	sums := func(s *spent, at time.Duration) [2]int64 {
		deleted, overwritten := s.lately(after(at))
		return [2]int64{deleted, overwritten}
	}
	s := fresh()
	s.back(after(55*time.Minute), 4999, 2)
	assert.Equal(t, [2]int64{10, 6}, sums(s, 2*time.Hour))
	assert.Equal(t, [2]int64{7, 5}, sums(s, 24*time.Hour+5*time.Minute))
	s.back(after(55*time.Minute), 4999, 2)
	assert.Equal(t, [2]int64{7, 5}, sums(s, 24*time.Hour+5*time.Minute), "its entry was dropped")
	s = fresh()
	s.copy = fresh()
	s.back(after(80*time.Minute), 7, 5)
	assert.Equal(t, [2]int64{5002, 3}, sums(s, 2*time.Hour))
	assert.Equal(t, [2]int64{5002, 3}, sums(s.copy, 2*time.Hour))
}
