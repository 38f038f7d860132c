package bufferedsender

import (
	"context"
	"errors"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Outage is what a sender does while the service does not work: a [Hold] or
// [FailSoon].
type Outage interface{ hold() Hold }

// Hold stops sending while the service does not work, so that no action uses up its
// attempts, finds out when it works again, and goes on by itself. The zero value is
// ready to use.
type Hold struct {
	// Breaker decides when to stop and when to try again. Share one among the senders
	// of an index, never between indexes. Defaults to a new one with default options.
	Breaker *breaker.Breaker
	// Service is a second breaker, of the service as a whole, which the senders of all its
	// indexes share, as those of a fleet do: sending stops while either is not closed. Failures count for
	// it only if no connection was made, or the name of the service was not resolved: what one index answers says
	// nothing about the others. Whoever knows more can trip it. Defaults to none.
	Service *breaker.Breaker
	// WhenFull says what happens to adding calls when the buffer is full meanwhile:
	// there will be no room until the service works again. Defaults to waiting, as long
	// as their contexts allow. With DisableAutoFlush no call waits for room, so it has
	// no effect.
	WhenFull WhenFull
}

func (h Hold) hold() Hold { return h }

// FailSoon sends every request, whatever became of the others: when the service is gone
// or the key is wrong, all actions fail soon, instead of waiting. That suits a program
// that somebody watches.
type FailSoon struct{}

func (FailSoon) hold() Hold { return Hold{} }

// WhenFull is what happens to adding calls when the buffer is full and sending is held:
// [Reject], [PurgeOldest], [PurgeAll] or [Wait], which is the zero value. It is applied
// both when an action is added and when the breaker opens. An action in flight is never
// purged, nor one that waits behind it for the same key.
type WhenFull struct {
	policy   publisher.Overload
	onPurged func(ctx context.Context, keys []string)
}

// Wait lets them wait, which is the default. onPurged is called with the keys that
// BufferedSender.Purge gives up, as that of [PurgeOldest] is.
func Wait(onPurged func(ctx context.Context, keys []string)) WhenFull {
	return WhenFull{onPurged: onPurged}
}

// Also returns w that calls onPurged as well, behind its own.
func (w WhenFull) Also(onPurged func(ctx context.Context, keys []string)) WhenFull {
	if own := w.onPurged; own != nil && onPurged != nil {
		w.onPurged = func(ctx context.Context, keys []string) {
			defer onPurged(ctx, keys) // also if its own panics
			own(ctx, keys)
		}
	} else if onPurged != nil {
		w.onPurged = onPurged
	}
	return w
}

// Reject refuses them: the AddError has ErrBufferFull and ErrCircuitOpen in its chain.
func Reject() WhenFull { return WhenFull{policy: publisher.Refuse} }

// PurgeOldest gives up the oldest actions that wait, as many as the new ones need room.
// They fail with ErrPurged, and onPurged is called with their keys, one for each action,
// after their ActionFailed events, so that they can be repaired. It runs like the
// Handlers. New refuses nil: use [AllowLoss] if it does not matter what is lost.
func PurgeOldest(onPurged func(ctx context.Context, keys []string)) WhenFull {
	return WhenFull{publisher.PurgeOne, onPurged}
}

// PurgeAll is PurgeOldest that gives up all actions that wait.
func PurgeAll(onPurged func(ctx context.Context, keys []string)) WhenFull {
	return WhenFull{publisher.PurgeAll, onPurged}
}

// AllowLoss is for PurgeOldest and PurgeAll where it does not matter what is lost.
func AllowLoss(context.Context, []string) {}

func (w WhenFull) validate() error {
	if (w.policy == publisher.PurgeOne || w.policy == publisher.PurgeAll) && w.onPurged == nil {
		return errors.New("Outage purges accepted actions: give PurgeOldest or PurgeAll a function that repairs them, or AllowLoss if they do not matter")
	}
	return nil
}

// held returns what Outage holds sending with, after withDefaults: no breaker with
// FailSoon.
func (o *Options[T]) held() Hold { return o.Outage.hold() }
