package bufferedsender

import (
	"context"
	"errors"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// RawSender adds actions whose documents are JSON already to the sender that it belongs
// to, whatever its T: for what keeps actions as bytes, such as queues, outboxes and dead
// letters. They share its buffer, its requests and the order of each key with all its
// other actions, and end the same way. Events about them have a zero document. It is safe
// for concurrent use.
type RawSender struct{ sender *sender }

// Raw returns what takes actions that are encoded already.
func (s *sender) Raw() *RawSender { return &RawSender{s} }

// Add adds actions. It waits and reports like BufferedSender.UploadDocuments.
func (r *RawSender) Add(ctx context.Context, actions ...models.RawAction) error {
	return r.sender.addRaw(orBackground(ctx), actions)
}

// Offer is Add that returns how many it has accepted, which are the first ones, for those
// that do not know this package. An error with a method Rejected that returns true is
// about the action behind them.
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

// Info returns what the sender is like.
func (r *RawSender) Info() models.SenderInfo { return r.sender.info() }

// AddAndWait adds actions and waits for their outcomes, like
// BufferedSender.IndexDocumentsAndWait.
func (r *RawSender) AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
	return r.sender.addRawAndWait(orBackground(ctx), actions)
}

// Contains is BufferedSender.Contains.
func (r *RawSender) Contains(keys ...string) []bool { return r.sender.Contains(keys...) }

// Withdraw is BufferedSender.Withdraw.
func (r *RawSender) Withdraw(match func(key string, tag any) bool) int {
	return r.sender.Withdraw(match)
}

// HoldKeys runs act while nothing of the keys is on its way: it waits, ctx bounds that, until
// everything that was accepted of them before is settled and its callbacks have run. What
// is accepted of them meanwhile waits until act has returned. What act adds with add goes
// first, and nothing keeps it from being sent at once. So act can read what is true of a
// key and write it, and no older write of this sender comes after it, and no newer one
// before.
//
// What waits for a full batch is sent for it, also with DisableAutoFlush.
//
// add waits for nothing, not even for room in the buffer: who has it may be waiting for
// act. So let what one call adds be little. It accepts all the actions or, with an
// *AddError, none: one whose key is not held among them. It must not be used after act has
// returned.
//
// Holds of the same keys follow one another. What waits for the keys waits for act, so in
// act it waits until its context ends: another HoldKeys or AddAndWait of one of them,
// Flush, Close. The error is that of act; ErrInCallback or ErrClosed; or that of ctx, with
// ErrCircuitOpen or ErrPaused in its chain if sending was held, when act was not run.
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
		if !a.Type.Valid() {
			return "", unknownType(a.Type)
		}
		if a.Until != nil && c.s.feed != nil {
			return a.Key, errors.New("the action has Until, and the sender a Queue, which has leases of its own: give it to a sender without one")
		}
		// The field is needed to write a delete that has no document, and to compare the keys
		// where nobody has said that documents have them elsewhere.
		if !c.s.options.keyFunc || len(a.Document) == 0 {
			if _, err := c.s.keyField.resolve(ctx); err != nil {
				return a.Key, err
			}
		}
		c.header = header{a.Type, a.Tag, a.OnOutcome}
		c.raw = a
		defer func() { c.raw = nil }()
		return a.Key, c.addKeyed(ctx, a.Key)
	}
}

func (s *sender) holdKeys(ctx context.Context, keys []string, act func(ctx context.Context, add func(actions ...models.RawAction) error) error) error {
	if act == nil {
		return errors.New("the function of HoldKeys is nil")
	}
	h, err := s.hold(ctx, keys)
	if err != nil {
		return err
	}
	defer h.Release()
	return act(ctx, func(actions ...models.RawAction) error { return s.addHeld(ctx, h, actions) })
}

type hold = publisher.Hold[payload, models.IndexingResult]

// hold waits until what was accepted of the keys is settled, and keeps what comes since.
func (s *sender) hold(ctx context.Context, keys []string) (*hold, error) {
	if s.feed != nil {
		return nil, errors.New("a sender with a Queue cannot hold keys, which others may send: append IndexKeys instead, whose Loader reads what is true")
	}
	h, err := s.publisher.Hold(ctx, keys)
	return h, translate(err)
}

// addHeld adds the actions of a hold: all or none.
func (s *sender) addHeld(ctx context.Context, h *hold, actions []models.RawAction) error {
	c := s.newChunk(ctx, len(actions))
	defer c.free()
	add := rawAdder(actions)
	for i := range actions {
		if key, err := add(ctx, c, i); err != nil {
			return s.refusal(0, key, err)
		}
	}
	c.cut()
	err := h.Add(c.items...)
	if other := (*publisher.NotHeldError)(nil); errors.As(err, &other) {
		return &AddError{Key: other.Key, Err: errors.New("the key is not one of those that are held")}
	}
	if errors.Is(err, publisher.ErrReleased) {
		return &AddError{Err: errors.New("add is used after the function of HoldKeys has returned")}
	}
	if err != nil {
		return &AddError{Err: translate(err)}
	}
	return nil
}
