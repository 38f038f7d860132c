package bufferedsender

import (
	"context"
	"errors"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Outage is the behavior while the service is unavailable: Hold or FailSoon.
type Outage interface{ hold() Hold }

// Hold suspends sending during an outage. No attempts are used.
type Hold struct {
	// Breaker decides when to stop and when to probe. Share it only among senders of one index. Defaults to a new one.
	Breaker *breaker.Breaker
	// Service is a second breaker, shared by the senders of all indexes of a service. Sending stops while either is not
	// closed. Only failures to connect or to resolve the name count for it. Defaults to none.
	Service *breaker.Breaker
	// OnPurged is called with the keys of purged actions, like a handler, after the function of WhenFull. Defaults to none.
	OnPurged func(ctx context.Context, keys []string)
	// WhenFull decides about adding calls if the buffer fills meanwhile; SetControl changes it. Defaults to waiting.
	WhenFull WhenFull
}

func (h Hold) hold() Hold { return h }

// FailSoon sends every request. If the service is unavailable or the credentials are wrong, all actions soon fail. A
// document may fail because of others in its request.
type FailSoon struct{}

func (FailSoon) hold() Hold { return Hold{} }

// WhenFull is the policy for a full buffer while sending is suspended, by default WaitForRoom. Actions in flight, and
// actions of their keys behind them, are never purged.
type WhenFull struct {
	policy   publisher.Overload
	onPurged func(ctx context.Context, keys []string)
	given    bool // false for the zero value
}

// WaitForRoom makes adding calls wait. The zero value does so too, but SetControl treats it as no change.
func WaitForRoom() WhenFull { return WhenFull{given: true} }

// Reject makes adding calls fail with ErrBufferFull and ErrCircuitOpen.
func Reject() WhenFull { return WhenFull{policy: publisher.Refuse, given: true} }

// PurgeOldest gives up waiting actions: the oldest of the least urgent class first, none more urgent than the new ones.
// If all are more urgent, adding waits. Purged ones fail with ErrPurged. After their events onPurged is called with
// their keys, one for each action; see AllowLoss.
func PurgeOldest(onPurged func(ctx context.Context, keys []string)) WhenFull {
	return WhenFull{publisher.PurgeOne, onPurged, true}
}

// PurgeAll is PurgeOldest for all waiting actions that are not more urgent than the new ones.
func PurgeAll(onPurged func(ctx context.Context, keys []string)) WhenFull {
	return WhenFull{publisher.PurgeAll, onPurged, true}
}

// AllowLoss is an onPurged that does nothing.
func AllowLoss(context.Context, []string) {}

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

// withQueue returns an error if a sender with a Queue cannot use the policy.
func (w WhenFull) withQueue() error {
	switch {
	case w.purges():
		return errors.New("WhenFull purges accepted actions: a Queue keeps them, use Hold without WhenFull")
	case w.policy == publisher.Refuse:
		return errors.New("WhenFull is Reject, which refuses actions when the buffer is full: with a Queue the bounds are those of the queue")
	}
	return nil
}

// held returns the Hold of Outage, after complete. It has no breaker with FailSoon.
func (o *settings) held() Hold { return o.Outage.hold() }
