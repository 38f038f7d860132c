package bufferedsender

import (
	"context"
	"errors"
	"reflect"
	"runtime"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
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
	tag := a.chunk.header.tag
	a.chunk.header = header{} // the next error may be about no action
	if before := a.finish(); before != nil {
		return before
	}
	return a.s.refusal(a.accepted, key, tag, err)
}

// RawSender adds JSON documents to a BufferedSender of any T, with the same buffer, requests and order. Their events
// have a zero document. It is safe for concurrent use.
type RawSender struct{ sender *sender }

// Raw returns the RawSender of this sender.
func (s *sender) Raw() *RawSender { return &RawSender{s} }

// Add adds actions, like BufferedSender.UploadDocuments.
func (r *RawSender) Add(ctx context.Context, actions ...models.RawAction) error {
	return r.sender.addRaw(orBackground(ctx), actions)
}

// Offer is Add, but returns how many actions were accepted, always the first ones. An error whose method Rejected
// returns true is about the next action.
func (r *RawSender) Offer(ctx context.Context, actions []models.RawAction) (accepted int, err error) {
	err = r.sender.addRaw(orBackground(ctx), actions)
	if err == nil {
		return len(actions), nil
	}
	if failed := (*AddError)(nil); errors.As(err, &failed) {
		accepted = failed.Accepted
	}
	return accepted, err
}

// Info returns the names, limits and condition of the sender.
func (r *RawSender) Info() models.SenderInfo { return r.sender.info() }

// AddAndWait is BufferedSender.IndexDocumentsAndWait.
func (r *RawSender) AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
	return r.sender.addRawAndWait(orBackground(ctx), actions)
}

// Contains is BufferedSender.Contains.
func (r *RawSender) Contains(keys ...string) []bool { return r.sender.Contains(keys...) }

// Withdraw is BufferedSender.Withdraw.
func (r *RawSender) Withdraw(match func(key string, tag any) bool) int {
	return r.sender.Withdraw(match)
}

// HoldKeys runs act while no action of the keys is in flight. So act can read the truth of a key and write it: the
// sender applies all older writes of the keys before those of act, and all newer ones after them. First HoldKeys
// waits, bounded by ctx, until accepted actions of the keys are settled. Within act, Flush, Close, and AddAndWait or
// HoldKeys of the keys block until their contexts end. add accepts actions of the keys until act returns, all or,
// with an *AddError, none; it does not wait for room. If act was not run, the error is ErrInCallback, ErrClosed, or
// that of ctx, with ErrCircuitOpen or ErrPaused.
func (r *RawSender) HoldKeys(ctx context.Context, keys []string, act func(ctx context.Context, add func(actions ...models.RawAction) error) error) error {
	return r.sender.holdKeys(orBackground(ctx), keys, act)
}

func (s *sender) addRaw(ctx context.Context, actions []models.RawAction) error {
	return s.addAll(ctx, len(actions), true, rawAdder(actions))
}

func (s *sender) info() models.SenderInfo {
	limits := s.Control().Limits
	endpoint, index := namesOf(s.keyField.indexer)
	var applied func(key string) int64
	if a := s.observer.applied; a != nil {
		applied = a.of
	}
	return models.SenderInfo{
		Applied:  applied,
		Endpoint: endpoint, IndexName: index,
		MaxBufferedActions: limits.MaxBufferedActions, MaxBufferedBytes: limits.MaxBufferedBytes,
		RequestTimeout: s.options.RequestTimeout, UnknownWait: s.options.UnknownWait,
		Queued: s.feed != nil, Closed: s.publisher.Closing(),
		Pending: s.publisher.Stats().Items, Held: s.publisher.Condition().Held(),
	}
}

func (s *sender) addRawAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
	return s.addAndWait(ctx, len(actions), rawAdder(actions), func(i int) (string, models.ActionType) {
		return actions[i].Key, actions[i].Type
	})
}

func rawAdder(actions []models.RawAction) addOne {
	return func(ctx context.Context, c *chunk, i int) (string, error) {
		a := &actions[i]
		c.header = header{a.Type, a.Tag, a.OnOutcome}
		if !a.Type.Valid() {
			return "", unknownType(a.Type)
		}
		if a.Until != nil && c.s.feed != nil {
			return a.Key, errors.New("the action has Until, but a Queue has its own leases: use a sender without a Queue")
		}
		// The key field is needed for a delete without a document. It is also needed to compare keys, unless Documents.Key may
		// read them from elsewhere.
		if !c.s.options.keyFunc || len(a.Document) == 0 {
			if _, err := c.s.keyField.resolve(ctx); err != nil {
				return a.Key, err
			}
		}
		c.raw = a
		defer func() { c.raw = nil }()
		return a.Key, c.addKeyed(ctx, a.Key)
	}
}

func (s *sender) holdKeys(ctx context.Context, keys []string, act func(ctx context.Context, add func(actions ...models.RawAction) error) error) error {
	if act == nil {
		return errors.New("the function of HoldKeys is nil")
	}
	h, err := s.hold(ctx, keys, func() string {
		return "HoldKeys (" + runtime.FuncForPC(reflect.ValueOf(act).Pointer()).Name() + ")"
	})
	if err != nil {
		return err
	}
	defer h.Release()
	return act(ctx, func(actions ...models.RawAction) error { return s.addHeld(ctx, h, actions) })
}

type hold = publisher.Hold[payload, models.IndexingResult]

// hold waits until accepted actions of the keys are settled and keeps later ones waiting. name names the holding code.
func (s *sender) hold(ctx context.Context, keys []string, name func() string) (*hold, error) {
	if s.feed != nil {
		return nil, errors.New("a sender with a Queue cannot hold keys, which other processes may send: use IndexKeys, whose Loader reads the truth")
	}
	h, err := s.publisher.Hold(ctx, keys, name)
	return h, translate(err)
}

// addHeld adds actions within a hold: all or none.
func (s *sender) addHeld(ctx context.Context, h *hold, actions []models.RawAction) error {
	c := s.newChunk(ctx, len(actions))
	defer c.free()
	add := rawAdder(actions)
	for i := range actions {
		if key, err := add(ctx, c, i); err != nil {
			return s.refusal(0, key, c.header.tag, err)
		}
	}
	c.cut()
	err := h.Add(c.items...)
	if other := (*publisher.NotHeldError)(nil); errors.As(err, &other) {
		return &AddError{Key: other.Key, Err: errors.New("the key is not held by this HoldKeys")}
	}
	if errors.Is(err, publisher.ErrReleased) {
		return &AddError{Err: errors.New("add was called after the function of HoldKeys has returned")}
	}
	if err != nil {
		return &AddError{Err: translate(err)}
	}
	return nil
}
