package breaker_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

const modelSlots = 6

// modelParts times -rapid.checks (100 by default) is the number of programs of each model test.
const modelParts = 20

func checkModel(t *testing.T, property func(*rapid.T)) {
	for part := range modelParts {
		t.Run(strconv.Itoa(part), func(t *testing.T) { rapid.Check(t, property) })
	}
}

// drawOptions returns small options with every default filled in, so that the model needs no defaults.
func drawOptions(rt *rapid.T) breaker.Options {
	ms := func(label string, least, most int) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(rt, label)) * time.Millisecond
	}
	o := breaker.Options{
		Failures: rapid.SampledFrom([]int{-1, 1, 2, 3, 4}).Draw(rt, "failures"),
		Window:   ms("window", 1, 20),
		OpenFor:  ms("open for", 1, 20),

		Jitter: rapid.SampledFrom([]float64{-1, -1, 0.25, 0.5, 1}).Draw(rt, "jitter"),
	}
	o.MaxOpenFor = o.OpenFor + ms("max open for", 0, 40)
	return *o.OpensInARow(rapid.SampledFrom([]int{-1, -1, 1, 2, 3, 5}).Draw(rt, "in a row"))
}

// errorsOfModel are distinct to the model.
var errorsOfModel = []error{nil, errors.New("one"), errors.New("two")}

func drawOp(rt *rapid.T, o breaker.Options, kinds []string, slot *rapid.Generator[int]) op {
	p := op{kind: rapid.SampledFrom(kinds).Draw(rt, "op")}
	switch p.kind {
	case "Allow":
		p.slot = slot.Draw(rt, "slot")
	case "Done", "Request":
		p.slot = slot.Draw(rt, "slot")
		p.result = breaker.Result{
			Outcome: rapid.SampledFrom([]breaker.Outcome{breaker.Failure, breaker.Failure, breaker.Failure, breaker.Failure, breaker.Success, breaker.Success, breaker.Neutral, breaker.Trip, 77}).Draw(rt, "outcome"),
			Err:     rapid.SampledFrom(errorsOfModel).Draw(rt, "err"),
		}
		if rapid.Bool().Draw(rt, "retry after") {
			p.result.RetryAfter = time.Duration(rapid.IntRange(-1, 60).Draw(rt, "ms")) * time.Millisecond
		}
	case "Sleep":
		near := rapid.SampledFrom([]time.Duration{0, o.Window, o.Window / 2, o.OpenFor, time.Millisecond}).Draw(rt, "about")
		p.sleep = near + time.Duration(rapid.IntRange(-1, 1).Draw(rt, "tick"))
		p.beyond = rapid.Bool().Draw(rt, "beyond")
	}
	return p
}

// recorder is a subscriber that records changes.
type recorder struct {
	mu      sync.Mutex
	changes []breaker.Change
}

func (r *recorder) hear(c breaker.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, c)
}

func (r *recorder) heard() []breaker.Change {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.changes)
}

// sequential is a random program for one goroutine.
type sequential struct {
	options breaker.Options
	ops     []op
}

func drawSequential(rt *rapid.T, most int) sequential {
	s := sequential{options: drawOptions(rt)}
	kinds := slices.Concat(slices.Repeat([]string{"Request"}, 12), slices.Repeat([]string{"Allow"}, 4), slices.Repeat([]string{"Done"}, 4),
		slices.Repeat([]string{"Sleep"}, 8), []string{"Status", "Reset", "Disable"}, slices.Repeat([]string{"Enable"}, 6))
	slot := rapid.IntRange(0, modelSlots-1)
	for range rapid.IntRange(1, most).Draw(rt, "ops") {
		o := drawOp(rt, s.options, kinds, slot)
		if o.kind == "Request" { // Allow and Done with nothing in between
			s.ops = append(s.ops, op{kind: "Allow", slot: o.slot})
			o.kind = "Done"
		}
		s.ops = append(s.ops, o)
	}
	return s
}

// run returns a difference between breaker and model, or "". At its end both are in the same state.
func (s sequential) run() (b *breaker.Breaker, m *model, permits []*breaker.Permit, heard *recorder, wrong string) {
	b, err := breaker.New(&s.options)
	if err != nil {
		return nil, nil, nil, nil, err.Error()
	}
	opened := uint64(0)
	b.Randomly(func() float64 { opened++; return chance(opened - 1) })
	heard = &recorder{}
	b.Subscribe(heard.hear)
	m = newModel(s.options, time.Now(), 3*modelSlots)
	permits = make([]*breaker.Permit, 3*modelSlots)
	for i, o := range s.ops {
		if o.kind == "Sleep" {
			d := o.sleep
			if o.beyond && m.status.State == breaker.Open {
				d += m.status.Until.Sub(m.now) - s.options.OpenFor
			}
			d = max(d, 0)
			time.Sleep(d)
			synctest.Wait()
			m.sleep(d)
		}
		got, want := apply(b, permits, o), m.apply(o)
		if got != want {
			return b, m, permits, heard, fmt.Sprintf("op %d, %v: got\n\t%+v, want\n\t%+v", i, o, got, want)
		}
		if h := heard.heard(); !slices.Equal(h, m.changes) {
			return b, m, permits, heard, fmt.Sprintf("op %d, %v: notified of\n%swant\n%s", i, o, lines(h), lines(m.changes))
		}
		// Status may change the state, so it is not called after each operation.
		if i%2 == 0 {
			if s := b.Status(); s != m.status {
				return b, m, permits, heard, fmt.Sprintf("op %d, %v: status\n\t%+v, want\n\t%+v", i, o, s, m.status)
			}
		}
	}
	return b, m, permits, heard, ""
}

