package publisher

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// room is a Room with a number of items and bytes.
type room struct {
	mu    sync.Mutex
	items int
	bytes int64
	wake  []func()
}

func (r *room) Take(want Want) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !want.Must && (r.items == 0 || r.bytes < want.Bytes) {
		return false
	}
	r.items--
	r.bytes -= want.Bytes
	return true
}

func (r *room) Quit() {}

func (r *room) Pressed() bool { return false }

func (r *room) Floor() (int, int64) { return 1, 1 }

func (r *room) Return(items int, bytes int64) {
	r.mu.Lock()
	r.items += items
	r.bytes += bytes
	r.mu.Unlock()
	for _, wake := range r.wake {
		wake()
	}
}

func TestPublishersThatShareRoomWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &room{items: 5, bytes: 1 << 20}
		s := &service{answer: applied}
		one, ofOne := start(t, s, func(c *Config[int, int]) { c.Room = shared })
		two, ofTwo := start(t, s, func(c *Config[int, int]) { c.Room = shared })
		shared.wake = []func(){one.Wake, two.Wake}
		one.Pause()
		add(t, one, 5)
		accepted := make(chan error, 1)
		go func() {
			_, err := two.Add(t.Context(), itemsOf(0, "k", 3), true, false)
			accepted <- err
		}()
		synctest.Wait()
		assert.Empty(t, accepted)
		assert.Equal(t, 1, two.Stats().Waiting)
		_, err := two.Add(t.Context(), itemsOf(0, "k", 3), false, false)
		require.ErrorIs(t, err, ErrFull)

		one.Resume()
		require.NoError(t, one.Flush(t.Context()))
		require.NoError(t, <-accepted)
		require.NoError(t, two.Close(t.Context()))
		require.NoError(t, one.Close(t.Context()))
		assert.Equal(t, 5, ofOne.completed)
		assert.Equal(t, 3, ofTwo.completed)
		assert.Equal(t, 5, shared.items)
		assert.EqualValues(t, 1<<20, shared.bytes)
	})
}

// All ways to return room: settled, folded, withdrawn, purged and given up.
func TestAllSharedRoomComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &room{items: 100, bytes: 1000}
		p, _ := start(t, &service{answer: applied}, func(c *Config[int, int]) {
			c.Room = shared
			c.Fold = func(older, newer *Item[int], sent bool) (Folding, Item[int]) {
				if sent {
					return Apart, Item[int]{}
				}
				return Folded, *newer
			}
		})
		write(t, p, "a1", "b1")
		require.NoError(t, p.Flush(t.Context()))
		p.Pause()
		write(t, p, "a22", "a3333", "b1", "c1")
		p.Withdraw(func(key string, _ *int) bool { return key == "b" })
		assert.EqualValues(t, 1000-len("3333")-len("1"), shared.bytes, "a folded body returns its bytes at once")
		h, err := p.Hold(t.Context(), []string{"h"}, someone)
		require.NoError(t, err)
		require.NoError(t, h.Add(letter("h1")))
		ended, cancel := withEnded(t)
		defer cancel()
		require.Error(t, p.Close(ended))
		assert.Equal(t, 100, shared.items)
		assert.EqualValues(t, 1000, shared.bytes)
	})
}

// withEnded returns a context that has ended.
func withEnded(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx, cancel
}
