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

// What the Loader does not know is asked for again after a second, then after two, and so
// on up to an hour, ten times.
const (
	unknownFirst = time.Second
	unknownLast  = time.Hour
	unknownTries = 10
)

// loaded is what the Loader says about a key.
type loaded struct {
	typ  models.ActionType
	body []byte
}

// loading is what the feed's goroutine knows of the Loader.
type loading struct {
	relay.Loads
	after time.Time // it is not asked before
}

// slowLoad is how long the Loader may have failed before outcomes do not wait for it any more.
const slowLoad = 5 * time.Second

// load asks the Loader for the truth about keys of which only it is known that they have
// changed. After an error it is asked for fewer keys; the one that it fails for alone is released, and all are if it
// fails for each: then it is left alone for a while, whatever else is reserved meanwhile.
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

// loadSome adds what the Loader says about some keys. What it says nothing about is released, or deleted if
// Options.DeleteMissing says so.
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
		default: // what cannot be sent is its own business, and not that of its neighbours
			f.release(h, queue.End{Fate: queue.Release, Again: true, After: relay.BackOff(tries, unknownFirst, unknownLast)})
		}
	}
	return nil
}

// askLoader calls the function of the program, whose panic is an error.
func (f *feed) askLoader(keys []string) (n int, put func(i int, c *chunk), err error) {
	if !f.s.options.loads {
		return 0, nil, errors.New("there is no Options.Loader, and the queue has keys without documents")
	}
	if f.s.options.DeleteMissing || !f.s.options.keyFunc {
		if _, err := f.s.keyField.resolve(f.ctx); err != nil {
			return 0, nil, err
		}
	}
	// On a goroutine of its own, which it may end, and which is left behind if it does not
	// return when the sender is closed.
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
		return fmt.Sprintf("what the Loader says cannot be sent, %d times: %v", times, bad)
	}
	return fmt.Sprintf("the Loader did not know the key, %d times", times)
}

// encodeLoaded encodes an action of the Loader.
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
	return key, loaded{typ, slices.Clone(narrow(c.scratch.Bytes()))}, nil
}

// release ends a lease of which nothing was put into the buffer.
func (f *feed) release(h *holding, end queue.End) {
	end.Lease = h.name()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held.remove(h)
	f.ends = append(f.ends, end)
	f.again = true
}

// IndexKeys adds keys of Options.Queue whose documents Options.Loader reads.
func (s *sender) IndexKeys(ctx context.Context, changed ...string) error {
	if s.feed == nil {
		return &AddError{Err: errors.New("IndexKeys needs Options.Queue, and a Loader where it is sent")}
	}
	return s.feed.appendKeys(orBackground(ctx), changed)
}
