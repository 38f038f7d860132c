package sendertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// RunQueueModel runs one random program of processes that share a durable queue. They add, send, are killed, frozen and
// continued, closed and replaced, while the service fails. At the end everything must be sent, and the index must have
// the last change of each key. During the program no callback may be called twice, the accounts of each process must
// balance, and the index must have what Flush has promised. It returns the features of [QueueModelHolds] that the
// program had, and an error with all violations. intn is as in [RunModel].
func RunQueueModel(t *testing.T, intn func(n int) int) (held []string, err error) {
	t.Helper()
	steps := make([]queueStep, 30+intn(60))
	for i := range steps {
		steps[i] = queueStep{what: intn(queueSteps), process: intn(3), key: intn(6), n: intn(1000)}
	}
	m := &queueModel{appended: map[string][]change{}, holds: map[string]bool{}, merges: intn(2) == 0, inFlight: 1 + intn(3)}
	synctest.Test(t, func(*testing.T) { m.run(steps) })
	for what := range m.holds {
		held = append(held, what)
	}
	if len(m.errors) > 0 {
		return held, fmt.Errorf("%v\n%s", steps, strings.Join(m.errors, "\n"))
	}
	return held, nil
}

// QueueModelHolds returns the features that programs of RunQueueModel may have.
func QueueModelHolds() []string {
	return []string{"kill", "zombie", "close in the middle", "lease that ran out", "stale end", "outage", "fold", "elsewhere", "superseded", "kept by Close", "waiting call"}
}

type queueStep struct{ what, process, key, n int }

// Kinds of steps; most steps add.
const (
	stepKill = iota
	stepStop
	stepClose
	stepOutage
	stepFlush
	stepSleep
	stepAdd
	queueSteps = stepAdd + 8
)

// change is an appended change.
type change struct {
	version int
	deletes bool
}

// queueModel is the state of a program.
type queueModel struct {
	service  *searchtest.Server
	queue    *memqueue.Queue
	down     atomic.Bool
	inFlight int
	merges   bool
	alive    [3]*modelProcess

	mu       sync.Mutex
	errors   []string
	holds    map[string]bool
	version  int
	appended map[string][]change // by key, in append order
}

// modelProcess is one process of a program.
type modelProcess struct {
	*QueueProcess
	sender   *bufferedsender.BufferedSender[Hotel]
	outcomes map[int]int // calls of OnOutcome, by version
	waiting  atomic.Int64
}

func (m *queueModel) wrong(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.errors = append(m.errors, fmt.Sprintf(format, args...))
}

func (m *queueModel) hold(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds[what] = true
}

func (m *queueModel) run(steps []queueStep) {
	m.service = searchtest.NewServer(nil)
	if err := m.service.CreateIndex(HotelIndex); err != nil {
		m.wrong("%v", err)
		return
	}
	m.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		time.Sleep(20 * time.Millisecond)
		if m.down.Load() {
			return nil, errors.New("connection refused")
		}
		return next(req)
	})
	m.queue, _ = memqueue.New(nil)
	for i := range m.alive {
		m.alive[i] = m.process()
	}
	for _, s := range steps {
		m.step(s)
	}
	m.finish()
}

// process starts a process.
func (m *queueModel) process() *modelProcess {
	p := &modelProcess{QueueProcess: &QueueProcess{Queue: m.queue}, outcomes: map[int]int{}}
	client, err := search.NewClientWithKey(m.service.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: &processTransport{p.QueueProcess, m.service}}})
	if err == nil {
		p.sender, err = bufferedsender.New(client, &Options{
			Queue: p.QueueProcess, Logger: NoLog, RequestTimeout: 150 * time.Millisecond,
			UnknownWait: 50 * time.Millisecond, AutoFlushInterval: 30 * time.Millisecond,
			Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxInFlight: m.inFlight},
		})
	}
	if err != nil {
		panic(err)
	}
	return p
}

