package rebuild

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

const modelKeys = 12 // of a writer

// modelPlan is a schedule.
type modelPlan struct {
	seed      uint64
	idleValid time.Duration
	documents int
	writers   []writerPlan
	steps     []modelStep
	aborts    bool // what is under way in the end
	tight     bool // the truth shows a write when the service applies it, and not before
}

type writerPlan struct {
	seed    uint64
	comes   time.Duration
	repeats bool // what a process before it has written and not confirmed
}

// modelStep is something that happens, and how long nothing else does.
type modelStep struct {
	what    string
	which   int // writer, runner, kind of trouble, …
	at      int // line of a runner
	long    time.Duration
	settle  time.Duration
	behind  time.Duration
	lives   bool // the sender of a Run that has returned an error
	stopped time.Duration
}

func (s modelStep) String() string {
	return fmt.Sprintf("%s %d at %d for %v (settle %v, lives %v, stops %v), then %v", s.what, s.which, s.at, s.long, s.settle, s.lives, s.stopped, s.behind)
}

func (p modelPlan) String() string {
	text := fmt.Sprintf("seed %d, idle valid %v, %d documents, writers %+v, aborts in the end: %v, tight: %v", p.seed, p.idleValid, p.documents, p.writers, p.aborts, p.tight)
	for _, s := range p.steps {
		text += "\n\t" + s.String()
	}
	return text
}

func drawModel(rt *rapid.T) modelPlan {
	writer := rapid.Custom(func(rt *rapid.T) writerPlan {
		seed := rapid.Uint64().Draw(rt, "seed")
		return writerPlan{seed, time.Duration(seed%20_000) * time.Millisecond, rapid.Bool().Draw(rt, "repeats")}
	})
	// The numbers of a step come from a seed: rapid's own are mostly small, and then a Run is hardly ever killed late.
	step := rapid.Custom(func(rt *rapid.T) modelStep {
		what := rapid.SampledFrom([]string{"run", "run", "run", "run", "run", "run", "kill run", "stop run", "end run", "abort", "drop", "stop writer", "kill writer", "alias", "trouble", "trouble"}).Draw(rt, "what")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 6))
		ms := func(most ...int) time.Duration {
			return time.Duration(r.IntN(1+most[r.IntN(len(most))])) * time.Millisecond
		}
		return modelStep{
			what: what, which: r.IntN(12), at: 1 + r.IntN(26), long: ms(2000, 20_000, 100_000), settle: time.Second + ms(5000),
			behind: ms(0, 3000, 30_000, 100_000), lives: r.IntN(2) == 0, stopped: ms(0, 0, 0, 2000, 150_000),
		}
	})
	return modelPlan{
		seed:      rapid.Uint64().Draw(rt, "seed"),
		idleValid: rapid.SampledFrom([]time.Duration{time.Second, time.Second, 5 * time.Second, time.Minute}).Draw(rt, "idle valid"),
		documents: rapid.IntRange(0, 40).Draw(rt, "documents"),
		writers:   rapid.SliceOfN(writer, 1, 3).Draw(rt, "writers"),
		steps:     rapid.SliceOfN(step, 3, 12).Draw(rt, "steps"),
		aborts:    rapid.IntRange(0, 3).Draw(rt, "ends") == 0,
		tight:     rapid.Bool().Draw(rt, "tight"),
	}
}

// model is a world in which a schedule happens.
type model struct {
	w        *world
	plan     modelPlan
	notes    *notes
	random   *rand.Rand // under mu
	operator sync.Mutex // held while somebody else moves the alias, and while the record changes
	late     sync.WaitGroup
	over     atomic.Bool
	calm     atomic.Bool  // what is asked is answered at once
	hot      atomic.Int64 // until then writers hurry
	named    int

	mu       sync.Mutex
	troubles map[string]trouble
	runs     []*modelRun
	held     map[string]int

	shown map[string]int64 // the last change of a key that the truth shows, negative for a deletion; under the lock of the world

	alias          sync.Mutex
	target, before string
	turned         time.Time
}

