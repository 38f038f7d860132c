package events

import (
	"context"
	"fmt"
)

// TrackOptions configures Track. nil and the zero value are ready to use.
type TrackOptions[T any] struct {
	// Skip is called for each failed action: true lets the mark pass it. By default the mark passes actions that the
	// service rejects and the sender's DeadLetters have stored. Use Skip to write a dead letter, and return true when that
	// is durable:
	//
	//	Skip: func(ctx context.Context, e *events.ActionFailed[Book]) bool {
	//		return e.Rejected() && writeDeadLetter(ctx, e) == nil
	//	}
	//
	// If Skip returns false, panics or does not return, the action holds the mark: nothing is committed until the program
	// restarts and reads it again. That is right for a failure that does not concern the document. But if Skip returns
	// false for a document that the service rejects, the program never gets past it: see ActionFailed.Rejected. Skip is not
	// called for actions that Close of the sender has given up (ActionFailed.Unsent); they always hold the mark, because
	// they must be read again.
	Skip func(context.Context, *ActionFailed[T]) bool
	// Begun declares that the program calls Begin or BeginN before it adds an action; Track then only settles. It is
	// required if several actions share a position.
	Begun bool
}

// Track returns handlers that move the marks of watermarks: they call Begin when an action is added, and Settle when it
// is completed, or has failed and may be passed, see [TrackOptions].Skip. of returns the watermark and position of an
// action from its tag (models.IndexDocumentsAction.Tag), or false for actions that are not tracked. If tags point to
// their watermark, no table of partitions is needed, and after a rebalance outcomes of old actions go to the old
// watermark.
//
// Actions of one watermark must be added in the order of their positions, so from one goroutine, and each position by
// one action. Otherwise the action is refused with ErrPositionOrder. If the adding call refuses an action for another
// reason, see [LowWatermark.Forget].
//
// Handlers that must finish before the mark passes an action go in front of Track in a Multi. If they are in an Async,
// Track must be in the same one:
//
//	events.NewAsync(events.Multi(audit, events.Track(of, nil)), nil)
//
// If one of them panics or sets [ActionCompleted].Veto, the action holds the mark and Skip is not called.
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
