package bufferedsender

import (
	"context"

	"github.com/go-azsearch/azsearch/internal/publisher"
)

// addOne puts the i-th action of a call into a chunk, and returns its key.
type addOne = func(ctx context.Context, c *chunk, i int) (string, error)

// addAll adds n actions. If ctx has ended it adds none.
func (s *sender) addAll(ctx context.Context, n int, wait bool, add addOne) error {
	if n == 0 {
		return nil
	}
	if s.publisher.Closing() {
		return &AddError{Err: ErrClosed} // before any handler is called
	}
	ctx = orBackground(ctx)
	if err := ended(ctx); err != nil {
		return &AddError{Err: err}
	}
	a := adding{s: s, ctx: ctx, wait: wait && !s.options.DisableAutoFlush, chunk: s.newChunk(ctx, n)}
	defer a.end()
	for i := range n {
		if err := a.begin(); err != nil {
			return err
		}
		if key, err := add(ctx, a.chunk, i); err != nil {
			return a.fail(key, err)
		}
		if err := a.acceptIfFull(); err != nil {
			return err
		}
	}
	return a.finish()
}

// ended says why ctx has ended, nil if it has not.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return publisher.ContextError(ctx)
}

// adding is one adding call.
type adding struct {
	s        *sender
	ctx      context.Context
	wait     bool
	chunk    *chunk
	accepted int
	turn     bool // it has the turn to encode a chunk
}

// begin looks, before the first action of a chunk is encoded, whether the context has
// ended, and waits while so many others wait for room that what they hold would be
// too much.
func (a *adding) begin() error {
	if len(a.chunk.items) == 0 {
		if err := ended(a.ctx); err != nil {
			return &AddError{Accepted: a.accepted, Err: err}
		}
	}
	if !a.wait || a.turn {
		return nil
	}
	if err := a.s.publisher.Turn(a.ctx, a.chunk.class); err != nil {
		if a.s.feed != nil {
			err = a.s.feed.stuck(err)
		}
		return &AddError{Accepted: a.accepted, Err: translate(err)}
	}
	a.turn = true
	return nil
}

// end gives back what the call has borrowed.
func (a *adding) end() {
	if a.turn {
		a.s.publisher.EndTurn()
	}
	a.chunk.free()
}

func (a *adding) acceptIfFull() error {
	if !a.chunk.full() {
		return nil
	}
	return a.finish()
}

// finish has the chunk accepted.
func (a *adding) finish() error {
	turn := a.turn
	a.turn = false
	n, err := a.chunk.accept(a.ctx, a.wait, turn)
	a.accepted += n
	if err != nil {
		return a.s.addError(a.accepted, err)
	}
	return nil
}

// fail ends the call because of one action, after having those before it
// accepted.
func (a *adding) fail(key string, err error) error {
	if before := a.finish(); before != nil {
		return before
	}
	return a.s.refusal(a.accepted, key, err)
}