// modelRun is a process that runs, or aborts.
type modelRun struct {
	*process
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

func (m *model) isHot() bool { return time.Now().UnixNano() < m.hot.Load() }

func (m *model) hold(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held[what]++
}

// wrong is what a version in an index is, seen that one was confirmed: "" for right.
func (m *model) wrong(key string, confirmed, got int64, there bool) string {
	m.w.mu.Lock()
	deleted := m.w.deleted[key]
	m.w.mu.Unlock()
	switch {
	case confirmed > 0 && there && got >= confirmed, confirmed > 0 && !there && deleted > confirmed:
	case confirmed < 0 && (!there || got > -confirmed):
	default:
		return fmt.Sprintf("%s was confirmed as %d, and found as %d (%v)", key, confirmed, got, there)
	}
	return ""
}

// checkReader says whether a reader finds what was confirmed of a key.
func (m *model) checkReader(key string) {
	m.w.mu.Lock()
	confirmed := m.w.confirmed[key]
	m.w.mu.Unlock()
	m.alias.Lock()
	target := m.target
	m.alias.Unlock()
	if target == otherIndex {
		return
	}
	doc, there := m.w.srv.Document(target, key)
	if wrong := m.wrong(key, confirmed, m.w.number(doc), there); wrong != "" {
		m.notes.Errorf("%v: just confirmed, by the alias in %s: %s", time.Now(), target, wrong)
	}
}

// checkReaders says whether readers find everything that was confirmed, also those that still see the alias where it was.
func (m *model) checkReaders() {
	m.w.mu.Lock()
	confirmed := maps.Clone(m.w.confirmed)
	m.w.mu.Unlock()
	m.alias.Lock()
	targets := []string{m.target}
	if record, err := m.w.store.Load(context.Background()); err == nil && time.Since(m.turned) < time.Second && record.Step != StepAborting && record.New == m.target {
		targets = append(targets, m.before)
	}
	m.alias.Unlock()
	for _, target := range targets {
		if target == otherIndex {
			continue
		}
		has := m.w.indexed(target)
		for key, n := range confirmed {
			got, there := has[key]
			if wrong := m.wrong(key, n, got, there); wrong != "" {
				m.notes.Errorf("%v: in %s of %v: %s", time.Now(), target, targets, wrong)
			}
		}
	}
}

// fill is the truth as a process reads it.
func (m *model) fill(p *process) Fill {
	return Fill{
		All: func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				m.w.mu.Lock()
				keys := slices.Sorted(maps.Keys(m.w.truth))
				m.w.mu.Unlock()
				for _, key := range keys {
					if key <= after {
						continue
					}
					for _, a := range m.read(key) {
						err := p.ask(ctx, "truth", func(context.Context) error { return nil })
						if !yield(a, err) || err != nil {
							return
						}
					}
				}
			}
		},
		Keys: func(ctx context.Context, keys []string) ([]models.RawAction, error) {
			got := make(chan []models.RawAction, 1)
			err := p.ask(ctx, "truth", func(context.Context) error {
				got <- m.read(keys...)
				return nil
			})
			if err != nil {
				return nil, err
			}
			return <-got, nil
		},
	}
}

// lines is the hook of a runner.
func (m *model) lines(p *process, s modelStep) func(string) error {
	n := 0
	return func(line string) error {
		m.hot.Store(time.Now().Add(time.Second).UnixNano())
		if strings.HasPrefix(line, "close") && s.which%2 == 0 {
			time.Sleep(200 * time.Millisecond)
		}
		if n++; n == s.at {
			if s.stopped > 0 {
				m.hold("stopped at a line")
				p.stop(s.stopped)
			} else {
				m.hold("killed at a line")
				p.kill()
				return errStopped
			}
		}
		if p.alive() != nil {
			return errStopped
		}
		return nil
	}
}

func (m *model) start(work func(ctx context.Context, p *process) error) *modelRun {
	ctx, cancel := context.WithCancel(context.Background())
	x := &modelRun{process: &process{m: m}, cancel: cancel, done: make(chan struct{})}
	m.mu.Lock()
	m.runs = append(m.runs, x)
	m.mu.Unlock()
	go func() {
		defer close(x.done)
		x.err = work(ctx, x.process)
	}()
	return x
}

