package repair

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

const (
	pagesAhead = 32          // pages that may wait before a step
	saveEvery  = time.Second // at most so often
)

// pass is the state that all ranges of a run share.
type pass struct {
	Options
	guard  guard  // of the source, and of functions of the Options
	what   string // name of the comparison, for the store
	of     sides
	meters *meters
	source Source
	index  Index
	to     Sender        // nil if nothing is sent
	takes  chan struct{} // one place per concurrent take
	own    atomic.Int64  // keys taken now
	odd    atomic.Int64  // rows left out
	room   atomic.Int64  // overwrites that the guard has allowed and that were not made

	ranges               map[string]int64 // rows of the ranges of this process
	counted              time.Time        // when the guard agreed to the pass
	deleted, overwritten atomic.Int64     // documents, unless known to be unchanged

	agreed  atomic.Bool // Scan and Lookup of the source were seen to agree
	gone    []string    // keys of the hints that are surplus
	resumed bool        // a range continues an interrupted pass

	mu       sync.Mutex // guards rejected
	rejected map[string]rejection
}

// knowsRejected reports whether the service has rejected this version and digest of the row.
func (p *pass) knowsRejected(r models.Row) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.rejected[r.Key]
	// Without version and digest a changed row looks like the rejected one.
	return ok && known.mark == markOf(r) && known.mark != mark{} && time.Since(known.At).Abs() <= rejectedFor
}

// rejectedSince reports whether the service has rejected this row at or after t.
func (p *pass) rejectedSince(t time.Time, r models.Row) bool {
	p.mu.Lock()
	later := !p.rejected[r.Key].At.Before(t)
	p.mu.Unlock()
	return later && p.knowsRejected(r)
}

// learn records rejections.
func (p *pass) learn(rejected map[string]rejection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.rejected, rejected)
}

// pause returns Options.Pause with a random addition, so that processes do not run in step.
func (p *pass) pause() time.Duration { return p.Pause + rand.N(p.Pause/2+1) }

// section is a range under way.
type section struct {
	*pass
	name, after, through string
	unlock               func() error

	state *state
	saved time.Time

	mine   sync.Mutex
	under  map[*task]bool // pages begun and not yet noted
	broken Report         // counts of those, if the range has failed
}

// begins and ends record which pages are under way.
func (s *section) begins(t *task) {
	s.mine.Lock()
	defer s.mine.Unlock()
	if s.under == nil {
		s.under = make(map[*task]bool)
	}
	s.under[t] = true
}

func (s *section) ends(t *task) {
	s.mine.Lock()
	defer s.mine.Unlock()
	delete(s.under, t)
}

// breaksOff counts the pages of a failed range that did not reach their end. Writes are added to the state, which is
// saved if possible. A resumed pass compares these pages again, and counts the differences that are left.
func (s *section) breaksOff(ctx context.Context) {
	s.mine.Lock()
	defer s.mine.Unlock()
	if len(s.under) == 0 {
		return
	}
	for t := range s.under {
		found := t.snapshot()
		s.meters.add(&found)
		done := Report{Repaired: found.Repaired, Deleted: found.Deleted, Marked: found.Marked}
		s.state.Report.plus(&done)
		found.Repaired, found.Deleted, found.Marked = 0, 0, 0
		s.broken.plus(&found)
		rejected := t.rejectedSoFar()
		maps.Copy(s.state.Rejected, rejected)
		s.learn(rejected)
	}
	if s.DryRun {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveEvery)
	defer cancel()
	if err := s.state.save(ctx, s.Store, s.name); err != nil {
		s.Logger.Warn("repair: state of an ended pass not saved", "range", s.name, "error", err)
	}
}

// compare compares the rest of the range and confirms the differences. Nothing is written.
func (s *section) compare(ctx context.Context) error {
	if s.state.Done {
		return nil
	}
	if s.state.Report.Began.IsZero() {
		s.state.Report.Began = time.Now()
	}
	return s.steps(ctx, func(ctx context.Context, give func(*page) error) error {
		return comparePages(ctx, s.source, slotted{s.index, s.pass}, s.state.Through, s.through, give)
	}, s.check, s.note)
}

// write compares the spans of the state again, and repairs the differences as they are now, except surplus keys.
func (s *section) write(ctx context.Context) error {
	spans := slices.Clone(s.state.Spans)
	return s.steps(ctx, func(ctx context.Context, give func(*page) error) error {
		for _, sp := range spans {
			if err := s.readAgain(ctx, sp, give); err != nil {
				return err
			}
		}
		return nil
	}, s.act, s.noteWritten)
}

// readAgain passes the current differences of a span to give.
func (s *section) readAgain(ctx context.Context, sp span, give func(*page) error) error {
	if sp.Keys == nil {
		return comparePages(ctx, s.source, slotted{s.index, s.pass}, sp.After, sp.Through, give)
	}
	source, index, err := s.look(ctx, sp.Keys)
	if err != nil {
		return err
	}
	return give(&page{through: sp.Through, last: true, found: differencesOf(sp.Keys, source, index)})
}

