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
	pagesAhead = 32          // pages that wait between two steps
	saveEvery  = time.Second // at most
)

// pass is what all ranges of a run share.
type pass struct {
	Options
	what   string // is compared, for the store
	meters *meters
	source Source
	index  Index
	to     Sender        // nil if nothing is sent
	takes  chan struct{} // a place for each time that keys are taken at once
	own    atomic.Int64  // keys that are taken
	odd    atomic.Int64  // rows that were left out

	agreed  atomic.Bool // Scan and Lookup of the source know the same rows, as far as was asked
	gone    []string    // keys of the hints that are surplus
	resumed bool        // a range goes on where another pass has ended

	mu       sync.Mutex // guards rejected
	rejected map[string]rejection
}

// knowsRejected reports whether the service has rejected what this row stands for.
func (p *pass) knowsRejected(r models.Row) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.rejected[r.Key]
	// Without version and digest nobody knows whether it is the same.
	return ok && known.mark == markOf(r) && known.mark != mark{} && time.Since(known.At) <= rejectedFor
}

// learn notes what was rejected.
func (p *pass) learn(rejected map[string]rejection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.rejected, rejected)
}

// pause returns how long a difference has to last: a little longer by chance, so that processes do not go in step.
func (p *pass) pause() time.Duration { return p.Pause + rand.N(p.Pause/2+1) }

// task is a page, or some keys, on its way through the steps.
type task struct {
	page
	tally
	at time.Time // when it was read, and then when it was last repaired

	mu      sync.Mutex // guards what follows
	err     error
	written []difference // to be verified
	surplus []string     // to be deleted, if the guard agrees
	// unsettled are keys that differ after all.
	unsettled []string
	unread    map[string]bool // what Lookup of the source has found, and Read has not
	counted   map[doing]bool  // what is in Repaired and Deleted
	rejected  map[string]rejection
}

func newTask(p page) *task {
	return &task{page: p, at: time.Now(), rejected: make(map[string]rejection)}
}

func (t *task) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

func (t *task) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *task) wrote(d difference) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written = append(t.written, d)
}

func (t *task) takeWritten() []difference {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.written
	t.written = nil
	return all
}

// unreadNow notes of which keys that Lookup has found Read returns no document.
func (t *task) unreadNow(read []string, documents []models.RawAction) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range read {
		if slices.ContainsFunc(documents, func(a models.RawAction) bool { return a.Key == key }) {
			delete(t.unread, key)
			continue
		}
		if t.unread == nil {
			t.unread = make(map[string]bool)
		}
		t.unread[key] = true
	}
}

// neverRead reports whether no document of any of them was read, and returns one.
func (t *task) neverRead(all []difference) (key string, is bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range all {
		if !t.unread[d.key] {
			return "", false
		}
		key = d.key
	}
	return key, key != ""
}

func (t *task) surplusNow(keys ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.surplus = append(t.surplus, keys...)
}

// rejectedNow notes that the service has rejected what was written of a key.
func (t *task) rejectedNow(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.written {
		if d.key == key {
			t.rejected[key] = rejection{markOf(d.source), time.Now()}
		}
	}
}

// rejectedSoFar returns a copy: an outcome may come late.
func (t *task) rejectedSoFar() map[string]rejection {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.rejected)
}

// first reports whether it is asked about a key for the first time: a document that is repaired twice counts once.
func (t *task) first(key string, deletes bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := doing{key, deletes}
	if t.counted[done] {
		return false
	}
	if t.counted == nil {
		t.counted = make(map[doing]bool)
	}
	t.counted[done] = true
	return true
}

type doing struct {
	key     string
	deletes bool
}

func (t *task) isRejected(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.rejected[key]
	return ok
}

// section is a range under way.
type section struct {
	*pass
	name, after, through string
	unlock               func() error

	state *state
	saved time.Time

	mine   sync.Mutex
	under  map[*task]bool // what was begun, and is not noted yet
	broken Report         // of these, when the range has ended with an error: what was found
}

// begins and ends note which pages are under way.
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

// breaksOff tells of pages that were begun and have not come to their end. What was written is in the state, which is
// saved if that can be done: a pass that goes on compares these pages again, and finds and counts the rest.
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
		s.Logger.Warn("repair: what a pass has written before it ended could not be saved", "range", s.name, "err", err)
	}
}

// run compares what is left of the range, and repairs all but what is surplus. The steps overlap; pages are done in
// their order.
func (s *section) run(ctx context.Context) error {
	if s.state.Done {
		return nil
	}
	if s.state.Report.Began.IsZero() {
		s.state.Report.Began = time.Now()
	}
	callers := ctx
	ctx, cancel := context.WithCancel(ctx)
	var why failure
	read, acted := make(chan *task, pagesAhead), make(chan *task, pagesAhead)
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
	step(read, func(give func(*task) error) error {
		return comparePages(ctx, s.source, slotted{s.index, s.pass}, s.state.Through, s.through, func(p *page) error {
			return give(newTask(*p))
		})
	})
	step(acted, func(give func(*task) error) error {
		for t := range read {
			s.begins(t)
			if err := s.act(ctx, t); err != nil {
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
			err = s.note(ctx, t)
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

// failure is the first error of several, but one that says more than that a context has ended comes before one that
// does not.
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

// act confirms what was found in a page, and repairs it.
func (s *section) act(ctx context.Context, t *task) error {
	if len(t.found) == 0 {
		return nil
	}
	if err := sleep.For(ctx, time.Until(t.at.Add(s.pause()))); err != nil {
		return err
	}
	confirmed, err := s.confirm(ctx, t, t.found)
	if err != nil {
		return err
	}
	t.found = nil
	repairable := s.repairable(t, confirmed)
	if s.DryRun {
		return nil
	}
	return s.repair(ctx, t, repairable, false)
}

// repairable returns those of differences that are repaired at once, and notes the surplus ones.
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

// note is the end of a page: what has become of it is in the state, which is saved now and then, and at the end of
// the range.
func (s *section) note(ctx context.Context, t *task) error {
	found := t.snapshot()
	found.SourceRows, found.IndexRows, found.Hidden = t.source, t.index, t.hidden
	s.meters.add(&found)
	s.state.Report.plus(&found)
	s.state.Through, s.state.Done = t.through, t.last
	s.state.Surplus = append(s.state.Surplus, t.surplus...)
	if len(s.state.Surplus) > mostSurplus {
		s.state.Surplus = s.state.Surplus[:mostSurplus]
	}
	maps.Copy(s.state.Rejected, t.rejected)
	s.learn(t.rejected)
	if s.DryRun || !t.last && time.Since(s.saved) < saveEvery {
		return nil
	}
	s.saved = time.Now()
	return s.state.save(ctx, s.Store, s.name)
}

// slotted is an index whose scans go by the slots of a pool, a part at a time.
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
