package rebuild

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

// defaultIdleValid is how long a tap relies on a record without a rebuild.
const defaultIdleValid = time.Minute

// Other validity times and timeouts of a tap.
const (
	routeValid = 200 * time.Millisecond // a record of a rebuild under way
	margin     = 50 * time.Millisecond  // closing waits so much longer
	patience   = 2 * time.Second        // for a closed record, which should open within a second
	look       = 50 * time.Millisecond  // between two reads while waiting
	noteAge    = 10 * time.Minute       // how long the route of a key is kept at least
)

// TapOptions configures NewTap.
type TapOptions struct {
	// Writer is the name of the writing program, as in Options.Writers of a rebuild. All its processes use the same name.
	// Required.
	Writer string
	// Index is the index that writers write to before the first rebuild: an index, not an alias. Required.
	Index string
	// Connect returns the client of an index, as search.IndexClient.Client does. It is called once for each index, and must
	// not block. Required.
	Connect func(index string) (Indexer, error)
	// IdleValid is how long taps rely on a read of the record while there is no rebuild. A longer time means fewer reads of
	// the store, and a longer wait of Run before it begins. As with Index, only the first process's value counts: the
	// record keeps it for all. Defaults to a minute; a second to an hour.
	IdleValid time.Duration
}

// Tap routes, marks and confirms the requests of one sender. It implements models.Tap. Make one for each sender, and
// give the sender both the tap and its Indexer:
//
//	tap, err := rebuild.NewTap(ctx, store, options)
//	sender, err := bufferedsender.New(tap.Indexer(), &bufferedsender.Options[Hotel]{Tap: tap})
//
// Without a rebuild it reads the record once a minute, see TapOptions.IdleValid. During a rebuild it marks the keys of
// each request twice. While the store cannot be read, nothing is sent, and requests already sent are not confirmed but
// sent again later. Its methods are safe for concurrent use.
type Tap struct {
	store Store
	opts  TapOptions
	// Both clocks of time.Time, separately, so that tests can stop one.
	monotonic func() time.Time
	wall      func() time.Time

	mu      sync.Mutex
	record  Record
	read    instant            // when the read of record was started
	reads   int                // how often record was set
	notes   map[string]string  // the route by which Before let a key pass
	older   map[string]string  // notes from before turned
	turned  time.Time          // when notes became older
	clients map[string]Indexer // by index name
	wired   bool               // Indexer was called
}

var _ models.Tap = (*Tap)(nil)

// instant is a time by two clocks.
type instant struct{ monotonic, wall time.Time }

// NewTap registers the writer and returns a tap. Without a record it creates one for TapOptions.Index; otherwise the
// index of the record counts. The error is that of the store, or names every invalid option.
func NewTap(ctx context.Context, store Store, opts TapOptions) (*Tap, error) {
	var errs []error
	if nilcheck.IsNil(store) {
		errs = append(errs, errors.New("store is nil: use a *rebuild.SQL, or a *rebuild.Memory in tests"))
	}
	if opts.Writer == "" {
		errs = append(errs, errors.New("TapOptions.Writer is empty: name the program that writes"))
	}
	if opts.Index == "" {
		errs = append(errs, errors.New("TapOptions.Index is empty: name the index that is written to now"))
	}
	if opts.Connect == nil {
		errs = append(errs, errors.New("TapOptions.Connect is nil: return the client of an index"))
	}
	if opts.IdleValid != 0 && opts.IdleValid < time.Second || opts.IdleValid > time.Hour {
		errs = append(errs, fmt.Errorf("TapOptions.IdleValid is %v: use a second to an hour, or 0 for the default of %v", opts.IdleValid, defaultIdleValid))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("rebuild: %w", err)
	}
	store = returning(store)
	t := &Tap{
		store: store, opts: opts,
		monotonic: time.Now, wall: func() time.Time { return time.Now().Round(0) },
		notes: map[string]string{}, clients: map[string]Indexer{},
	}
	t.turned = t.monotonic()
	if err := store.Register(ctx, opts.Writer, t.wall()); err != nil {
		return nil, err
	}
	t.record.Route = opts.Index
	c, err := t.client()
	if err != nil {
		return nil, err
	}
	if _, err := begin(ctx, store, Record{Phase: PhaseIdle, Route: opts.Index, Endpoint: endpointOf(c), IdleValid: opts.IdleValid}); err != nil {
		return nil, err
	}
	r, err := t.load(ctx)
	if err != nil {
		return nil, err
	}
	return t, r.of(c)
}

// begin returns the record, and creates it as first if there is none.
func begin(ctx context.Context, store Store, first Record) (Record, error) {
	r, err := store.Load(ctx)
	if err != nil || r.Version > 0 {
		return r, err
	}
	r, err = store.Swap(ctx, first)
	if errors.Is(err, ErrChanged) {
		return store.Load(ctx)
	}
	return r, err
}

