// Package sleep waits for a time or for the end of a context, whichever is first.
package sleep

import (
	"context"
	"time"
)

// For waits for d and returns nil, or the cause with which ctx has ended if that is first, or has been already. It does
// not wait if d is not positive.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
