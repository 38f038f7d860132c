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
	// OnPurged is called with the keys of actions that are given up, whatever gives them up: BufferedSender.Purge, or
	// WhenFull, whose own function is called before. It runs like the Handlers. Defaults to none.
	OnPurged func(ctx context.Context, keys []string)
	// WhenFull says what happens to adding calls when the buffer is full meanwhile:
	// there will be no room until the service works again. Defaults to waiting, as long
	// as their contexts allow. With DisableAutoFlush no call waits for room, so it has
	// no effect. SetControl changes it later.
	WhenFull WhenFull
}

func (h Hold) hold() Hold { return h }

// FailSoon sends every request, whatever became of the others: when the service is gone
// or the key is wrong, all actions fail soon, instead of waiting. That suits a program
// that somebody watches. It cannot wait to see whether it is an outage or one document that
// resets its connection: documents of one request may fail together if several of them do
// that, or if other requests are under way.
type FailSoon struct{}

func (FailSoon) hold() Hold { return Hold{} }

// WhenFull is what happens to adding calls when the buffer is full and sending is held:
// [WaitForRoom], [Reject], [PurgeOldest] or [PurgeAll]; the zero value lets them wait. It is applied
// both when an action is added and when the breaker opens. An action in flight is never
// purged, nor one that waits behind it for the same key.
type WhenFull struct {
	policy   publisher.Overload
	onPurged func(ctx context.Context, keys []string)
	given    bool // it is not the zero value
}

// WaitForRoom lets them wait, as the zero value does. It is for SetControl, where the zero
// value leaves the policy as it is.
func WaitForRoom() WhenFull { return WhenFull{given: true} }

// Reject refuses them: the AddError has ErrBufferFull and ErrCircuitOpen in its chain.
func Reject() WhenFull { return WhenFull{policy: publisher.Refuse, given: true} }

// PurgeOldest gives up the oldest actions that wait, of the least urgent class first, as many
// as the new ones need room, and none that is more urgent than these: then they wait.
// They fail with ErrPurged, and onPurged is called with their keys, one for each action,
// after their ActionFailed events, so that they can be repaired. It runs like the
// Handlers. New refuses nil: use [AllowLoss] if it does not matter what is lost.
func PurgeOldest(onPurged func(ctx context.Context, keys []string)) WhenFull {
	return WhenFull{publisher.PurgeOne, onPurged, true}
}

// PurgeAll is PurgeOldest that gives up all actions that wait and are no more urgent.
func PurgeAll(onPurged func(ctx context.Context, keys []string)) WhenFull {
	return WhenFull{publisher.PurgeAll, onPurged, true}
}

// AllowLoss is for PurgeOldest and PurgeAll where it does not matter what is lost.
func AllowLoss(context.Context, []string) {}

// String names the policy: "wait", "reject", "purge oldest" or "purge all".
func (w WhenFull) String() string {
	switch w.policy {
	case publisher.Refuse:
		return "reject"
	case publisher.PurgeOne:
		return "purge oldest"
	case publisher.PurgeAll:
		return "purge all"
	}
	return "wait"
}

func (w WhenFull) validate() error {
	if w.purges() && w.onPurged == nil {
		return errors.New("WhenFull purges accepted actions: give PurgeOldest or PurgeAll a function that repairs them, or AllowLoss if they do not matter")
	}
	return nil
}

func (w WhenFull) purges() bool {
	return w.policy == publisher.PurgeOne || w.policy == publisher.PurgeAll
}

// withQueue says why a sender with a Queue cannot have it.
func (w WhenFull) withQueue() error {
	switch {
	case w.purges():
		return errors.New("WhenFull purges accepted actions: a Queue keeps them, use Hold without WhenFull")
	case w.policy == publisher.Refuse:
		return errors.New("WhenFull is Reject, which refuses actions when the buffer is full: with a Queue the bounds are those of the queue")
	}
	return nil
}

// held returns what Outage holds sending with, after withDefaults: no breaker with
// FailSoon.
func (o *settings) held() Hold { return o.Outage.hold() }
