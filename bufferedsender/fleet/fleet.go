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

// Fleet has the senders of a service. Make one with New, and Close it.
type Fleet struct {
	service Service
	options Options
	pool    *pool.Pool
	breaker *breaker.Breaker // of the service
	tuner   *tuner           // nil without Tuning
	began   time.Time
	cancel  []func() // what the fleet watches

	held      atomic.Int64 // senders whose breakers are not closed
	made      atomic.Int64 // senders there are
	downSince atomic.Int64 // when the breaker of the service opened, in Unix nanoseconds; 0: it is closed
	purging   atomic.Bool
	doubting  sync.Mutex
	ended     chan struct{} // closed by Close

	mu      sync.Mutex // guards everything below
	entries map[string]*entry
	gone    bufferedsender.Stats // of senders that were closed
	paused  bool                 // all, those to come too
	closed  bool
}

// entry is an index.
type entry struct {
	name string

	lock   chan struct{} // has a token while somebody makes or drops the sender, which may take long; guards what is below
	sender atomic.Value  // of holder
	member *pool.Member
	cancel func()       // from its breaker
	gone   bool         // it was dropped, or the fleet closed
	left   atomic.Bool  // it is to be gone
	paused atomic.Bool  // by its name
	known  bool         // also without a sender; guarded by Fleet.mu
	opened atomic.Int64 // when its breaker opened, in Unix nanoseconds; 0: it is closed
	absent atomic.Bool  // when it opened last, the service answered that there is no such index

	watch   sync.Mutex // guards changes of opened
	watched bool       // they count

	counted atomic.Bool // its sender was closed, and is in Fleet.gone

	// Of doubt, guarded by Fleet.doubting: how many actions were completed, and when there was last seen to be one
	// more.
	done   int64
	doneAt time.Time
}

// sender is a BufferedSender without its type of documents.
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

// holder lets senders of different types be in one atomic.Value.
type holder struct{ sender }

// get returns the sender, or nil if the index is not used.
func (e *entry) get() sender {
	h, _ := e.sender.Load().(holder)
	return h.sender
}

// ErrClosed is the error of using a fleet after Close.
var ErrClosed = errors.New("the fleet is closed")

// New returns a fleet without senders. It makes no request. The error names every problem of the options.
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

// longestDown is the longest time between two requests that try whether the service works. One request of all indexes
// costs little, and the one that tries may be of an index that is sick by itself, so that the others would wait for
// the next.
const longestDown = 5 * time.Second

// ofService returns the options of the breaker of the service.
func ofService(opts *breaker.Options) *breaker.Options {
	var o breaker.Options
	if opts != nil {
		o = *opts
	}
	o.MaxOpenFor = max(longestDown, o.OpenFor)
	return &o
}

// Pool returns the pool of the fleet: for other work under the same slots (pool.Member.Do), and to change its
// settings at run time. SetOptions replaces all of them, the bound of the buffers too, so begin with those that are in
// force:
//
//	s := f.Pool().Options()
//	s.Expedited = 8
//	err := f.Pool().SetOptions(s)
func (f *Fleet) Pool() *pool.Pool { return f.pool }

// Breaker returns the breaker of the service. That of an index is its sender's.
func (f *Fleet) Breaker() *breaker.Breaker { return f.breaker }

// Discover makes all indexes of the service known to the fleet, and returns their names, sorted. It makes no
// senders, and drops no index that is gone.
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

// Indexes returns the names of all indexes that the fleet knows, sorted.
func (f *Fleet) Indexes() []string {
	all := f.all()
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.name
	}
	return names
}

// Senders returns the senders there are, by index. It makes none.
func (f *Fleet) Senders() map[string]bufferedsender.Observable {
	senders := make(map[string]bufferedsender.Observable)
	for _, e := range f.all() {
		if s := e.get(); s != nil {
			senders[e.name] = s
		}
	}
	return senders
}

// all returns all entries, by name.
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

// entry returns the entry of an index, which it makes.
func (f *Fleet) entry(index string) (*entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, fmt.Errorf("fleet: %w", ErrClosed)
	}
	e := f.entries[index]
	if e == nil {
		e = &entry{name: index, lock: make(chan struct{}, 1)}
		f.entries[index] = e
	}
	return e, nil
}

