package events_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/events"
)

// asyncStep is one event of a schedule.
type asyncStep struct {
	op   string // tell, end, flush
	kind string // for tell: a field of Handlers
	key  string
	pick int    // for end: index of a running handler
	how  string // how it ends: return, panic, goexit
}

// asyncSchedule runs steps against an Async and keeps the expected results in plain lists.
type asyncSchedule struct {
	options events.AsyncOptions
	steps   []asyncStep
	discard bool // Close with an ended context instead of waiting

	async    *events.Async[doc]
	handlers events.Handlers[doc]
	problems []string

	mu      sync.Mutex // guards the fields below: handlers and reporting calls run on their own goroutines
	running []*reportedEvent
	counts  map[string]*events.AsyncCounts // expected, by kind

	// State of the model.
	reported []*reportedEvent // in order
	held     []*reportedEvent // queued or in a handler
	waiting  []*reportedEvent
	flushes  []*flushCall
}

type reportedEvent struct {
	n         int
	kind, key string
	begun     bool
	ended     bool // handled, or dropped
	returned  bool // the reporting call
	finish    chan string
}

type flushCall struct {
	covers   []*reportedEvent
	returned bool
	err      error
}

func drawAsyncSchedule(t *rapid.T) *asyncSchedule {
	s := &asyncSchedule{discard: rapid.Bool().Draw(t, "discard"), counts: map[string]*events.AsyncCounts{}}
	s.options = events.AsyncOptions{
		QueueSize: rapid.IntRange(1, 6).Draw(t, "size"),
		Workers:   rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "workers"),
		Drop:      events.Kind(rapid.IntRange(0, 31).Draw(t, "drop")) & events.Kind(rapid.IntRange(0, 31).Draw(t, "drop too")),
		Logger:    slog.New(slog.DiscardHandler),
	}
	kinds := []string{"ActionSent", "ActionCompleted", "ActionFailed", "BatchCompleted", "HealthChanged"}
	for range rapid.IntRange(0, 60).Draw(t, "steps") {
		step := asyncStep{op: rapid.SampledFrom([]string{"tell", "tell", "tell", "tell", "end", "end", "end", "flush"}).Draw(t, "op")}
		switch step.op {
		case "tell":
			step.kind = rapid.SampledFrom(kinds).Draw(t, "kind")
			if strings.HasPrefix(step.kind, "Action") {
				step.key = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key")
			}
		case "end":
			step.pick = rapid.IntRange(0, 10).Draw(t, "which")
			step.how = rapid.SampledFrom([]string{"return", "return", "return", "panic", "goexit"}).Draw(t, "how")
		}
		s.steps = append(s.steps, step)
	}
	return s
}

