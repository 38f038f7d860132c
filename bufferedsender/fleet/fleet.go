package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Fleet holds the senders of a service. Create one with New, and Close it.
type Fleet struct {
	service Service
	options Options
	pool    *pool.Pool
	breaker *breaker.Breaker // of the service
	tuner   *tuner           // nil without Tuning
	began   time.Time
	cancel  []func() // subscriptions of the fleet

	held      atomic.Int64 // senders whose breakers are not closed
	made      atomic.Int64 // senders that exist
	downSince atomic.Int64 // when the service breaker opened, in Unix nanoseconds; 0: closed
	purging   atomic.Bool
	doubting  sync.Mutex
	ended     chan struct{} // closed by Close

	pausing sync.Mutex // held while indexes are paused or resumed; locked before mu

	mu      sync.Mutex // guards everything below
	entries map[string]*entry
	gone    bufferedsender.Stats // of closed senders
	paused  bool                 // future indexes
	closed  bool
}

// entry is one index of a fleet.
type entry struct {
	name string

	lock   chan struct{} // capacity 1; held while the sender is created or dropped, which may take long; guards the next fields
	sender atomic.Value  // of holder
	member *pool.Member
	cancel func()       // unsubscribes from its breaker
	gone   bool         // the index was dropped, or the fleet closed
	left   atomic.Bool  // the index is being dropped
	paused bool         // guarded by Fleet.pausing
	known  bool         // kept without a sender; guarded by Fleet.mu
	opened atomic.Int64 // when its breaker opened, in Unix nanoseconds; 0: closed
	absent atomic.Bool  // when it opened last, the service answered that the index does not exist

	watch   sync.Mutex // guards changes of opened
	watched bool       // changes of opened count

	counted atomic.Bool // its sender was closed, and is included in Fleet.gone

	// Used by doubt, guarded by Fleet.doubting: the number of completed actions, and when it last increased.
	done   int64
	doneAt time.Time
}

// sender is a BufferedSender without its document type.
type sender interface {
	Flush(ctx context.Context, opts *bufferedsender.FlushOptions) error
	Close(ctx context.Context) error
	Pause()
	Resume()
	Purge(ctx context.Context, most int) int
	bufferedsender.Observable
	Breaker() *breaker.Breaker
	Raw() *bufferedsender.RawSender
}

// holder allows senders of different types in one atomic.Value.
type holder struct{ sender }

// get returns the sender, or nil if there is none.
func (e *entry) get() sender {
	h, _ := e.sender.Load().(holder)
	return h.sender
}

// ErrClosed means that the fleet is closed.
var ErrClosed = errors.New("fleet is closed")

// New returns a fleet without senders. It makes no request. Its error names every problem of the options.
func New(service Service, opts *Options) (*Fleet, error) {
	o, err := opts.withDefaults()
	errs := []error{err}
	if nilcheck.IsNil(service) {
		errs = append(errs, errors.New("service is nil: use From, with the methods of a *search.IndexClient"))
	}
	p, err := pool.New(o.Pool)
	errs = append(errs, err)
	whole, err := breaker.New(ofService(o.Breaker))
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f := &Fleet{
		service: service, options: o, pool: p, breaker: whole, began: time.Now(), entries: make(map[string]*entry), ended: make(chan struct{}),
	}
	if o.Tuning != tuning.Fixed() {
		f.tuner = newTuner(o.Tuning, p, f.began)
	}
	f.cancel = append(f.cancel, whole.Subscribe(f.serviceChanged))
	stop, err := f.observe(o.MeterProvider)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f.cancel = append(f.cancel, stop)
	return f, nil
}

// longestDown is the longest time between two probes of the service. One request for all indexes costs little. If the
// probe belongs to an index that fails for its own reasons, the others wait for the next probe.
const longestDown = 5 * time.Second

// ofService returns the options of the service breaker.
func ofService(opts *breaker.Options) *breaker.Options {
	var o breaker.Options
	if opts != nil {
		o = *opts
	}
	o.MaxOpenFor = max(longestDown, o.OpenFor)
	return &o
}

// Pool returns the fleet's pool, to run other work in its slots (pool.Member.Do) and to change its settings at run
// time. SetOptions replaces all settings, including the bound of the buffers, so start from the current ones:
//
//	s := f.Pool().Options()
//	s.Expedited = 8
//	err := f.Pool().SetOptions(s)
func (f *Fleet) Pool() *pool.Pool { return f.pool }

// Breaker returns the service breaker. The breaker of an index is its sender's.
func (f *Fleet) Breaker() *breaker.Breaker { return f.breaker }

// Discover adds all indexes of the service to the fleet and returns their names, sorted. It creates no senders, and
// drops no index that has disappeared.
func (f *Fleet) Discover(ctx context.Context) ([]string, error) {
	var names []string
	for name, err := range f.service.IndexNames(ctx) {
		if err != nil {
			return nil, fmt.Errorf("fleet: list the indexes: %w", err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if _, err := f.know(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// Indexes returns the names of all indexes of the fleet, sorted.
func (f *Fleet) Indexes() []string {
	all := f.all()
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.name
	}
	return names
}

// Senders returns the existing senders by index. It creates none.
func (f *Fleet) Senders() map[string]bufferedsender.Observable {
	senders := make(map[string]bufferedsender.Observable)
	for _, e := range f.all() {
		if s := e.get(); s != nil {
			senders[e.name] = s
		}
	}
	return senders
}

// all returns all entries, sorted by name.
func (f *Fleet) all() []*entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*entry, 0, len(f.entries))
	for _, e := range f.entries {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(a.name, b.name) })
	return all
}

// entry returns the entry of an index. It creates a missing one.
func (f *Fleet) entry(index string) (*entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, fmt.Errorf("fleet: %w", ErrClosed)
	}
	e := f.entries[index]
	if e == nil {
		e = &entry{name: index, lock: make(chan struct{}, 1), paused: f.paused}
		f.entries[index] = e
	}
	return e, nil
}

