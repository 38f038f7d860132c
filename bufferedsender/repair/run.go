package repair

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
)

const mostSurplus = 200_000 // keys of a range that are kept for deletion

// Run makes one pass: it compares the index with its source, and has the sender write what is missing or different and
// delete what is surplus. It blocks until everything is done, and returns the report also with an error. The package
// documentation has the promises, and the requirements of sources, indexes and senders.
//
// Processes that share a Store and run at the same time divide the ranges among them: each takes ranges that no other
// process has or has finished since its call, and reports only those. A pass that resumes an interrupted one compares
// the remaining keys and reports the sum of both; Report.Began is then the start of the first.
//
// The error is a *DeletesError or ErrNoRows if the guard refused, an *OrderError if a side is not in order,
// ErrContradiction if Scan and Lookup of the source disagree, ErrNothingSettles if the sides do not come to agree, the
// error of ctx, or that of the source, index or store; use errors.Is and errors.As. With any error, only the documents
// that the report counts were deleted, except by a request that takes over a second after ctx has ended.
func (r *Repairer) Run(ctx context.Context) (Report, error) {
	return r.run(ctx, time.Now())
}

// run is Run without ranges that another process has finished after since.
func (r *Repairer) run(ctx context.Context, since time.Time) (Report, error) {
	began, ctx := time.Now(), wholeindex.Require(ctx)
	p, err := r.newPass()
	if err != nil {
		return Report{}, fmt.Errorf("repair: nothing was compared: %w", err)
	}
	total := Report{Began: began, DryRun: p.DryRun}
	end := func(err error) (Report, error) {
		total.Took, total.Complete = time.Since(began), err == nil
		p.meters.pass(total.Took, err)
		if err != nil {
			err = fmt.Errorf("repair: %w", err)
		}
		return total, err
	}
	p.identify(ctx, r.Source, r.Index)
	everything, err := p.hinted(ctx, &total)
	if err != nil {
		return end(err)
	}
	sections, err := p.compare(ctx, &total, since)
	defer func() {
		for _, s := range sections {
			if err := s.unlock(); err != nil { // the result of the pass does not depend on it
				p.Logger.LogAttrs(ctx, slog.LevelWarn, "repair: range not released; other processes wait for it", slog.String("range", s.name), slog.Any("error", err))
			}
		}
	}()
	charged := changes{}
	if err == nil {
		charged, err = p.allow(ctx, sections)
		if err == nil && !p.DryRun {
			err = p.each(ctx, len(sections), func(ctx context.Context, i int) error { return sections[i].named(sections[i].write(ctx)) })
		}
	}
	for _, s := range sections {
		total.plus(&s.state.Report)
		total.plus(&s.broken)
	}
	switch {
	case err == nil && !p.DryRun:
		err = p.deletes(ctx, sections, &total)
	case p.DryRun && refused(err):
		total.Refused, err = err.Error(), nil
	}
	if err == nil || refused(err) {
		err = errors.Join(err, p.finish(ctx, sections)) // the pass is over: the next starts over
	}
	if err == nil || refused(err) || p.Store == (memory{}) { // otherwise the pass may be resumed, with what was counted
		p.refund(ctx, charged)
	}
	everything(err == nil && len(total.Elsewhere) == 0)
	return end(err)
}

