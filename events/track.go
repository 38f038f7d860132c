package events

import (
	"context"
	"fmt"
)

// TrackOptions configures Track. nil and the zero value work.
type TrackOptions[T any] struct {
	// Skip is called for each action that failed: true lets the mark pass it.
	// Without it the mark passes what the service rejects and the sender's
	// DeadLetters have taken. With it, this is the place to write a dead letter, and
	// to return true when that is safe:
	//
	//	Skip: func(ctx context.Context, e *events.ActionFailed[Book]) bool {
	//		return e.Rejected() && writeDeadLetter(ctx, e) == nil
	//	}
	//
	// If it returns false, panics or does not return, the action holds the mark:
	// nothing is committed any more until the program starts again and reads it
	// once more. That is right for a failure that is not the document's own, and
	// stops the program for good if Skip returns false for a document that the
	// service rejects: see ActionFailed.Rejected. Skip is not called for actions
	// that the sender's Close has given up (ActionFailed.Unsent): these hold the
	// mark always: what nobody has taken care of must come again.
	Skip func(context.Context, *ActionFailed[T]) bool
	// Begun says that the program calls Begin or BeginN itself, before it adds
	// the action; then Track only settles. It is needed where several actions
	// share a position.
	Begun bool
}

// Track returns handlers that move the marks of watermarks: Begin when an action
// is added, Settle when it is completed, or failed and may be passed, see
// [TrackOptions].Skip. of finds watermark and position in the tag of an action
// (models.IndexDocumentsAction.Tag); what it answers false for is not tracked.
// Tags that hold a pointer to their watermark need no table of partitions, and
// after a rebalance the ends of old actions go to the old watermark.
//
// Actions of one watermark must be added in the order of their positions, so by
// one goroutine, and each position by one action; otherwise the action is
// refused with ErrPositionOrder. If the adding call refuses an action for any
// other reason, see [LowWatermark.Forget].
//
// Handlers that must have seen the end of an action before the mark passes it
// stand before Track in a Multi; and if they are in an Async, so must Track be:
//
//	events.NewAsync(events.Multi(audit, events.Track(of, nil)), nil)
//
// If one of them panics, or sets [ActionCompleted].Veto, the action holds the mark, and
// Skip is not called.
func Track[T any, P Position](of func(tag any) (*LowWatermark[P], P, bool), opts *TrackOptions[T]) Handlers[T] {
	var o TrackOptions[T]
	if opts != nil {
		o = *opts
	}
	if o.Skip == nil {
		o.Skip = func(_ context.Context, e *ActionFailed[T]) bool { return e.Rejected() && e.DeadLetter }
	}
	settle := func(tag any) {
		if w, pos, ok := of(tag); ok {
			w.Settle(pos)
		}
	}
	h := Handlers[T]{
		ActionAdded: func(_ context.Context, e *ActionAdded[T]) error {
			w, pos, ok := of(e.Action.Tag)
			switch {
			case !ok:
				return nil
			case w == nil:
				return fmt.Errorf("events: position %v has no LowWatermark", pos)
			}
			return w.Begin(pos)
		},
		ActionCompleted: func(_ context.Context, e *ActionCompleted[T]) {
			if e.Veto == nil {
				settle(e.Action.Tag)
			}
		},
		ActionFailed: func(ctx context.Context, e *ActionFailed[T]) {
			if !e.Unsent && e.Veto == nil && o.Skip(ctx, e) {
				settle(e.Action.Tag)
			}
		},
	}
	if o.Begun {
		h.ActionAdded = nil
	}
	return h
}