// know returns the entry of an index and keeps it even without a sender.
func (f *Fleet) know(index string) (*entry, error) {
	e, err := f.entry(index)
	if err == nil {
		f.mu.Lock()
		e.known = true
		f.mu.Unlock()
	}
	return e, err
}

// Sender returns the sender of an index. The first call creates it with opts; later ones return it and ignore opts.
// Asking for another document type is an error: use models.Document if types differ, or Fleet.Raw. The fleet sets
// Share, Tuning if it has one, and Outage except for its WhenFull and OnPurged. Logger and MeterProvider default to the
// fleet's.
//
// Drop or Close closes the sender. While Drop runs, the error is bufferedsender.ErrClosed: try again after Drop has
// returned. After Close it is fleet.ErrClosed.
func Sender[T any](f *Fleet, index string, opts *bufferedsender.Options[T]) (*bufferedsender.BufferedSender[T], error) {
	e, err := f.entry(index)
	if err != nil {
		return nil, err
	}
	s, err := f.use(e, func() (sender, error) { return open(f, e, opts) })
	if err != nil {
		return nil, fmt.Errorf("fleet: the sender of index %q: %w", index, err)
	}
	typed, ok := s.(*bufferedsender.BufferedSender[T])
	if !ok {
		return nil, fmt.Errorf("fleet: the sender of index %q is a %T, not a %T: use one document type for an index, or Fleet.Raw", index, s, typed)
	}
	return typed, nil
}

// Raw returns the sender of an index for encoded actions. It creates a missing sender for models.Document, with default
// options.
func (f *Fleet) Raw(index string) (*bufferedsender.RawSender, error) {
	e, err := f.entry(index)
	if err != nil {
		return nil, err
	}
	s, err := f.use(e, func() (sender, error) { return open[models.Document](f, e, nil) })
	if err != nil {
		return nil, fmt.Errorf("fleet: the sender of index %q: %w", index, err)
	}
	return s.Raw(), nil
}

var errDropped = fmt.Errorf("%w by a running Drop: try again after it has returned", bufferedsender.ErrClosed)

// whyGone returns why an entry has no sender any more.
func (f *Fleet) whyGone() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	return errDropped
}

// use returns the sender of an entry. It creates a missing one.
func (f *Fleet) use(e *entry, open func() (sender, error)) (sender, error) {
	e.lock <- struct{}{}
	defer func() { <-e.lock }()
	if e.gone {
		return nil, f.whyGone()
	}
	if s := e.get(); s != nil {
		return s, nil
	}
	s, err := open()
	if err != nil {
		f.mu.Lock()
		if !e.known && f.entries[e.name] == e { // the index may not exist
			e.gone = true
			delete(f.entries, e.name)
		}
		f.mu.Unlock()
		return nil, err
	}
	e.sender.Store(holder{s})
	if e.left.Load() { // Close or Drop did not wait
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		err := s.Close(ended)
		e.gone = true
		f.retire(e, s)
		return nil, errors.Join(f.whyGone(), err)
	}
	f.pausing.Lock()
	defer f.pausing.Unlock()
	if e.paused {
		s.Pause()
	}
	return s, nil
}

// open creates the sender of an entry. Its lock must be held.
func open[T any](f *Fleet, e *entry, opts *bufferedsender.Options[T]) (_ sender, err error) {
	var o bufferedsender.Options[T]
	if opts != nil {
		o = *opts
	}
	hold, err := held(o.Outage)
	if o.Share != nil {
		err = errors.Join(err, errors.New("the options have a Share: leave it out, the fleet has a pool of its own"))
	}
	if err != nil {
		return nil, err
	}
	if hold.Breaker, err = breaker.New(f.options.Breaker); err != nil {
		return nil, err
	}
	hold.Service = f.breaker
	if f.options.Hints != nil {
		hold.OnPurged = f.alsoRemember(e.name, hold.OnPurged)
	}
	o.Outage = hold
	if f.tuner != nil {
		o.Tuning = f.tuner.policy()
	}
	if o.Logger == nil {
		o.Logger = f.options.Logger
	}
	if o.MeterProvider == nil {
		o.MeterProvider = f.options.MeterProvider
	}
	indexer, err := f.service.Indexer(e.name)
	if err != nil {
		return nil, err
	}
	if o.Share, err = f.pool.Join(e.name); err != nil {
		return nil, err
	}
	s, err := bufferedsender.New(indexer, &o)
	if err != nil {
		o.Share.Leave()
		return nil, err
	}
	e.watched = true
	e.member, e.cancel = o.Share, hold.Breaker.Subscribe(func(c breaker.Change) { f.indexChanged(e, c) })
	f.made.Add(1)
	return s, nil
}

// held returns the Hold in the options of a sender.
func held(o bufferedsender.Outage) (bufferedsender.Hold, error) {
	var h bufferedsender.Hold
	switch o := o.(type) {
	case nil:
	case bufferedsender.Hold:
		h = o
	case *bufferedsender.Hold:
		if o != nil {
			h = *o
		}
	default:
		return h, fmt.Errorf("Options.Outage: got %T, want bufferedsender.Hold or nil in a fleet", o)
	}
	if h.Breaker != nil || h.Service != nil {
		return h, errors.New("the option Outage has a breaker: leave it out, the fleet makes one for each index and one for the service (Options.Breaker)")
	}
	return h, nil
}
