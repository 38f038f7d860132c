package rebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// notes is a TB that collects failures for the code that draws schedules.
type notes struct {
	testing.TB
	mu     sync.Mutex
	errors []string
}

func (n *notes) Errorf(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.errors = append(n.errors, fmt.Sprintf(format, args...))
}

func (n *notes) FailNow() { runtime.Goexit() }

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.errors
}

func (p *process) Do(req *http.Request) (resp *http.Response, err error) {
	whom := "service"
	if strings.Contains(req.URL.Path, "/docs") {
		whom = "documents"
	}
	var body []byte
	if req.Body != nil {
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	answers := make(chan *http.Response, 1)
	err = p.ask(req.Context(), whom, func(ctx context.Context) error {
		again := req.Clone(ctx)
		if p.writes && len(body) > 0 {
			p.m.show(body)
		}
		again.Body = io.NopCloser(strings.NewReader(string(body)))
		resp, err := p.m.w.srv.Do(again)
		answers <- resp
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-answers, nil
}

// show publishes in the source what the service is about to apply.
func (m *model) show(body []byte) {
	var batch struct {
		Value []struct {
			ID string `json:"id"`
			N  int64  `json:"n"` // not of deletions
		} `json:"value"`
	}
	m.w.noError(json.Unmarshal(body, &batch))
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	for _, a := range batch.Value {
		if now := m.shown[a.ID]; a.N > max(now, -now) {
			m.shown[a.ID] = a.N
		}
	}
}

// read returns the source's state of keys.
func (m *model) read(keys ...string) (all []models.RawAction) {
	if !m.plan.tight {
		return m.w.read(keys...)
	}
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	for _, key := range keys {
		if n := m.shown[key]; n > 0 {
			all = append(all, models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: document(key, n)})
		}
	}
	return all
}

// processStore is the store as seen by one process.
type processStore struct{ *process }

func (s processStore) Load(ctx context.Context) (r Record, err error) {
	got := make(chan Record, 1)
	err = s.ask(ctx, "store", func(ctx context.Context) error {
		r, err := s.m.w.store.Load(ctx)
		got <- r
		return err
	})
	if err != nil {
		return Record{}, err
	}
	return <-got, nil
}

func (s processStore) Swap(ctx context.Context, next Record) (r Record, err error) {
	got := make(chan Record, 1)
	err = s.ask(ctx, "store", func(ctx context.Context) error {
		s.m.operator.Lock()
		defer s.m.operator.Unlock()
		before := s.m.w.record()
		r, err := s.m.w.store.Swap(ctx, next)
		if err == nil {
			s.m.changed(before, r)
		}
		got <- r
		return err
	})
	if err != nil {
		return Record{}, err
	}
	return <-got, nil
}

// changed records a swap of the record.
func (m *model) changed(before, after Record) {
	switch {
	case before.Owner == after.Owner || !before.active() || after.Owner == "":
	case after.Step == stepAborting:
		m.hold("aborted in " + string(before.Step))
	case before.Owner == "":
		m.hold("resumed in " + string(before.Step))
	default:
		m.hold("taken over in " + string(before.Step))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range []Record{before, after} {
		m.used[x.Old], m.used[x.New] = true, true
	}
}

func (s processStore) Mark(ctx context.Context, epoch int64, keys []string) (round int64, err error) {
	keys = slices.Clone(keys)
	got := make(chan int64, 1)
	err = s.ask(ctx, "store", func(ctx context.Context) error {
		round, err := s.m.w.store.Mark(ctx, epoch, keys)
		got <- round
		return err
	})
	if err != nil {
		return 0, err
	}
	return <-got, nil
}

func (s processStore) Marked(ctx context.Context, last int64, limit int) (keys []string, err error) {
	got := make(chan []string, 1)
	err = s.ask(ctx, "store", func(ctx context.Context) error {
		keys, err := s.m.w.store.Marked(ctx, last, limit)
		got <- keys
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-got, nil
}

func (s processStore) Unmark(ctx context.Context, last int64, keys []string) error {
	return s.ask(ctx, "store", func(ctx context.Context) error { return s.m.w.store.Unmark(ctx, last, keys) })
}

func (s processStore) Register(ctx context.Context, writer string, seen time.Time) error {
	return s.ask(ctx, "store", func(ctx context.Context) error { return s.m.w.store.Register(ctx, writer, seen) })
}

func (s processStore) Writers(ctx context.Context) (all []Writer, err error) {
	got := make(chan []Writer, 1)
	err = s.ask(ctx, "store", func(ctx context.Context) error {
		all, err := s.m.w.store.Writers(ctx)
		got <- all
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-got, nil
}

// troubled draws the fault of a request.
func (m *model) troubled(whom string) trouble {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.troubles[whom]; ok && time.Now().Before(t.until) && m.random.IntN(2) == 0 {
		return t
	}
	// While Run passes from step to step, requests overlap with its work.
	if whom == "documents" && !m.calm.Load() && m.isHot() && m.random.IntN(4) == 0 {
		return trouble{kind: "slow", takes: time.Duration(m.random.IntN(2000)) * time.Millisecond}
	}
	return trouble{}
}

// watchAlias sees each request to the service and records where the alias points.
func (m *model) watchAlias(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	alias, ok, err := aliasIn(req)
	if err != nil {
		return nil, err
	}
	if !ok {
		return next(req)
	}
	m.alias.Lock()
	resp, err := next(req)
	if err == nil && resp.StatusCode < 300 && m.target != alias.Indexes[0] {
		m.before, m.target, m.turned = m.target, alias.Indexes[0], time.Now()
	}
	m.alias.Unlock()
	m.checkReaders()
	return resp, err
}

// modelWriter is a program that writes its own keys, by a sequence of processes.
type modelWriter struct {
	m      *model
	plan   writerPlan
	name   string
	random *rand.Rand
	p      atomic.Pointer[process]
	done   chan struct{}
}

// live writes until the model ends and everything written is confirmed.
func (x *modelWriter) live() {
	defer close(x.done)
	time.Sleep(x.plan.comes)
	for first := true; ; first = false {
		p := &process{m: x.m, writes: true}
		if over := x.m.over.Load(); !over {
			x.p.Store(p) // the last process is not killed
		}
		if x.process(p, !first && x.plan.repeats) {
			return
		}
		p.kill()
		time.Sleep(5 * time.Second) // earlier requests are executed by then, or never
	}
}

// process writes as one process. It reports whether the whole model is over, not only this process.
func (x *modelWriter) process(p *process, repeats bool) bool {
	ctx := context.Background()
	tap, err := NewTap(ctx, processStore{p}, TapOptions{Writer: x.name, Index: oldIndex, IdleValid: x.m.plan.idleValid, Connect: func(index string) (Indexer, error) {
		return x.m.w.newClient(p).Client(index)
	}})
	if err != nil {
		return false
	}
	sender := x.m.w.sender(tap.Indexer(), tap)
	if repeats {
		for _, a := range x.m.unconfirmed(x.name+"-", p) {
			x.m.w.noError(sender.Raw().Add(ctx, a))
		}
	}
	kinds := []models.ActionType{models.ActionTypeUpload, models.ActionTypeMergeOrUpload, models.ActionTypeDelete, models.ActionTypeMerge}
	if !x.plan.repeats { // the document of a merge may never have been written
		kinds = kinds[:3]
	}
	for !x.m.over.Load() {
		if p.alive() != nil {
			gone, cancel := context.WithCancel(ctx)
			cancel()
			_ = sender.Close(gone)
			return false
		}
		a := x.m.w.change(fmt.Sprintf("%s-%02d", x.name, x.random.IntN(modelKeys)), kinds[x.random.IntN(len(kinds))])
		if a.Type == models.ActionTypeMergeOrUpload {
			a.Document = document(a.Key, x.m.w.numberOf(a))
		}
		if a.Type == models.ActionTypeDelete {
			x.m.showDeletion(a.Key)
		}
		a.OnOutcome = x.m.outcome(a, p)
		x.m.w.noError(sender.Raw().Add(ctx, a))
		if x.m.isHot() {
			time.Sleep(time.Duration(1+x.random.IntN(60)) * time.Millisecond)
		} else {
			time.Sleep(time.Duration(1+x.random.IntN(3000)) * time.Millisecond)
		}
	}
	limited, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	x.m.w.noError(sender.Close(limited))
	return true
}

// showDeletion publishes a deletion in the source before the service applies it; the request has no version for it.
func (m *model) showDeletion(key string) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.shown[key] = -m.w.deleted[key]
}

// outcome returns the handler of an action's outcome.
func (m *model) outcome(a models.RawAction, p *process) func(models.Outcome) {
	confirm := a.OnOutcome
	return func(o models.Outcome) {
		if p.dead.Load() || !o.Completed() {
			return // to be repeated, or unknown
		}
		confirm(o)
		m.checkReader(a.Key)
	}
}

// unconfirmed returns the actions to repeat: the current state of keys whose last change is not confirmed.
func (m *model) unconfirmed(prefix string, p *process) (all []models.RawAction) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	for key, n := range m.last() {
		done := m.w.confirmed[key]
		if !strings.HasPrefix(key, prefix) || max(done, -done) == n {
			continue
		}
		a := models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: document(key, n)}
		if _, there := m.w.truth[key]; !there {
			a.Type, a.Document, n = models.ActionTypeDelete, nil, -n
		}
		a.OnOutcome = func(models.Outcome) {
			m.w.mu.Lock()
			defer m.w.mu.Unlock()
			m.w.confirmed[key] = n
		}
		a.OnOutcome = m.outcome(a, p)
		all = append(all, a)
	}
	return all
}

// last returns the last change of each key. The caller holds the lock of the world.
func (m *model) last() map[string]int64 {
	all := map[string]int64{}
	for key, n := range m.w.deleted {
		all[key] = n
	}
	for key, n := range m.w.truth {
		all[key] = max(all[key], n)
	}
	return all
}
