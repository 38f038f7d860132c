package rebuild

import (
	"context"
	"flag"
	"fmt"
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

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// model is a world that executes a schedule.
type model struct {
	w        *world
	plan     modelPlan
	notes    *notes
	random   *rand.Rand // under mu
	operator sync.Mutex // held while an operator moves the alias, and while the record changes
	late     sync.WaitGroup
	over     atomic.Bool
	calm     atomic.Bool  // calls are answered at once
	hot      atomic.Int64 // writers hurry until then

	mu       sync.Mutex
	troubles map[string]trouble
	runs     []*modelRun
	held     map[string]int
	used     map[string]bool // names used in records
	named    int
	stopped  time.Time // some process is stopped until then

	shown map[string]int64 // last change of a key that the source shows, negative for a deletion; guarded by the lock of the world

	alias          sync.Mutex
	target, before string
	turned         time.Time
}

// modelRun is a process that runs or aborts a rebuild.
type modelRun struct {
	*process
	cancel context.CancelFunc
	ended  atomic.Bool // its sender may still be alive
	done   chan struct{}
	err    error
}

// works reports whether the process advances.
func (x *modelRun) works() bool { return !x.ended.Load() && x.process.works() }

func (m *model) isHot() bool { return time.Now().UnixNano() < m.hot.Load() }

func (m *model) hold(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held[what]++
}

func (m *model) stoppedUntil(until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if until.After(m.stopped) {
		m.stopped = until
	}
}

// name returns the name of a new index. Some names are reused, also at once.
func (m *model) name() string {
	there := m.w.srv.IndexNames()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.used)) {
		if strings.HasPrefix(name, oldIndex) && name != oldIndex && !slices.Contains(there, name) {
			m.held["a name was used again"]++
			return name
		}
	}
	m.named++
	return fmt.Sprintf("%s%d", oldIndex, m.named)
}

// moveAlias is an operator who moves the alias for a while.
func (m *model) moveAlias(long time.Duration) {
	m.alias.Lock()
	away := m.target == otherIndex
	m.alias.Unlock()
	if away {
		return
	}
	if m.w.record().Version == 0 { // a Run before the first writer would take that index for the writers' target
		return
	}
	m.hold("the alias was moved by another process")
	m.w.moveAliasTo(otherIndex)
	m.late.Go(func() {
		for time.Sleep(long); !m.calm.Load() && !m.putBack(false); {
			time.Sleep(time.Second)
		}
	})
}

// putBack points the alias at an index with all documents and reports whether it did. While a Run may be moving the
// alias, the right index is known only if ended says that all Runs have ended.
func (m *model) putBack(ended bool) bool {
	m.operator.Lock()
	defer m.operator.Unlock()
	m.alias.Lock()
	away := m.target == otherIndex
	m.alias.Unlock()
	if !away {
		return true
	}
	if !ended && m.w.record().Step == stepSwapping {
		return false
	}
	x := m.w.record()
	index := x.Route
	if x.Version == 0 { // before the first writer
		index = oldIndex
	}
	if x.Step == stepSettling || x.Step == stepMoving {
		index = x.New
	}
	m.w.moveAliasTo(index)
	return true
}

// oneRun returns one of the active runs.
func (m *model) oneRun(which int) *modelRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	var there []*modelRun
	for _, x := range m.runs {
		if !x.ended.Load() && !x.dead.Load() {
			there = append(there, x)
		}
	}
	if len(there) == 0 {
		return nil
	}
	return there[which%len(there)]
}

func (m *model) drop() *modelRun {
	return m.start(nil, func(ctx context.Context, x *modelRun) error {
		p := x.process
		return DropOld(ctx, processStore{p}, m.w.newClient(p), &DropOptions{Now: true})
	})
}

