package repair

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A process whose clock was a year ahead has finished the pass.
func TestTimesOfTheFutureDoNotStopARepair(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const year = 365 * 24 * time.Hour
		w.fill(100)
		w.lose(2)
		w.refuses[key(0)] = true
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		_, err = w.repair(&Options{Store: store})
		require.NoError(t, err)

		ahead := func(name string, into any, change func()) {
			text, err := store.Load(t.Context(), name)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, into))
			change()
			text, err = json.Marshal(into)
			require.NoError(t, err)
			require.NoError(t, store.Save(t.Context(), name, text))
		}
		var s state
		ahead(`repair ("", ""]`, &s, func() {
			s.Finished = s.Finished.Add(year)
			s.Rejected[key(0)] = rejection{s.Rejected[key(0)].mark, s.Rejected[key(0)].At.Add(year)}
		})
		var g spent
		ahead("repair guard", &g, func() { g.Spent = []spending{{At: time.Now().Add(year), Deleted: 1000}} })

		w.refuses[key(0)] = false
		w.invent(5, "x")
		time.Sleep(time.Minute)
		report, err := w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.Empty(t, report.Elsewhere)
		assert.EqualValues(t, 5, report.Deleted)
		w.agrees()
	})
}

func TestAPassThatBeganInTheFutureBeginsAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		w.lose(1)
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		s := state{Format: 1, Through: key(999), Done: true}
		s.Report.Began = time.Now().Add(30 * 24 * time.Hour)
		require.NoError(t, s.save(t.Context(), store, `repair ("", ""]`))
		report, err := w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Repaired)
	})
}
