package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
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

// load asks the Loader for the truth about keys of which only it is known that they have
// changed. What it says nothing about is released, or deleted if Options.DeleteMissing says
// so; after an error all are released.
//
// After an error it is left alone for a while, whatever else is reserved meanwhile.
func (f *feed) load(holdings []*holding) map[*holding]loaded {
	if len(holdings) == 0 {
		return nil
	}
	byKey := make(map[string]*holding, len(holdings))
	keys := make([]string, len(holdings))
	for i, h := range holdings {
		keys[i] = h.lease.Key
		byKey[h.lease.Key] = h
	}
	if wait := time.Until(f.loadAfter); wait > 0 {
		for _, h := range holdings {
			f.release(h, queue.End{Fate: queue.Release, After: wait})
		}
		return nil
	}
	n, put, err := f.askLoader(keys)
	found := make(map[*holding]loaded, n)
	bad := make(map[*holding]error)
	c := f.s.newChunk(f.ctx, 1)
	defer c.free()
	for i := 0; err == nil && i < n; i++ {
		put(i, c)
		key, l, wrong := encodeLoaded(c)
		h := byKey[key]
		switch {
		case h == nil && wrong != nil:
			err = fmt.Errorf("action %d: %w", i, wrong)
		case h == nil:
			err = fmt.Errorf("action %d is about the key %q, which was not asked for", i, key)
		case wrong != nil:
			bad[h] = wrong // its own business, and not that of its neighbours
		case found[h].body != nil:
			err = fmt.Errorf("there are two actions about the key %q", key)
		default:
			found[h] = l
		}
	}
	if err != nil {
		// All together and ever later: a database that is down is not asked for each key.
		after := backOff(f.loadsFailed, unknownFirst, time.Minute)
		f.loadsFailed++
		f.loadAfter = time.Now().Add(after)
		f.log("the Loader has failed: its keys wait in the queue", err)
		for _, h := range holdings {
			f.release(h, queue.End{Fate: queue.Release, After: after})
		}
		return nil
	}
	f.loadsFailed = 0
	for _, h := range holdings {
		if _, ok := found[h]; ok {
			continue
		}
		field := f.s.keyField.name()
		switch tries := h.lease.Tries; {
		case f.s.options.DeleteMissing && field != "" && bad[h] == nil:
			found[h] = loaded{models.ActionTypeDelete, models.AppendDelete(nil, field, h.lease.Key)}
		case tries+1 >= unknownTries:
			f.release(h, queue.End{Fate: queue.Park, Reason: parkedBecause(tries+1, bad[h])})
		default:
			f.release(h, queue.End{Fate: queue.Release, Again: true, After: backOff(tries, unknownFirst, unknownLast)})
		}
	}
	return found
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
	end.Lease = queue.Lease{Key: h.lease.Key, Token: h.lease.Token}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held, h)
	f.records -= h.left
	f.bytes -= h.bytes
	f.ends = append(f.ends, end)
	f.again = true
}

// backOff doubles with each try, and is drawn from the upper half.
func backOff(tries int, first, last time.Duration) time.Duration {
	d := last
	if tries < 30 {
		d = min(first<<tries, last)
	}
	return d/2 + rand.N(d/2+1)
}

// IndexKeys adds keys of which only it is known that they have changed: what the documents are
// is asked of Options.Loader when they are sent. So nothing of the order in which changes
// happen can go wrong, and a key that changes often is read and sent once. It needs a
// Queue and reports like UploadDocuments.
func (s *sender) IndexKeys(ctx context.Context, changed ...string) error {
	if s.feed == nil {
		return &AddError{Err: errors.New("IndexKeys needs Options.Queue, and a Loader where it is sent")}
	}
	return s.feed.appendKeys(orBackground(ctx), changed)
}
