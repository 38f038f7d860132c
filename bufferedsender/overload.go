package bufferedsender

import (
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/publisher"
)

// Overload is what happens to adding calls when the buffer is full while the
// breaker is not closed: there will be no room until the service works again.
// It is looked at both when an action is added and when the breaker opens. An
// action in flight is never purged, nor one that waits behind it for the same
// key.
type Overload uint8

const (
	// OverloadBlock lets them wait, as long as their contexts allow.
	OverloadBlock Overload = iota
	// OverloadFail rejects them: the AddError has ErrBufferFull and
	// ErrCircuitOpen in its chain.
	OverloadFail
	// OverloadPurgeOne gives up the oldest actions that wait, as many as the new
	// ones need room. They fail with ErrPurged.
	OverloadPurgeOne
	// OverloadPurgeIndex gives up all actions that wait.
	OverloadPurgeIndex
)

var overloadPolicies = map[Overload]publisher.Overload{
	OverloadBlock:      publisher.Block,
	OverloadFail:       publisher.Refuse,
	OverloadPurgeOne:   publisher.PurgeOne,
	OverloadPurgeIndex: publisher.PurgeAll,
}

func (o *Options[T]) checkOverload() error {
	purges := o.Overload == OverloadPurgeOne || o.Overload == OverloadPurgeIndex
	switch {
	case o.Overload > OverloadPurgeIndex:
		return fmt.Errorf("Overload is %d: use OverloadBlock, OverloadFail, OverloadPurgeOne or OverloadPurgeIndex", o.Overload)
	case purges && o.OnPurged == nil && !o.AllowLoss:
		return errors.New("Overload purges accepted actions: set OnPurged to repair them, or AllowLoss if they do not matter")
	case !purges && o.OnPurged != nil:
		return errors.New("OnPurged is set but Overload does not purge: use OverloadPurgeOne or OverloadPurgeIndex, or leave it out")
	case o.Overload != OverloadBlock && o.DisableBreaker:
		return errors.New("Overload is about an open breaker, and DisableBreaker is set: leave one of them out")
	case purges && o.DisableAutoFlush:
		return errors.New("Overload purges to make room for calls that wait, and with DisableAutoFlush none does: use OverloadBlock")
	}
	return nil
}