func (s *asyncSchedule) wrong(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

func (s *asyncSchedule) countsOf(kind string) *events.AsyncCounts {
	if s.counts[kind] == nil {
		s.counts[kind] = &events.AsyncCounts{}
	}
	return s.counts[kind]
}

func (s *asyncSchedule) run() {
	eventOf := func(event any) int {
		switch e := event.(type) {
		case *events.ActionSent[doc]:
			return e.Attempt
		case *events.ActionCompleted[doc]:
			return e.Attempts
		case *events.ActionFailed[doc]:
			return e.Attempts
		case *events.Batch:
			return e.Actions
		case *events.HealthChange:
			return int(e.At.Unix())
		}
		panic("what is this?")
	}
	var err error
	s.async, err = events.NewAsync(recorder(func(_ context.Context, _ string, event any) { s.handle(eventOf(event)) }), &s.options)
	if err != nil {
		s.wrong("%v", err)
		return
	}
	s.handlers = s.async.Handlers()
	for _, step := range s.steps {
		switch step.op {
		case "tell":
			s.tell(step)
		case "end":
			s.end(step.pick, step.how)
		case "flush":
			s.flush()
		}
		synctest.Wait()
		s.check()
	}
	if s.discard {
		s.throwAway()
	} else {
		s.finish()
	}
	synctest.Wait()
	s.check()
	for _, e := range s.reported {
		if !e.ended || !e.returned {
			s.wrong("event %d has not ended: %+v", e.n, *e)
		}
	}
}

func (s *asyncSchedule) handle(n int) {
	s.mu.Lock()
	e := s.reported[n]
	if e.begun || e.ended {
		s.wrong("event %d is handled twice, or was to be dropped", n)
	}
	e.begun = true
	for _, other := range s.reported[:n] {
		if !other.ended && (other.key == e.key || s.options.Workers < 2) {
			s.wrong("event %d begins while %d of the same key has not ended", n, other.n)
		}
	}
	s.running = append(s.running, e)
	s.mu.Unlock()
	switch <-e.finish {
	case "panic":
		panic("as drawn")
	case "goexit":
		runtime.Goexit()
	}
}

func (s *asyncSchedule) tell(step asyncStep) {
	s.mu.Lock()
	e := &reportedEvent{n: len(s.reported), kind: step.kind, key: step.key, finish: make(chan string)}
	s.reported = append(s.reported, e)
	kind := events.Kind(1 << slices.Index([]string{"ActionSent", "ActionCompleted", "ActionFailed", "BatchCompleted", "HealthChanged"}, step.kind))
	switch {
	case len(s.held) < s.options.QueueSize:
		s.held = append(s.held, e)
		s.countsOf(e.kind).Queued++
	case s.options.Drop&kind != 0:
		e.ended = true
		s.countsOf(e.kind).Dropped++
	default:
		s.waiting = append(s.waiting, e)
	}
	s.mu.Unlock()
	go func() {
		raiseNumbered(s.handlers, e)
		s.mu.Lock()
		defer s.mu.Unlock()
		e.returned = true
	}()
}

// end ends one of the running handlers.
func (s *asyncSchedule) end(pick int, how string) {
	s.mu.Lock()
	if len(s.running) == 0 {
		s.mu.Unlock()
		return
	}
	i := pick % len(s.running)
	e := s.running[i]
	s.running = slices.Delete(s.running, i, i+1)
	e.ended = true
	n := s.countsOf(e.kind)
	n.Queued--
	n.Handled++
	if how != "return" {
		n.Panicked++
	}
	if at := slices.Index(s.held, e); at >= 0 {
		s.held = slices.Delete(s.held, at, at+1)
	}
	if len(s.waiting) > 0 && len(s.held) < s.options.QueueSize {
		first := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.held = append(s.held, first)
		s.countsOf(first.kind).Queued++
	}
	s.mu.Unlock()
	e.finish <- how
}

func (s *asyncSchedule) flush() {
	call := &flushCall{}
	for _, e := range s.reported {
		if !e.ended {
			call.covers = append(call.covers, e)
		}
	}
	s.flushes = append(s.flushes, call)
	go func() {
		err := s.async.Flush(context.Background())
		s.mu.Lock()
		defer s.mu.Unlock()
		call.returned, call.err = true, err
	}()
}

// finish ends all handlers, and Close.
func (s *asyncSchedule) finish() {
	closed := make(chan error)
	go func() { closed <- s.async.Close(context.Background()) }()
	synctest.Wait()
	for range s.reported {
		s.end(0, "return")
		synctest.Wait()
	}
	if err := <-closed; err != nil {
		s.wrong("Close says %v", err)
	}
}

// throwAway closes with an ended context.
func (s *asyncSchedule) throwAway() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.mu.Lock()
	thrown := 0
	for _, e := range slices.Concat(s.held, s.waiting) {
		if e.begun {
			continue
		}
		if n := s.countsOf(e.kind); slices.Contains(s.held, e) {
			n.Queued--
			n.Dropped++
		} else {
			n.Dropped++
		}
		e.ended = true
		thrown++
	}
	running := len(s.running)
	s.held, s.waiting = slices.Clone(s.running), nil
	s.mu.Unlock()
	err := s.async.Close(ctx)
	synctest.Wait()
	var lost *events.UnhandledError
	switch {
	case thrown+running == 0:
		if err != nil {
			s.wrong("Close returned %v, but there was nothing to do", err)
		}
	case !errors.As(err, &lost) || !errors.Is(err, context.Canceled):
		s.wrong("Close says %v", err)
	case lost.Discarded != thrown || lost.Running != running || lost.Queued != 0:
		s.wrong("Close returned %v, but %d are dropped and %d running", err, thrown, running)
	}
	for range running {
		s.end(0, "return")
		synctest.Wait()
	}
	again := s.async.Close(context.Background())
	if (again != nil) != (thrown > 0) || again != nil && (!errors.As(again, &lost) || lost.Discarded != thrown || lost.Err != nil) {
		s.wrong("the second Close returned %v, and %d were dropped", again, thrown)
	}
}