// run starts a Run.
func (m *model) run(s modelStep) *modelRun {
	return m.start(func(ctx context.Context, p *process) error {
		r := newRunner(processStore{p}, m.w.newClient(p))
		record := m.w.record()
		r.next = next(m.w.t)
		if r.next.Name = record.New; !record.active() {
			m.mu.Lock()
			m.named++
			r.next.Name = fmt.Sprintf("hotels-1%d", m.named)
			m.mu.Unlock()
		}
		r.fill, r.line = m.fill(p), m.lines(p, s)
		var made *bufferedsender.BufferedSender[models.Document]
		r.opts = Options{Alias: aliasName, Alone: true, Always: true, Settle: s.settle, Keep: -1, Logger: quiet, Sender: func(index string) (Sender, error) {
			c, err := r.client.Client(index)
			if err != nil {
				return nil, err
			}
			made = m.w.sender(c, nil)
			return made.Raw(), nil
		}}
		m.w.noError(r.opts.check(r.store, r.client, r.next, r.fill))
		err := r.run(ctx)
		if err == nil {
			m.hold("Run has ended")
			for key, n := range m.confirmed() {
				doc, there := m.w.srv.Document(r.report.Index, key)
				if wrong := m.wrong(key, n, m.w.number(doc), there); wrong != "" && slices.Contains(m.w.srv.IndexNames(), r.report.Index) {
					m.notes.Errorf("%v: Run has ended, in %s: %s", time.Now(), r.report.Index, wrong)
				}
			}
		}
		for _, kind := range []error{ErrRunning, ErrTakenOver, ErrClosed, ErrTooSlow, ErrAliasMoved, errLost, context.Canceled} {
			if errors.Is(err, kind) {
				m.hold(kind.Error())
			}
		}
		if made == nil {
			return err
		}
		if err != nil && s.lives {
			_ = sleep(ctx, 2*time.Minute)
		}
		gone, cancel := context.WithCancel(context.Background())
		if cancel(); err == nil {
			gone, cancel = context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
		}
		_ = made.Close(gone)
		return err
	})
}

func (m *model) confirmed() map[string]int64 {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return maps.Clone(m.w.confirmed)
}

// abort starts an Abort.
func (m *model) abort(s modelStep) *modelRun {
	return m.start(func(ctx context.Context, p *process) error {
		r := newRunner(processStore{p}, m.w.newClient(p))
		r.opts.Settle, r.opts.Logger, r.line = s.settle, quiet, m.lines(p, s)
		phase := m.w.record().Phase
		err := r.abort(ctx)
		if err == nil {
			m.hold("Abort has ended when writers were " + string(phase))
		}
		return err
	})
}

// moveAlias is somebody else, for a while.
func (m *model) moveAlias(long time.Duration) {
	m.alias.Lock()
	away := m.target == otherIndex
	m.alias.Unlock()
	if away {
		return
	}
	m.hold("the alias was moved by somebody else")
	m.w.moveAliasTo(otherIndex)
	m.late.Go(func() {
		time.Sleep(long)
		m.putBack()
	})
}

// putBack has the alias where readers miss nothing.
func (m *model) putBack() {
	m.operator.Lock()
	defer m.operator.Unlock()
	m.alias.Lock()
	away := m.target == otherIndex
	m.alias.Unlock()
	if !away {
		return
	}
	x := m.w.record()
	index := x.Route
	if x.Version == 0 { // no writer has come yet
		index = oldIndex
	}
	if x.Step == StepSettling || x.Step == StepMoving {
		index = x.New
	}
	m.w.moveAliasTo(index)
}

// runs that are there, of which one is chosen.
func (m *model) oneRun(which int) *modelRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	var there []*modelRun
	for _, x := range m.runs {
		select {
		case <-x.done:
		default:
			there = append(there, x)
		}
	}
	if len(there) == 0 {
		return nil
	}
	return there[which%len(there)]
}

func (m *model) step(s modelStep, writers []*modelWriter) {
	switch s.what {
	case "run":
		if x := m.oneRun(0); x != nil && s.which%4 > 0 {
			select {
			case <-x.done:
			case <-time.After(100 * time.Second):
			}
		}
		m.run(s)
	case "kill run", "stop run", "end run":
		x := m.oneRun(s.which)
		if x == nil {
			break
		}
		switch s.what {
		case "kill run":
			x.kill()
		case "stop run":
			x.stop(s.long)
		default:
			x.cancel()
		}
	case "abort":
		m.abort(s)
	case "drop":
		m.start(func(ctx context.Context, p *process) error {
			return DropOld(ctx, processStore{p}, m.w.newClient(p), &DropOptions{Now: true})
		})
	case "stop writer":
		if p := writers[s.which%len(writers)].p.Load(); p != nil {
			p.stop(s.long)
		}
	case "kill writer":
		if p := writers[s.which%len(writers)].p.Load(); p != nil {
			p.kill()
		}
	case "alias":
		m.moveAlias(s.long)
	case "trouble":
		whom := []string{"store", "service", "documents", "truth"}[s.which%4]
		t := trouble{[]string{"slow", "lost", "cut"}[s.which/4], time.Now().Add(min(s.long, 30*time.Second)), min(s.settle-time.Second, 3*time.Second) / 4}
		m.mu.Lock()
		m.troubles[whom] = t
		m.mu.Unlock()
	}
	time.Sleep(s.behind)
}

