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

// defaultIdleValid is how long a tap goes by a record without a rebuild.
const defaultIdleValid = time.Minute

// How long else what a tap knows is valid, and how long it is patient.
const (
	routeValid = 200 * time.Millisecond // the index that writers write to, while there is one
	margin     = 50 * time.Millisecond  // that closing waits for longer
	patience   = 2 * time.Second        // for a record that is closed, which it may be for a second
	look       = 50 * time.Millisecond  // between two reads while waiting
	noteAge    = 10 * time.Minute       // for which the route of a key is remembered at least
)

// TapOptions are the options of NewTap.
type TapOptions struct {
	// Writer is the name of the program that writes: Options.Writers of a rebuild has it. All
	// its processes have the same. Must be given.
	Writer string
	// Index is the index that writers write to as long as nobody has rebuilt it: an index, not
	// an alias. Must be given.
	Index string
	// Connect returns the client of an index, as search.IndexClient.Client does. It is called
	// once for each index, and must not block. Must be given.
	Connect func(index string) (Indexer, error)
	// IdleValid is how long taps go by what they have read while there is no rebuild: so seldom is the store asked,
	// and so long does a Run wait before it begins. Like Index it counts for whoever comes first: the record keeps
	// it, for all. Defaults to a minute; a second to an hour.
	IdleValid time.Duration
}

// Tap is the gate between a sender and its index. It is a models.Tap. Make one for each sender, and give
// the sender both the tap and its Indexer:
//
//	tap, err := rebuild.NewTap(ctx, store, options)
//	sender, err := bufferedsender.New(tap.Indexer(), &bufferedsender.Options[Hotel]{Tap: tap})
//
// Without a rebuild it reads the record once a minute, see TapOptions.IdleValid. While one is under way it marks the
// keys of each request twice. While the store cannot be read nothing is sent, or what was sent is not confirmed and
// sent again later. Its methods are safe for concurrent use.
type Tap struct {
	store Store
	opts  TapOptions
	// The two clocks: what time.Time has of both by itself. Tests stop one.
	monotonic func() time.Time
	wall      func() time.Time

	mu      sync.Mutex
	record  Record
	read    instant            // when record was asked for
	notes   map[string]string  // the route with which Before has let a key go
	older   map[string]string  // the same, of the time before turned
	turned  time.Time          // when notes became older
	clients map[string]Indexer // by the name of the index
	wired   bool               // the Indexer was asked for
}

var _ models.Tap = (*Tap)(nil)

// instant is a time by two clocks.
type instant struct{ monotonic, wall time.Time }

// NewTap registers the writer and returns a tap. If there is no record yet it makes one, with
// the index of the options. Then the index is the one of the record, whatever the options say. The error
// names every problem of the options at once, or is that of the store.
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

// begin returns the record, which is first if there is none.
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

// Index returns the index that writers write to, as far as the tap knows: new within a minute
// after it has changed, or with the next request.
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

// drained waits until what was marked in a round is in the new index. ErrStale says that the
// record has become another one.
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
		case r.Version != last: // Run is at work, and has much to bring over
			last, quiet = r.Version, 0
		}
		if err := sleep.For(ctx, look); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w for what they have written to be in the new index too: call Run again, or Abort", ErrClosed)
}

// until calls act with a record that is valid, until it is done. It waits while the record is
// closed, and begins anew when act finds that the record has changed.
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
		// It is closed, or what the store has is another record than r.
		if _, err := t.load(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: call Run again, or Abort", ErrClosed)
}

// valid returns the record as it was read, if that is not too long ago, and else as it is.
func (t *Tap) valid(ctx context.Context) (Record, error) {
	t.mu.Lock()
	r, read := t.record, t.read
	t.mu.Unlock()
	limit := routeValid
	if r.Phase == PhaseIdle {
		limit = r.idleValid()
	}
	now := t.now()
	// A clock that was put back shows nothing.
	if a, b := now.monotonic.Sub(read.monotonic), now.wall.Sub(read.wall); a >= 0 && a < limit && b >= 0 && b < limit {
		return r, nil
	}
	return t.load(ctx)
}

func (t *Tap) now() instant { return instant{t.monotonic(), t.wall()} }

// load reads the record.
func (t *Tap) load(ctx context.Context) (Record, error) {
	asked := t.now() // what is read may have changed as soon as it was asked for
	r, err := t.store.Load(ctx)
	if err != nil {
		return Record{}, fmt.Errorf("rebuild: the tap of %q cannot be read, so nothing is sent: %w", t.opts.Writer, err)
	}
	if r.Version == 0 {
		return Record{}, errors.New("rebuild: the record was deleted; create the taps again, or restore it")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Version >= t.record.Version { // of two that read at once the older may come last
		t.record, t.read = r, asked
	}
	return t.record, nil
}

// note remembers to which index keys go.
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

// wentTo reports whether Before has let all the keys go to an index. What it does not
// remember went nowhere.
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

// forget drops the notes of keys that are confirmed.
func (t *Tap) forget(keys []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		delete(t.notes, key)
		delete(t.older, key)
	}
}