// TestModel runs random programs against the naive model with exact times, and compares every answer, every status
// and every notification. For a soak run
//
//	go test ./retry/breaker -run TestModel -rapid.checks=10000 -timeout 0
func TestModel(t *testing.T) {
	checkModel(t, func(rt *rapid.T) {
		s := drawSequential(rt, 200) // draws may end their goroutine, so not in the bubble
		var wrong string
		synctest.Test(t, func(*testing.T) {
			_, _, _, _, wrong = s.run()
		})
		if wrong != "" {
			rt.Fatalf("%+v\n%s\n%s", s.options, wrong, lines(s.ops))
		}
	})
}

// TestModelConcurrentSafe brings a breaker into a random state and runs short programs on it concurrently on three
// goroutines. There must be an order of their operations in which the model gives the same answers, final status and
// notifications.
func TestModelConcurrentSafe(t *testing.T) {
	checkModel(t, func(rt *rapid.T) {
		s := drawSequential(rt, 30)
		kinds := []string{"Allow", "Allow", "Done", "Done", "Done", "Status", "Reset", "Disable", "Enable"}
		programs := make([][]op, 3)
		for g := range programs {
			for range rapid.IntRange(1, 4).Draw(rt, "ops") {
				// Earlier permits are shared, new ones belong to one goroutine.
				slot := rapid.OneOf(rapid.IntRange(0, modelSlots-1), rapid.IntRange((g+3)*modelSlots/2, (g+4)*modelSlots/2-1))
				o := drawOp(rt, s.options, kinds, slot)
				if o.kind == "Allow" {
					o.slot = rapid.IntRange((g+3)*modelSlots/2, (g+4)*modelSlots/2-1).Draw(rt, "own slot")
				}
				programs[g] = append(programs[g], o)
			}
		}
		due := rapid.Bool().Draw(rt, "at the moment of waking")
		var wrong string
		synctest.Test(t, func(*testing.T) {
			b, m, permits, heard, w := s.run()
			if w != "" {
				wrong = w
				return
			}
			if due && m.status.State == breaker.Open {
				d := m.status.Until.Sub(m.now)
				time.Sleep(d) // no Wait: the timer is another goroutine
				m.sleep(d)
			}
			answers := race(b, permits, programs)
			status := b.Status()
			synctest.Wait()
			if !explain(m, programs, answers, status, heard.heard()) {
				wrong = fmt.Sprintf("no order explains\n%s%s\tstatus %+v\n%s", lines(programs), lines(answers), status, lines(heard.heard()))
			}
		})
		if wrong != "" {
			rt.Fatalf("%+v\n%s\nafter\n%s", s.options, wrong, lines(s.ops))
		}
	})
}

// race runs the programs concurrently and returns their answers.
func race(b *breaker.Breaker, permits []*breaker.Permit, programs [][]op) [][]answer {
	answers := make([][]answer, len(programs))
	var ready atomic.Int32
	var ended sync.WaitGroup
	for g, program := range programs {
		ended.Go(func() {
			ready.Add(1)
			for range 1000 { // long enough to overlap, short enough for one core
				if int(ready.Load()) == len(programs) {
					break
				}
			}
			for _, o := range program {
				answers[g] = append(answers[g], apply(b, permits, o))
			}
		})
	}
	ended.Wait()
	return answers
}

// explain searches for an order of the remaining operations that leads m to all these answers and this end.
func explain(m *model, programs [][]op, answers [][]answer, end breaker.Status, heard []breaker.Change) bool {
	left := false
	for g := range programs {
		if len(programs[g]) == 0 {
			continue
		}
		left = true
		next := m.clone()
		if next.apply(programs[g][0]) != answers[g][0] {
			continue
		}
		programs, answers := slices.Clone(programs), slices.Clone(answers)
		programs[g], answers[g] = programs[g][1:], answers[g][1:]
		if explain(next, programs, answers, end, heard) {
			return true
		}
	}
	return !left && m.status == end && slices.Equal(m.changes, heard)
}