// Index returns the index that writers write to, as far as the tap knows. A change is seen with the first request after
// the last read has expired (TapOptions.IdleValid).
func (t *Tap) Index() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.record.Route
}

// Before implements models.Tap.
func (t *Tap) Before(ctx context.Context, keys []string) error {
	if err := t.Unwired(); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return t.until(ctx, func(r Record) (bool, error) {
		if r.Phase.marks() {
			if _, err := t.store.Mark(ctx, r.Epoch, keys); err != nil {
				return false, err
			}
		}
		t.note(keys, r.Route)
		return true, nil
	})
}

// Confirm implements models.Tap.
func (t *Tap) Confirm(ctx context.Context, keys []string) (again bool, err error) {
	err = t.until(ctx, func(r Record) (bool, error) {
		if again = !t.wentTo(keys, r.Route); again || r.Phase == PhaseIdle {
			return true, nil
		}
		round, err := t.store.Mark(ctx, r.Epoch, keys)
		if err != nil || r.Phase != PhaseSwapped {
			return err == nil, err
		}
		return true, t.drained(ctx, r.Epoch, round)
	})
	if err == nil && !again {
		t.forget(keys)
	}
	return again, err
}

// drained waits until the marks of a round are in the new index. It returns ErrStale if the record has changed.
func (t *Tap) drained(ctx context.Context, epoch, round int64) error {
	var last int64
	for quiet := 0; quiet < int(10*patience/look); quiet++ {
		r, err := t.load(ctx)
		switch {
		case err != nil:
			return err
		case r.Phase != PhaseSwapped || r.Epoch != epoch:
			return ErrStale
		case r.Drained >= round:
			return nil
		case r.Version != last: // Run is at work and has much to copy
			last, quiet = r.Version, 0
		}
		if err := sleep.For(ctx, look); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w until the new index has their writes: call Run again, or Abort", ErrClosed)
}

// until calls act with a valid record until act is done. It waits while the record is closed, and retries with a new
// record if act returns ErrStale.
func (t *Tap) until(ctx context.Context, act func(Record) (done bool, err error)) error {
	for range int(patience / look) {
		r, err := t.valid(ctx)
		if err != nil {
			return err
		}
		if r.Phase == PhaseClosed {
			if err := sleep.For(ctx, look); err != nil {
				return err
			}
		} else if done, err := act(r); done || err != nil && !errors.Is(err, ErrStale) {
			return err
		}
		// The record is closed, or the store has a newer one than r.
		if _, err := t.load(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: call Run again, or Abort", ErrClosed)
}

// valid returns the record last read if it is recent enough, and otherwise reads it.
func (t *Tap) valid(ctx context.Context) (Record, error) {
	t.mu.Lock()
	r, read := t.record, t.read
	t.mu.Unlock()
	limit := routeValid
	if r.Phase == PhaseIdle {
		limit = r.idleValid()
	}
	now := t.now()
	// If a clock was put back, the age is unknown.
	if a, b := now.monotonic.Sub(read.monotonic), now.wall.Sub(read.wall); a >= 0 && a < limit && b >= 0 && b < limit {
		return r, nil
	}
	return t.load(ctx)
}

func (t *Tap) now() instant { return instant{t.monotonic(), t.wall()} }

// load reads the record.
func (t *Tap) load(ctx context.Context) (Record, error) {
	t.mu.Lock()
	before := t.reads
	t.mu.Unlock()
	asked := t.now() // the record may change at any time after this
	r, err := t.store.Load(ctx)
	if err != nil {
		return Record{}, fmt.Errorf("rebuild: the tap of %q cannot be read, so nothing is sent: %w", t.opts.Writer, err)
	}
	if r.Version == 0 {
		return Record{}, errors.New("rebuild: the record was deleted; create the taps again, or restore it")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// Of two concurrent reads the older may come last. A read that began when that of t.record had ended is newer whatever
	// its version: the store may have lost the record, or has an earlier one from a backup.
	if r.Version >= t.record.Version || t.reads == before {
		t.record, t.read = r, asked
		t.reads++
	}
	return t.record, nil
}

// note records the index that keys were sent to.
func (t *Tap) note(keys []string, route string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.monotonic(); now.Sub(t.turned) > noteAge {
		t.notes, t.older, t.turned = map[string]string{}, t.notes, now
	}
	for _, key := range keys {
		t.notes[strings.Clone(key)] = route
	}
}

// wentTo reports whether Before has let all keys pass to an index. Keys without a note count as not sent.
func (t *Tap) wentTo(keys []string, route string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		to, ok := t.notes[key]
		if !ok {
			to, ok = t.older[key]
		}
		if !ok || to != route {
			return false
		}
	}
	return true
}

// Drops the notes of confirmed keys.
func (t *Tap) forget(keys []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		delete(t.notes, key)
		delete(t.older, key)
	}
}