// newPass checks the fields. The error names every problem.
func (r *Repairer) newPass() (*pass, error) {
	o, err := r.Options.withDefaults()
	errs := []error{err}
	source, index, to := r.Source, r.Index, orNone(r.Sender)
	if nilcheck.IsNil(source) {
		errs = append(errs, errors.New("the Source is nil: use a *SQLSource, a *JSONL or a Functions"))
	}
	if nilcheck.IsNil(index) {
		errs = append(errs, errors.New("the Index is nil: use a *search.Rows"))
	}
	if !nilcheck.IsNil(source) && !nilcheck.IsNil(index) {
		errs = append(errs, checkVersions(source, index))
	}
	switch {
	case o.DryRun || o.Mark != nil:
	case to == nil:
		errs = append(errs, errors.New("the Sender is nil: use the Raw of a BufferedSender, or set DryRun or Mark"))
	case to.Info().Queued:
		errs = append(errs, errors.New("the sender has a Queue, so it cannot hold keys, which other processes may send: set Mark to its IndexKeys, "+
			"whose Loader reads the truth, or use a sender without a Queue"))
	}
	if err := otherIndex(index, to, o.SameIndex); err != nil {
		if o.DryRun {
			o.Logger.Warn("repair: pass without DryRun would be refused", "error", err)
		} else {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m, err := newMeters(o.MeterProvider, o.Name)
	if err != nil {
		return nil, err
	}
	what := o.Name
	if named, ok := index.(fmt.Stringer); ok { // two indexes may share a Store
		what += " of " + named.String()
	}
	of, its := guard{sqlkit.CallsOf(source, r), o.Logger}, guard{sqlkit.CallsOf(index, r), o.Logger}
	return &pass{
		Options: o, guard: of, what: what, of: sidesOf(source, index), meters: m, to: to, takes: make(chan struct{}, takesAtOnce), rejected: make(map[string]rejection),
		source: guardedSource{guardedIndex{source, of, "source"}, source}, index: guardedIndex{index, its, "index"},
	}, nil
}

// orNone returns nil for a sender that is a nil pointer, as a dry run may have.
func orNone(to Sender) Sender {
	if nilcheck.IsNil(to) {
		return nil
	}
	return to
}

// otherIndex returns an error if the sender writes to another index than the one that is read. same allows another
// name, of an alias.
func otherIndex(index Index, to Sender, same bool) error {
	named, can := index.(models.IndexNamer)
	at, also := index.(models.EndpointNamer)
	if !can || !also || nilcheck.IsNil(index) || to == nil {
		return nil
	}
	info := to.Info()
	switch {
	case !info.At(at.Endpoint()):
		return fmt.Errorf("Index reads the service %s, but Sender writes to %s: make both with one client", at.Endpoint(), info.Endpoint)
	case !same && info.IndexName != "" && named.IndexName() != "" && info.IndexName != named.IndexName():
		return fmt.Errorf("Index reads %q, but Sender writes to %q: make both with one client, or set SameIndex if one is an alias of the other", named.IndexName(), info.IndexName)
	}
	return nil
}

// section locks a range and loads its state. It returns nil if another process has the range or has finished it after
// since.
func (p *pass) section(ctx context.Context, after, through string, since time.Time) (_ *section, err error) {
	s := &section{pass: p, after: after, through: through, name: p.nameOf(after, through)}
	if p.DryRun { // a dry run has its own state, but reads the rejections of real passes
		known, err := load(ctx, p.Store, s.name, p.of)
		if err != nil {
			return nil, &rangeError{s.name, err}
		}
		p.learn(known.Rejected)
		s.name += " dry"
	}
	unlock, ok, err := p.Store.Lock(ctx, s.name)
	if err != nil {
		return nil, &rangeError{s.name, err}
	}
	if !ok {
		return nil, nil
	}
	s.unlock = unlock
	if s.state, err = load(ctx, p.Store, s.name, p.of); err != nil {
		return nil, errors.Join(&rangeError{s.name, err}, unlock())
	}
	if !s.state.Finished.IsZero() {
		if s.state.Finished.After(since) && !s.state.Finished.After(time.Now()) { // a wrong clock may have set the future
			return nil, unlock()
		}
		s.state.fresh()
	}
	if began := s.state.Report.Began; !began.IsZero() && time.Since(began).Abs() > oldest {
		s.state.fresh()
	}
	p.mu.Lock()
	p.resumed = p.resumed || s.state.Through != "" || s.state.Done
	p.mu.Unlock()
	if s.state.Through == "" {
		s.state.Through = after
	}
	p.learn(s.state.Rejected)
	return s, nil
}

// nameOf returns the name of a range in the store.
func (p *pass) nameOf(after, through string) string {
	return fmt.Sprintf("%s (%q, %q]", p.what, after, through)
}

// compare compares ranges, some at a time, in random order, so that processes that share a Store begin with different
// ones. It returns the ranges that it has locked, also with an error.
func (p *pass) compare(ctx context.Context, total *Report, since time.Time) (taken []*section, err error) {
	bounds := append(append([]string{""}, p.Splits...), "")
	order := rand.Perm(len(bounds) - 1)
	var mu sync.Mutex // guards taken and total
	err = p.each(ctx, len(order), func(ctx context.Context, n int) error {
		after, through := bounds[order[n]], bounds[order[n]+1]
		s, err := p.section(ctx, after, through, since)
		mu.Lock()
		switch {
		case s != nil:
			taken = append(taken, s)
		case err == nil:
			total.Elsewhere = append(total.Elsewhere, p.nameOf(after, through))
		}
		mu.Unlock()
		if s == nil {
			return err
		}
		return s.named(s.compare(ctx))
	})
	return taken, err
}

// named adds the name of the range to an error, if there are several ranges.
func (s *section) named(err error) error {
	if err == nil || len(s.Splits) == 0 {
		return err
	}
	return &rangeError{s.name, err}
}

// each calls do for 0 to n-1, some at a time, until one call fails, and returns the error of that call.
func (p *pass) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	var mu sync.Mutex // guards errs
	var errs []error
	places := make(chan struct{}, p.parallel)
	for i := range n {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			if ctx.Err() != nil {
				return
			}
			if err := do(ctx, i); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
				cancel()
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if !errors.Is(err, context.Canceled) {
			return err
		}
	}
	if len(errs) == 0 {
		return context.Cause(ctx)
	}
	return errors.Join(errs...)
}

// surplus returns the surplus keys of the sections and the hints. hinted is how many only the hints have.
func (p *pass) surplus(sections []*section) (keys []string, hinted int64) {
	for _, s := range sections {
		keys = append(keys, s.state.Surplus...)
	}
	known := slices.Sorted(slices.Values(keys))
	for _, key := range p.gone {
		if _, found := slices.BinarySearch(known, key); !found {
			keys = append(keys, key)
			hinted++
		}
	}
	return keys, hinted
}

// deletes deletes the surplus keys. It charges the guard for those found since allow.
func (p *pass) deletes(ctx context.Context, sections []*section, total *Report) error {
	keys, _ := p.surplus(sections)
	if len(keys) == 0 || len(sections) == 0 || p.AllowDeletes < 0 {
		return nil
	}
	late := int64(0)
	for _, s := range sections {
		late += s.state.Report.Surplus - s.state.Charged
	}
	p.count(sections) // the index has all writes of this pass by now, also documents that were not scanned
	if err := p.charge(ctx, changes{deletes: late}, p.indexRows, false); err != nil {
		return err
	}
	return p.remove(ctx, keys, total)
}

// remove deletes the keys that are still surplus, and repairs those that now differ in another way.
func (p *pass) remove(ctx context.Context, keys []string, total *Report) error {
	if err := p.contradiction(ctx, keys); err != nil {
		return err
	}
	for part := range slices.Chunk(keys, pageFound) {
		var found []difference
		t := newTask(page{})
		source, index, err := p.look(ctx, part)
		if err != nil {
			return err
		}
		for _, key := range part {
			d := difference{key, compareRows(source[key], index[key]), orZero(source[key]), orZero(index[key])}
			if d.kind == Ahead && d.source.Hidden && p.TrustSource {
				d.kind = Surplus
			}
			switch d.kind { // rows created since, perhaps while another process was deleting their documents
			case "", Ahead:
			case Unreadable:
				p.unreadable(ctx, t, key, source[key], index[key])
			default:
				found = append(found, d)
			}
		}
		pending, err := p.pending(ctx, part)
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(d difference) bool { return pending[slices.Index(part, d.key)] })
		err = errors.Join(p.repair(ctx, t, found, true), p.verify(ctx, t, true))
		done := t.snapshot()
		p.meters.add(&done)
		total.plus(&done)
		if err != nil {
			return err
		}
	}
	return nil
}

// finish marks the pass as finished in all states.
func (p *pass) finish(ctx context.Context, sections []*section) error {
	if p.DryRun {
		return nil
	}
	for _, s := range sections {
		s.state.fresh()
		s.state.Finished = time.Now()
		if err := s.state.save(ctx, p.Store, s.name); err != nil {
			return &rangeError{s.name, err}
		}
	}
	return nil
}