func (m *queueModel) step(s queueStep) {
	p := m.alive[s.process]
	switch s.what {
	case stepKill:
		m.hold("kill")
		p.Kill()
		m.bury(p, 0)
		m.alive[s.process] = m.process()
	case stepStop:
		p.Stop()
		time.Sleep(time.Duration(s.n) * time.Millisecond)
		if s.n > 400 {
			m.hold("zombie")
		}
		p.Continue()
	case stepClose:
		m.hold("close in the middle")
		m.bury(p, time.Duration(s.n/5)*time.Millisecond)
		m.alive[s.process] = m.process()
	case stepOutage:
		m.hold("outage")
		m.down.Store(true)
		time.Sleep(time.Duration(s.n) * 3 * time.Millisecond)
		m.down.Store(false)
	case stepFlush:
		m.flush(p)
	case stepSleep:
		time.Sleep(time.Duration(s.n/4) * time.Millisecond)
	default:
		m.add(p, s)
	}
}

// bury closes the sender of a process that will be replaced, and checks its accounts.
func (m *queueModel) bury(p *modelProcess, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := p.sender.Close(ctx)
	if failed := (*bufferedsender.CloseError)(nil); errors.As(err, &failed) && failed.Failed+failed.Unsent > 0 && !p.dead.Load() {
		m.wrong("Close returned %v, but nothing can fail", err)
	}
	m.accounts(p)
}