// happen does what was drawn, and then lets everything come to an end.
func (m *model) happen() {
	if !assert.NoError(m.notes, m.w.srv.CreateIndex(fmt.Sprintf(`{"name":%q,`+fields+`}`, otherIndex, "standard.lucene"))) {
		return
	}
	var writers []*modelWriter
	for i, plan := range m.plan.writers {
		x := &modelWriter{m: m, plan: plan, name: string(rune('a' + i)), random: rand.New(rand.NewPCG(plan.seed, 3)), done: make(chan struct{})}
		writers = append(writers, x)
		go x.live()
	}
	ended, quietly := make(chan struct{}), sync.WaitGroup{}
	quietly.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Second):
				m.checkReaders()
			}
		}
	})
	time.Sleep(time.Second)
	for _, s := range m.plan.steps {
		m.step(s, writers)
	}
	m.end(writers)
	close(ended)
	quietly.Wait()
	m.late.Wait()
}

// end lets what is stopped go on, and ends what is under way.
func (m *model) end(writers []*modelWriter) {
	m.calm.Store(true)
	time.Sleep(150 * time.Second) // all troubles are over, and what was stopped goes on
	m.putBack()
	m.mu.Lock()
	for _, x := range m.runs {
		x.cancel()
	}
	runs := slices.Clone(m.runs)
	m.mu.Unlock()
	for _, x := range runs {
		<-x.done
	}
	m.putBack()
	last := modelStep{settle: time.Second}
	for n := 0; m.w.record().active(); n++ {
		if n == 10 {
			m.notes.Errorf("it does not end: %+v", m.w.record())
			break
		}
		var x *modelRun
		if m.plan.aborts || m.w.record().Step == StepAborting {
			x = m.abort(last)
		} else {
			x = m.run(last)
		}
		if <-x.done; x.err != nil && n > 3 {
			m.notes.Errorf("to the end: %v", x.err)
		}
	}
	m.over.Store(true)
	for _, x := range writers {
		<-x.done
	}
	m.checkReaders()
	record := m.w.record()
	m.alias.Lock()
	assert.Equal(m.notes, record.Route, m.target, "the alias, when all is quiet: %+v", record)
	m.alias.Unlock()
	p := &process{m: m}
	tap := m.w.tap(m.w.store, "last", nil)
	sender := m.w.sender(tap.Indexer(), tap)
	for _, a := range m.unconfirmed("", p) {
		m.w.noError(sender.Raw().Add(context.Background(), a))
	}
	m.w.noError(sender.Close(context.Background()))
	m.w.mu.Lock()
	assert.Equal(m.notes, m.w.truth, m.w.indexed(record.Route))
	m.w.mu.Unlock()
}

// runModel returns what a schedule has held, and what was wrong.
func runModel(t *testing.T, plan modelPlan) (held map[string]int, wrong []string) {
	n := &notes{}
	synctest.Test(t, func(t *testing.T) {
		n.TB = t
		m := &model{
			plan: plan, notes: n, random: rand.New(rand.NewPCG(plan.seed, 4)),
			shown: map[string]int64{}, troubles: map[string]trouble{}, held: map[string]int{}, target: oldIndex,
		}
		m.w = newWorld(n, plan.documents)
		maps.Copy(m.shown, m.w.truth)
		m.w.srv.Intercept(m.watchAlias)
		m.happen()
		held = m.held
	})
	return held, n.all()
}

func TestNothingIsLostInRandomSchedules(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // of which it runs a fifth under the detector; see internal/soak
		require.NoError(t, f.Value.Set("50"))
		defer func() { require.NoError(t, f.Value.Set(f.DefValue)) }()
	}
	held := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawModel(rt)
		holds, wrong := runModel(t, plan)
		for what, n := range holds {
			held[what] += n
		}
		if len(wrong) > 0 {
			rt.Fatalf("%v\n%s", plan, strings.Join(wrong[:min(len(wrong), 10)], "\n"))
		}
	})
	for _, what := range slices.Sorted(maps.Keys(held)) {
		t.Logf("%5d %s", held[what], what)
	}
}
