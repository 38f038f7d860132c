package repair

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
)

func TestAWatchThatNeverDeletesDoesNotInItsLaterPasses(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.invent(3, "x")
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Hour)
		defer cancel()
		passes := 0
		err := repairer(half{w, "source"}, half{w, "index"}, w.sender(nil).Raw(), &Options{AllowDeletes: -1, Logger: quiet}).Watch(ctx, time.Hour, func(r Report, err error) {
			passes++
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Greater(t, passes, 2)
		assert.Empty(t, w.deleted)
	})
}

func TestAWatchThatNeverDeletesDoesNotByItsTree(t *testing.T) {
	inBubble(t, func(t *testing.T, world *world) {
		w := withTree(t, world, digesttree.Options{Empty: true})
		w.write(1, keysFrom(0, 100)...)
		for _, k := range keysFrom(0, 3) {
			w.set(k, nil)
		}
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		byTree := 0
		err := repairer(half{world, "source"}, half{world, "index"}, w.sender.Raw(), &Options{Tree: w.tree, AllowDeletes: -1, Logger: quiet}).Watch(ctx, 1000*24*time.Hour, func(r Report, err error) {
			byTree++
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Positive(t, byTree)
		assert.Empty(t, w.deleted)
	})
}
