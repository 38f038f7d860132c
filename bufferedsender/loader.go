package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

// A key that the Loader does not return is released up to ten times, after one second, then two, and so on up to an
// hour. Then it is parked.
const (
	unknownFirst = time.Second
	unknownLast  = time.Hour
	unknownTries = 10
)

// loaded is the Loader's answer for a key.
type loaded struct {
	typ  models.ActionType
	body []byte
}

// loading is the state of calls of the Loader, owned by the feed's goroutine.
type loading struct {
	relay.Loads
	after time.Time // earliest time of the next call
}

// slowLoad limits how long failing calls of the Loader may delay outcomes.
const slowLoad = 5 * time.Second

// load asks the Loader for the documents of keys that the queue has without one. After an error it asks for fewer keys.
// A key that fails alone is released. If every key fails, all are released, and the Loader is not called for a while,
// even for keys reserved meanwhile.
func (f *feed) load(holdings []*holding) map[*holding]loaded {
	found := make(map[*holding]loaded, len(holdings))
	began, wait := time.Now(), time.Until(f.loading.after)
	for len(holdings) > 0 && wait <= 0 {
		n := min(f.loading.Most(math.MaxInt64), len(holdings))
		err := f.loadSome(holdings[:n], found)
		if err == nil {
			f.tally.unloaded.note(nil)
			f.loading.Loaded(n, 0)
			holdings = holdings[n:]
			continue
		}
		down := f.loading.Failed(n) || time.Since(began) > slowLoad
		after := relay.BackOff(f.loading.Failures, unknownFirst, time.Minute)
		if !down && n > 1 {
			continue
		}
		f.warn("azsearch: Loader failed; its keys wait in the queue", err)
		f.tally.unloaded.note(err)
		if f.release(holdings[0], queue.End{Fate: queue.Release, After: after}); down {
			wait, f.loading.after = after, time.Now().Add(after)
		}
		holdings = holdings[1:]
	}
	for _, h := range holdings {
		f.release(h, queue.End{Fate: queue.Release, After: wait})
	}
	return found
}

// loadSome adds the Loader's answers for some keys. Keys without an answer are released, or deleted with
// Options.DeleteMissing.
func (f *feed) loadSome(holdings []*holding, found map[*holding]loaded) error {
	keys := make([]string, len(holdings))
	for i, h := range holdings {
		keys[i] = h.lease.Key
	}
	if !f.request(holdings) {
		for _, h := range holdings {
			f.release(h, queue.End{Fate: queue.Release, After: unknownFirst})
		}
		return nil
	}
	ended := f.tally.loads.begin()
	n, put, err := f.askLoader(keys)
	ended()
	if err != nil {
		return err
	}
	c := f.s.newChunk(f.ctx, 1)
	defer c.free()
	answered := make([]string, n)
	said, bad := make(map[string]loaded, n), make(map[string]error)
	for i := range n {
		put(i, c)
		key, l, wrong := encodeLoaded(c)
		if answered[i] = key; wrong == nil {
			said[key] = l
		} else if bad[key] = wrong; key == "" {
			return fmt.Errorf("action %d: %w", i, wrong)
		}
	}
	if err := relay.Answered(keys, answered); err != nil {
		return err
	}
	field := f.s.keyField.name()
	for _, h := range holdings {
		l, ok := said[h.lease.Key]
		switch tries, wrong := h.lease.Tries+1, bad[h.lease.Key]; {
		case ok:
			found[h] = l
		case f.s.options.DeleteMissing && field != "" && wrong == nil:
			found[h] = loaded{models.ActionTypeDelete, models.AppendDelete(nil, field, h.lease.Key)}
		case tries >= unknownTries:
			f.release(h, queue.End{Fate: queue.Park, Reason: parkedBecause(tries, wrong)})
		default: // an action that cannot be encoded must not affect other keys
			f.release(h, queue.End{Fate: queue.Release, Again: true, After: relay.BackOff(tries, unknownFirst, unknownLast)})
		}
	}
	return nil
}

// askLoader calls the Loader and turns its panic into an error.
func (f *feed) askLoader(keys []string) (n int, put func(i int, c *chunk), err error) {
	if !f.s.options.loads {
		return 0, nil, errors.New("there is no Options.Loader, and the queue has keys without documents")
	}
	if f.s.options.DeleteMissing || !f.s.options.keyFunc {
		if _, err := f.s.keyField.resolve(f.ctx); err != nil {
			return 0, nil, err
		}
	}
	// The call has its own goroutine, because the Loader may end it with runtime.Goexit. If the Loader does not return when
	// the sender is closed, the goroutine is left behind.
	err = errors.New("the Loader has ended its goroutine")
	done := make(chan struct{})
	asked := slices.Clone(keys)
	var failure error
	go func() {
		defer close(done)
		failure = err
		defer func() {
			if v := recover(); v != nil {
				f.s.observer.panicked("Loader", v)
				failure = fmt.Errorf("the Loader panicked: %v", v)
			}
		}()
		n, put, failure = f.s.documents.load(f.ctx, asked)
	}()
	select {
	case <-done:
		return n, put, failure
	case <-f.ctx.Done():
		return 0, nil, f.ctx.Err()
	}
}

func parkedBecause(times int, bad error) string {
	if bad != nil {
		return fmt.Sprintf("cannot send the action of the Loader, tried %d times: %v", times, bad)
	}
	return fmt.Sprintf("the Loader did not return the key, tried %d times", times)
}

// encodeLoaded encodes an action that the Loader returned.
func encodeLoaded(c *chunk) (key string, l loaded, err error) {
	defer c.clear()
	typ := c.header.typ
	if key, err = c.document.key(typ); err != nil {
		return "", l, err
	}
	if !typ.Valid() {
		return key, l, unknownType(typ)
	}
	if err := c.encode(key); err != nil {
		return key, l, err
	}
	if size, limit := c.scratch.Len()+envelopeBytes, int(c.s.largestBody.Load()); size > limit {
		return key, l, &DocumentTooLargeError{Size: size, Limit: limit}
	}
	return key, loaded{typ, slices.Clone(narrow(c.scratch.Bytes()))}, nil
}

// release ends a lease without records in the buffer.
func (f *feed) release(h *holding, end queue.End) {
	end.Lease = h.name()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held.remove(h)
	f.ends = append(f.ends, end)
	f.again = true
}

// IndexKeys adds keys to Options.Queue without documents. Before they are sent, Options.Loader reads the documents.
func (s *sender) IndexKeys(ctx context.Context, changed ...string) error {
	if s.feed == nil {
		return &AddError{Err: errors.New("IndexKeys needs Options.Queue, and Options.Loader in the sending process")}
	}
	return s.feed.appendKeys(orBackground(ctx), changed)
}