func (m *queueModel) accounts(p *modelProcess) {
	s := p.sender.Stats()
	if s.Accepted != s.Completed+s.Failed+s.Unsent+int64(s.PendingActions) {
		m.wrong("the accounts of a process do not balance: %+v", s)
	}
	if s.Stale > 0 {
		m.hold("stale end")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for version, n := range p.outcomes {
		if n > 1 {
			m.errors = append(m.errors, fmt.Sprintf("the callback of version %d was called %d times", version, n))
		}
	}
}

// add appends a change by a process. No other process appends meanwhile, so the order is known.
func (m *queueModel) add(p *modelProcess, s queueStep) {
	key := fmt.Sprint("k-", s.key)
	m.version++
	c := change{version: m.version}
	action := models.UploadAction(Hotel{ID: key, Rooms: c.version})
	switch {
	case s.n%7 == 0:
		c.deletes, action.Type = true, models.ActionTypeDelete
	case m.merges && s.n%2 == 0:
		action.Type = models.ActionTypeMergeOrUpload
	}
	err := m.index(p, s.n%5 == 0, action.WithCallback(func(o models.Outcome) {
		m.mu.Lock()
		defer m.mu.Unlock()
		p.outcomes[c.version]++
		switch {
		case o.Reason == models.ReasonSuperseded:
			m.holds["superseded"] = true
		case errors.Is(o.Err, bufferedsender.ErrElsewhere), errors.Is(o.Err, bufferedsender.ErrParked):
			m.holds["elsewhere"] = true
		case errors.Is(o.Err, bufferedsender.ErrClosed) && o.Unknown:
			m.holds["kept by Close"] = true
		case o.Err != nil && !p.dead.Load():
			m.errors = append(m.errors, fmt.Sprintf("version %d of %s ended with %v", c.version, key, o.Err))
		}
	}))
	if err != nil {
		m.wrong("adding %s: %v", key, err)
		return
	}
	m.mu.Lock()
	m.appended[key] = append(m.appended[key], c)
	p.outcomes[c.version] += 0
	m.mu.Unlock()
}

// index adds an action. If wait is set it leaves a call behind that waits for the outcome.
func (m *queueModel) index(p *modelProcess, wait bool, action models.IndexDocumentsAction[Hotel]) error {
	if !wait {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return p.sender.IndexDocuments(ctx, action)
	}
	m.hold("waiting call")
	p.waiting.Add(1)
	go func() {
		defer p.waiting.Add(-1)
		_, err := p.sender.IndexDocumentsAndWait(context.Background(), []models.IndexDocumentsAction[Hotel]{action}, nil)
		if err != nil && !errors.Is(err, bufferedsender.ErrElsewhere) && !errors.Is(err, bufferedsender.ErrParked) && !errors.Is(err, bufferedsender.ErrClosed) && !p.dead.Load() {
			m.wrong("a waiting call: %v", err)
		}
	}()
	synctest.Wait() // the action is appended
	return nil
}

// flush flushes one process while others continue, and checks the index against the promise of Flush.
func (m *queueModel) flush(p *modelProcess) {
	m.mu.Lock()
	until := map[string]change{}
	for key, all := range m.appended {
		for _, c := range all {
			if _, own := p.outcomes[c.version]; own {
				until[key] = c
			}
		}
	}
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if err := p.sender.Flush(ctx, nil); err != nil {
		entries, _ := m.queue.Inspect(context.Background(), queue.Inspection{})
		m.wrong("Flush: %v; in the queue: %+v; its sender: %+v", err, entries, p.sender.Health())
		return
	}
	for key, c := range until {
		if v, there := m.indexed(key); there && v < c.version && !c.deletes || !there && !c.deletes && !m.deletedAfter(key, c.version) {
			m.wrong("after Flush the index has version %d of %s (%v), and %d was appended before", v, key, there, c.version)
		}
	}
}

func (m *queueModel) deletedAfter(key string, version int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.appended[key] {
		if c.version > version && c.deletes {
			return true
		}
	}
	return false
}

func (m *queueModel) indexed(key string) (version int, there bool) {
	raw, there := m.service.Document("hotels", key)
	if !there {
		return 0, false
	}
	var h Hotel
	if err := json.Unmarshal(raw, &h); err != nil {
		m.wrong("%v", err)
	}
	return h.Rooms, true
}

// finish lets everything be sent, and compares the index with the appended changes.
func (m *queueModel) finish() {
	for range 1000 {
		// A key whose holder died several times is parked for an operator; unpark it.
		parked, _ := m.queue.Inspect(context.Background(), queue.Inspection{States: queue.Parked})
		for i := range parked {
			if parked[i].Deaths >= queue.MaxDeaths {
				_, _ = m.queue.Unpark(context.Background(), parked[i].Key)
			}
		}
		s, _ := m.queue.Stats(context.Background())
		if s.Waiting+s.Leased == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(time.Minute) // for processes that poll for the outcomes of their actions
	s, _ := m.queue.Stats(context.Background())
	if s.Waiting+s.Leased+s.Parked > 0 {
		entries, _ := m.queue.Inspect(context.Background(), queue.Inspection{})
		m.wrong("the queue is not empty: %+v %+v", s, entries)
		for i, p := range m.alive {
			m.wrong("process %d: %+v %+v", i, p.sender.Health(), p.sender.Stats())
		}
	}
	if s.Expired > 0 {
		m.hold("lease that ran out")
	}
	if s.Replaced > 0 {
		m.hold("fold")
	}
	for key, all := range m.appended {
		last := all[len(all)-1]
		switch version, there := m.indexed(key); {
		case there == last.deletes || there && version != last.version:
			m.wrong("the index has version %d of %s (%v), the last change is %+v", version, key, there, last)
		}
	}
	for _, p := range m.alive {
		m.mu.Lock()
		for version, n := range p.outcomes {
			if n != 1 {
				m.errors = append(m.errors, fmt.Sprintf("the callback of version %d was called %d times", version, n))
			}
		}
		m.mu.Unlock()
		if n := p.waiting.Load(); n > 0 {
			m.wrong("nothing waits any longer except %d calls", n)
		}
		if s := p.sender.Stats(); s.Appended > 0 && s.Accepted > s.Completed {
			m.wrong("nothing waits any longer, but a process has %+v", s)
		}
		m.bury(p, time.Hour)
	}
	_ = m.queue.Close()
	_ = m.service.Close()
}