// know returns the entry of an index, which stays although there is no sender.
func (f *Fleet) know(index string) (*entry, error) {
	e, err := f.entry(index)
	if err == nil {
		f.mu.Lock()
		e.known = true
		f.mu.Unlock()
	}
	return e, err
}

// Sender returns the sender of an index: the first call makes it with opts, later ones return the same, whatever
// their opts. It is an error to ask for documents of another type: use models.Document if they differ, or
// Fleet.Raw. The fleet sets Share, Tuning if it has one, and Outage except for its WhenFull and OnPurged; Logger
// and MeterProvider are the fleet's unless set.
//
// Drop or Close closes the sender. While Drop runs the error is bufferedsender.ErrClosed: try again when Drop has
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
		return nil, fmt.Errorf("fleet: the sender of index %q is a %T and no %T: use one type of documents for an index, or Fleet.Raw", index, s, typed)
	}
	return typed, nil
}

// Raw returns the sender of an index for actions that are encoded already. If there is none yet it makes one, of
// models.Document and with default options.
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

var errDropped = fmt.Errorf("%w by a Drop under way: try again when that has returned", bufferedsender.ErrClosed)

// whyGone says why an entry has no sender any more.
func (f *Fleet) whyGone() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	return errDropped
}

// use returns the sender of an entry, which it makes.
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
		if !e.known && f.entries[e.name] == e { // there may be no such index
			e.gone = true
			delete(f.entries, e.name)
		}
		f.mu.Unlock()
		return nil, err
	}
	e.sender.Store(holder{s})
	if e.left.Load() { // Close or Drop has not waited
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		err := s.Close(ended)
		e.gone = true
		f.retire(e, s)
		return nil, errors.Join(f.whyGone(), err)
	}
	f.mu.Lock()
	paused := f.paused // Pause sets it before it looks for senders
	f.mu.Unlock()
	if paused || e.paused.Load() {
		s.Pause()
	}
	return s, nil
}

// open makes the sender of an entry, whose lock is held.
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

// held returns the Hold that the options of a sender bring.
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

// Drop closes the sender of an index, as bufferedsender.BufferedSender.Close does, and removes the index from the
// fleet. The next Sender makes a new one. Its hints stay. It returns what Close returned, nil if there was no
// sender. In a callback of the sender it is refused, and nothing changes.
func (f *Fleet) Drop(ctx context.Context, index string) error {
	e := f.find(index)
	if e == nil {
		return nil
	}
	over, err := f.end(ctx, e)
	if over {
		f.forget(e)
	}
	return err
}

// find returns the entry of an index, or nil.
func (f *Fleet) find(index string) *entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.entries[index]
}

// forget takes an entry out of the table.
func (f *Fleet) forget(e *entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.entries[e.name] == e {
		delete(f.entries, e.name)
	}
}

// end closes the sender of an entry, if there is one, and lets none be made any more. It may be called more than
// once. It is not over if the sender has refused to close, because this is one of its callbacks.
func (f *Fleet) end(ctx context.Context, e *entry) (over bool, err error) {
	e.left.Store(true)
	select {
	case e.lock <- struct{}{}:
	default:
		select {
		case e.lock <- struct{}{}:
		case <-ctx.Done(): // it is being made, which takes too long; whoever makes it closes it
			return true, fmt.Errorf("its client is still being made: %w", context.Cause(ctx))
		}
	}
	e.gone = true
	<-e.lock
	s := e.get()
	if s == nil {
		return true, nil
	}
	err = s.Close(ctx)
	e.lock <- struct{}{}
	defer func() { <-e.lock }()
	if errors.Is(err, bufferedsender.ErrInCallback) {
		e.gone = false
		e.left.Store(false)
		return false, err
	}
	if e.member != nil {
		f.retire(e, s)
	}
	return true, err
}

// retire ends what an entry had with its sender, which is closed. The lock of the entry must be held.
func (f *Fleet) retire(e *entry, s sender) {
	e.cancel()
	f.note(e, 0, true)
	f.made.Add(-1)
	f.mu.Lock()
	addTo(&f.gone, s.Stats())
	e.counted.Store(true)
	f.mu.Unlock()
	e.member.Leave()
	e.member, e.cancel = nil, nil
}
