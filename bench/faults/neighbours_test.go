package faults

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

// A rate on a busy machine proves nothing, so the row only finds that its sender finishes. Here the same fleet runs in
// simulated time.
func TestSixteenOfTwentyIndexesKeepTheirRateWhileFourHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := neighbours(small)
		r := &all[slices.IndexFunc(all, func(r row) bool { return r.name == "hang-4-of-20" })]
		require.Len(t, r.beside, 19)
		var hangs atomic.Bool
		var done atomic.Int64
		for i := range 4 {
			bad := r.beside[fmt.Sprint("neighbour", i)]
			r.beside[fmt.Sprint("neighbour", i)] = neighbour{answer: func(ctx context.Context, keys []string) (models.IndexDocumentsResult, error) {
				if hangs.Load() {
					return bad.answer(ctx, keys)
				}
				return slowly(ctx, keys)
			}}
		}
		for i := range 15 {
			name := fmt.Sprint("neighbour", i+4)
			good := r.beside[name]
			r.beside[name] = neighbour{answer: func(ctx context.Context, keys []string) (models.IndexDocumentsResult, error) {
				result, err := good.answer(ctx, keys)
				done.Add(int64(len(result.Results)))
				return result, err
			}}
		}
		_, b, err := moveIn(r, small, neighbour{answer: slowly}, &bufferedsender.Options[document]{
			Logger: slog.New(slog.DiscardHandler), AutoFlushInterval: time.Second,
		})
		require.NoError(t, err)
		rate := func(d time.Duration) float64 {
			before := done.Load()
			time.Sleep(d)
			return float64(done.Load()-before) / d.Seconds()
		}
		time.Sleep(5 * time.Second)
		before := rate(5 * time.Second)
		require.NotZero(t, before)
		hangs.Store(true)
		time.Sleep(5 * time.Second)
		for range 5 {
			assert.GreaterOrEqual(t, rate(20*time.Second), 0.8*before, "documents a second, %v before", before)
		}
		b.moveOut()
	})
}