func (m *model) step(s modelStep, writers []*modelWriter) {
	switch s.what {
	case "run":
		if x := m.oneRun(0); s.which%4 > 0 { // otherwise two would run at once
			for n := 0; n < 1000 && x != nil && x.works(); n++ {
				time.Sleep(100 * time.Millisecond)
			}
		}
		if s.which%8 > 0 && m.w.record().Step == StepMoved { // otherwise there is no rebuild to start
			<-m.drop().done
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
		m.drop()
	case "stop writer", "kill writer":
		p := writers[s.which%len(writers)].p.Load()
		switch t := *s.trap; {
		case p == nil:
		case s.lives:
			p.mu.Lock()
			p.trap = &t
			p.mu.Unlock()
		case s.what == "kill writer":
			p.kill()
		default:
			p.stop(s.long)
		}
	case "alias":
		m.moveAlias(s.long)
	case "trouble":
		whom := []string{"store", "service", "documents", "truth"}[s.which%4]
		t := trouble{[]string{"slow", "lost", "cut", "slow answer"}[s.which/4], time.Now().Add(min(s.long, 30*time.Second)), min(s.settle-time.Second, 3*time.Second) / 4}
		m.mu.Lock()
		m.troubles[whom] = t
		m.mu.Unlock()
	}
	time.Sleep(s.behind)
}

// happen executes the schedule and waits for its end.
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

// end resumes stopped processes and ends what still runs.
func (m *model) end(writers []*modelWriter) {
	m.calm.Store(true)
	m.mu.Lock()
	stopped := m.stopped
	m.mu.Unlock()
	time.Sleep(max(120*time.Second, time.Until(stopped)+20*time.Second)) // all faults have ended, and stopped processes have resumed
	for n := 0; n < 60 && !m.putBack(false); n++ {
		time.Sleep(time.Second)
	}
	m.mu.Lock()
	for _, x := range m.runs {
		x.cancel()
	}
	runs := slices.Clone(m.runs)
	m.mu.Unlock()
	for _, x := range runs {
		<-x.done
	}
	m.putBack(true)
	last := modelStep{settle: time.Second}
	for n := 0; m.w.record().active(); n++ {
		if n == 10 {
			m.notes.Errorf("it does not end: %+v", m.w.record())
			break
		}
		var x *modelRun
		if m.plan.aborts || m.w.record().Step == stepAborting {
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

// runModel returns the events of a schedule and the failures.
func runModel(t *testing.T, plan modelPlan) (held map[string]int, wrong []string) {
	n := &notes{}
	synctest.Test(t, func(t *testing.T) {
		n.TB = t
		m := &model{
			plan: plan, notes: n, random: rand.New(rand.NewPCG(plan.seed, 4)),
			shown: map[string]int64{}, troubles: map[string]trouble{}, held: map[string]int{}, used: map[string]bool{}, target: oldIndex,
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
	t.Parallel()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // a fifth of them under the race detector; see internal/soak
		require.NoError(t, f.Value.Set(fmt.Sprint(testkit.Cases(10, 20, 50))))
		defer func() { require.NoError(t, f.Value.Set(f.DefValue)) }()
	}
	held, schedules, found := map[string]int{}, 0, false
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawModel(rt)
		holds, wrong := runModel(t, plan)
		schedules++
		for what, n := range holds {
			held[what] += n
		}
		if len(wrong) > 0 {
			if !found { // rapid runs it again and may not reproduce it
				t.Logf("%v\n%s", plan, strings.Join(wrong[:min(len(wrong), 10)], "\n"))
			}
			found = true
			rt.Fatalf("%v\n%s", plan, strings.Join(wrong[:min(len(wrong), 10)], "\n"))
		}
	})
	for _, what := range slices.Sorted(maps.Keys(held)) {
		t.Logf("%5d %s", held[what], what)
	}
	if schedules < modelBlindFrom || t.Failed() {
		return
	}
	for _, what := range modelHolds() {
		assert.Positive(t, held[what], "none of %d schedules held: %s", schedules, what)
	}
}
