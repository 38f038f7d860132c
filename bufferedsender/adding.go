package bufferedsender

import (
	"context"

	"github.com/go-azsearch/azsearch/internal/publisher"
)

// addOne encodes the i-th action of a call into a chunk and returns its key.
type addOne = func(ctx context.Context, c *chunk, i int) (string, error)

// addAll adds n actions, or none if ctx has already ended.
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

// ended returns the cause if ctx has ended, otherwise nil.
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
	turn     bool // holds a turn to encode, see begin
}

// begin prepares for the first action of a chunk: it checks the context, then waits for a turn to encode. Turns limit
// how many waiting calls hold encoded actions in memory.
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

// end puts the chunk back into its pool and ends the turn.
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

// finish makes the publisher, or the queue, accept the chunk.
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

// fail accepts the actions before the refused one, then returns the refusal.
func (a *adding) fail(key string, err error) error {
	if before := a.finish(); before != nil {
		return before
	}
	return a.s.refusal(a.accepted, key, err)
}