// steps takes pages through read, act, verify and note. The steps run concurrently; pages stay in order.
func (s *section) steps(ctx context.Context, read func(ctx context.Context, give func(*page) error) error, act, note func(ctx context.Context, t *task) error) error {
	callers := ctx
	ctx, cancel := context.WithCancel(ctx)
	var why failure
	pages, acted := make(chan *task, pagesAhead), make(chan *task, pagesAhead)
	var steps sync.WaitGroup
	defer steps.Wait()
	defer cancel()
	step := func(out chan<- *task, do func(give func(*task) error) error) {
		steps.Go(func() {
			defer close(out)
			err := do(func(t *task) error {
				select {
				case out <- t:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			if err != nil {
				why.note(err)
				cancel()
			}
		})
	}
	step(pages, func(give func(*task) error) error {
		return read(ctx, func(p *page) error { return give(newTask(*p)) })
	})
	step(acted, func(give func(*task) error) error {
		for t := range pages {
			s.begins(t)
			if err := act(ctx, t); err != nil {
				return err
			}
			if err := give(t); err != nil {
				return err
			}
		}
		return nil
	})
	for t := range acted {
		err := s.verify(ctx, t, false)
		if err == nil {
			s.ends(t)
			err = note(ctx, t)
		}
		if err != nil {
			why.note(err)
			cancel()
			break
		}
	}
	steps.Wait()
	s.breaksOff(callers)
	return why.get()
}

// failure keeps the first error. Any other error replaces a bare context error, which says less.
type failure struct {
	mu  sync.Mutex
	err error
}

func (f *failure) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || f.err == context.Canceled || f.err == context.DeadlineExceeded { //nolint:errorlint // just that, and no more
		f.err = err
	}
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// check confirms the differences of a page.
func (s *section) check(ctx context.Context, t *task) error {
	confirmed, err := s.confirmed(ctx, t, t)
	t.found = s.repairable(t, confirmed)
	return err
}

// confirmed confirms the differences of a page once they have lasted for the pause, and counts them in counts.
func (s *section) confirmed(ctx context.Context, t, counts *task) ([]difference, error) {
	if len(t.found) == 0 {
		return nil, nil
	}
	if err := sleep.For(ctx, time.Until(t.at.Add(s.pause()))); err != nil {
		return nil, err
	}
	return s.confirm(ctx, counts, t.found)
}

// act confirms the current differences of a page and repairs them, except surplus keys.
func (s *section) act(ctx context.Context, t *task) error {
	t.found = slices.DeleteFunc(t.found, func(d difference) bool { return d.kind == Surplus || d.kind == Unreadable })
	confirmed, err := s.confirmed(ctx, t, newTask(page{})) // counted by check
	if err != nil {
		return err
	}
	for _, d := range t.found {
		if s.rejectedSince(s.state.Report.Began, d.source) { // before the pass was interrupted
			t.count(Rejected, &t.Rejected, d.key)
		}
	}
	confirmed = s.repairable(newTask(page{}), confirmed)
	if err := s.spend(ctx, confirmed, s.indexRows); err != nil {
		return err
	}
	t.overwrites = overwritten(confirmed)
	return s.repair(ctx, t, confirmed, false)
}

// repairable returns the differences that can be repaired at once, and notes the surplus ones.
func (p *pass) repairable(t *task, all []difference) (some []difference) {
	for _, d := range all {
		switch {
		case d.kind == Surplus:
			t.surplusNow(d.key)
		case d.kind != Unreadable && (d.kind != Ahead || p.TrustSource):
			some = append(some, d)
		}
	}
	return some
}

// note adds a compared page to the state, which is saved at most once a second and at the end of the range.
func (s *section) note(ctx context.Context, t *task) error {
	found := t.snapshot()
	found.SourceRows, found.IndexRows, found.Hidden = t.source, t.index, t.hidden
	s.meters.add(&found)
	s.state.Report.plus(&found)
	s.state.keep(t.through, t.found)
	s.state.Through, s.state.Done = t.through, t.last
	s.noteSurplus(t)
	return s.saveNow(ctx, t, t.last)
}

// noteWritten adds a written page to the state.
func (s *section) noteWritten(ctx context.Context, t *task) error {
	done := t.snapshot()
	s.meters.add(&done)
	s.state.Report.plus(&done)
	s.state.Overwrites = max(0, s.state.Overwrites-t.overwrites)
	s.noteSurplus(t)
	if s.state.Spans[0].After = t.through; t.last {
		s.state.Spans = s.state.Spans[1:]
	}
	return s.saveNow(ctx, t, len(s.state.Spans) == 0)
}

// noteSurplus adds the surplus keys of a page, mostSurplus in all.
func (s *section) noteSurplus(t *task) {
	s.state.Surplus = append(s.state.Surplus, t.surplus...)
	s.state.Surplus = s.state.Surplus[:min(len(s.state.Surplus), mostSurplus)]
}

func (s *section) saveNow(ctx context.Context, t *task, last bool) error {
	maps.Copy(s.state.Rejected, t.rejected)
	s.learn(t.rejected)
	if s.DryRun || !last && time.Since(s.saved) < saveEvery {
		return nil
	}
	s.saved = time.Now()
	return s.state.save(ctx, s.Store, s.name)
}

// slotted is an Index that takes a slot of the pool for each chunk of a scan.
type slotted struct {
	Index
	pass *pass
}

// Scan implements Index.
func (s slotted) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	if s.pass.Member == nil {
		return s.Index.Scan(ctx, after, through)
	}
	return func(yield func(models.Row, error) bool) {
		next, stop := iter.Pull2(s.Index.Scan(ctx, after, through))
		defer stop()
		for more := true; more; {
			var part []models.Row
			var failed error
			err := s.pass.slot(ctx, func(context.Context) error {
				for more && failed == nil && len(part) < chunkRows {
					var row models.Row
					if row, failed, more = next(); more && failed == nil {
						part = append(part, row)
					}
				}
				return nil
			})
			for _, row := range part {
				if !yield(row, nil) {
					return
				}
			}
			if err = cmp.Or(failed, err); err != nil {
				yield(models.Row{}, err)
				return
			}
		}
	}
}
