package repair

import (
	"bytes"
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
