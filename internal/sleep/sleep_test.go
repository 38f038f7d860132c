package sleep

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestForWaitsUntilItsTimeOrTheEndOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, bored := time.Now(), errors.New("bored")
		require.NoError(t, For(t.Context(), time.Minute))
		require.NoError(t, For(t.Context(), -time.Minute))
		require.Equal(t, time.Minute, time.Since(began))

		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(bored) })
		require.ErrorIs(t, For(ctx, time.Minute), bored)
		require.ErrorIs(t, For(ctx, 0), bored, "the context has ended")
		require.Equal(t, time.Minute+time.Second, time.Since(began))
	})
}