func (s *asyncSchedule) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.async.Stats()
	got := map[string]events.AsyncCounts{
		"ActionSent": stats.ActionSent, "ActionCompleted": stats.ActionCompleted, "ActionFailed": stats.ActionFailed,
		"BatchCompleted": stats.BatchCompleted, "HealthChanged": stats.HealthChanged,
	}
	var want events.AsyncCounts
	for kind, n := range got {
		w := *s.countsOf(kind)
		if n != w {
			s.wrong("%s: %+v instead of %+v", kind, n, w)
		}
		want.Queued += w.Queued
		want.Handled += w.Handled
		want.Panicked += w.Panicked
		want.Dropped += w.Dropped
	}
	if total := stats.Total(); total != want {
		s.wrong("the total is %+v, not %+v", total, want)
	}
	if stats.Waiting != len(s.waiting) || stats.Total().Queued != len(s.held) {
		s.wrong("%d wait, %d are queued; not %d and %d", stats.Waiting, stats.Total().Queued, len(s.waiting), len(s.held))
	}
	if workers := max(1, s.options.Workers); len(s.held) > 0 && len(s.running) == 0 || len(s.running) > workers {
		s.wrong("%d handlers run, with %d workers and %d events", len(s.running), workers, len(s.held))
	}
	for _, e := range s.reported {
		if e.returned == slices.Contains(s.waiting, e) {
			s.wrong("event %d: the teller has returned: %v", e.n, e.returned)
		}
	}
	for i, call := range s.flushes {
		ended := true
		for _, e := range call.covers {
			ended = ended && e.ended
		}
		// A dropped event ends the waiting for its successors, too.
		discarded := call.err != nil
		if call.returned != ended && !discarded || discarded && !s.discard {
			s.wrong("flush %d has returned: %v (%v), and its events are handled: %v", i, call.returned, call.err, ended)
		}
	}
}

func raiseNumbered(h events.Handlers[doc], e *reportedEvent) {
	ctx := context.Background()
	switch e.kind {
	case "ActionSent":
		h.ActionSent(ctx, &events.ActionSent[doc]{Key: e.key, Attempt: e.n})
	case "ActionCompleted":
		h.ActionCompleted(ctx, &events.ActionCompleted[doc]{Key: e.key, Attempts: e.n})
	case "ActionFailed":
		h.ActionFailed(ctx, &events.ActionFailed[doc]{Key: e.key, Attempts: e.n})
	case "BatchCompleted":
		h.BatchCompleted(ctx, &events.Batch{Actions: e.n})
	case "HealthChanged":
		h.HealthChanged(ctx, &events.HealthChange{At: time.Unix(int64(e.n), 0)})
	}
}

func (s *asyncSchedule) String() string {
	text := fmt.Sprintf("QueueSize %d, Workers %d, Drop %v, discard %v\n", s.options.QueueSize, s.options.Workers, s.options.Drop, s.discard)
	for _, step := range s.steps {
		text += fmt.Sprintf("%+v\n", step)
	}
	return text
}

// The Async must behave like a few lists and counters. Every event is counted and either handled once, in order of
// its key, or dropped. The queue never exceeds its limit, calls block exactly as long as they must, and Flush returns
// when earlier events are handled.
func TestAsyncModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawAsyncSchedule(rt) // draws may end the goroutine, so not in the bubble
		synctest.Test(t, func(*testing.T) { s.run() })
		if len(s.problems) > 0 {
			rt.Fatalf("%s%s", s, strings.Join(s.problems, "\n"))
		}
	})
}
