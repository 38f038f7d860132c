package bufferedsender

import (
	"context"
	"errors"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Outage is what a sender does while the service does not work.
type Outage interface{ hold() Hold }

// Hold suspends sending while the service does not work. No attempts are used.
type Hold struct {
	// Breaker decides when to stop and when to probe. Share it for one index only. Defaults to one with its defaults.
	Breaker *breaker.Breaker
	// Service is a second breaker, shared by the senders of all indexes of a service; sending stops while either is not
	// closed. Only failures to connect, or to resolve the name, count for it. Defaults to none.
	Service *breaker.Breaker
	// OnPurged gets the keys of purged actions, like the Handlers, after the function of WhenFull. Defaults to none.
	OnPurged func(ctx context.Context, keys []string)
	// WhenFull is for adding calls when the buffer is full meanwhile; SetControl changes it. Defaults to waiting.
	WhenFull WhenFull
}

func (h Hold) hold() Hold { return h }

// FailSoon sends every request: when the service is gone or the key is wrong all actions fail soon, a document
// perhaps because of its neighbours.
type FailSoon struct{}

func (FailSoon) hold() Hold { return Hold{} }

// WhenFull is the policy for a full buffer while sending is suspended, by default WaitForRoom. An action in flight
// is never purged, nor one behind it.
type WhenFull struct {
	policy   publisher.Overload
	onPurged func(ctx context.Context, keys []string)
	given    bool // it is not the zero value
}

// WaitForRoom lets adding calls wait, as the zero value does, which SetControl takes for no change.
func WaitForRoom() WhenFull { return WhenFull{given: true} }

// Reject refuses them with ErrBufferFull and ErrCircuitOpen.
func Reject() WhenFull { return WhenFull{policy: publisher.Refuse, given: true} }

// PurgeOldest gives up waiting actions, oldest of the least urgent class first, none more urgent than the new ones.
// They fail with ErrPurged; after their events onPurged (see AllowLoss) gets their keys, one for each.
func PurgeOldest(onPurged func(ctx context.Context, keys []string)) WhenFull {
	return WhenFull{publisher.PurgeOne, onPurged, true}
}

// PurgeAll is PurgeOldest for all waiting actions that are no more urgent.
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
