package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// programs is a soak whose rounds draw a program from a seed and run it in a worker process, one worker per core. So a
// panic, a deadlock in a bubble of testing/synctest, or an endless loop is a failure with a seed like any other.
type programs struct {
	// once runs one program. It returns the features that the program had.
	once func(t *testing.T, rnd *rand.Rand) (held []string, err error)
	// holds returns all features that programs may have.
	holds func() []string
	// limit is the maximum time of a program. Defaults to a minute.
	limit time.Duration
	// blindFrom is the number of rounds from which a feature without a count is a failure. Defaults to 10 000.
	blindFrom int
}

const blindFrom = 10_000

func (r programs) run(ctx context.Context, name string, p *plan) error {
	temp, err := os.MkdirTemp("", "soak") // for the workers, which may be killed
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	count := &counts{of: map[string]int{}}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() { r.feed(ctx, name, temp, p, count) })
	}
	workers.Wait()
	ran, err := p.result()
	if err == nil {
		err = ctx.Err() // interrupted without a failure
	}
	var blind []string
	for _, what := range r.holds() {
		n := count.of[what]
		fmt.Fprintf(p.out, "%8d  %5.1f %%  %s\n", n, 100*float64(n)/float64(max(ran, 1)), what)
		if n == 0 {
			blind = append(blind, what)
		}
	}
	if err == nil && ran >= cmp.Or(r.blindFrom, blindFrom) && len(blind) > 0 {
		return fmt.Errorf("none of %d rounds held: %s", ran, strings.Join(blind, ", "))
	}
	return err
}

// feed runs one worker and passes seeds to it until there are no more.
func (r programs) feed(ctx context.Context, name, temp string, p *plan, count *counts) {
	var w *worker
	var err error
	for {
		seed, more := p.next()
		if !more {
			break
		}
		if w == nil {
			if w, err = startWorker(ctx, name, temp); err != nil {
				p.end(err)
				return
			}
		}
		a, err := w.try(seed, cmp.Or(r.limit, time.Minute))
		switch {
		case ctx.Err() != nil:
			p.end(ctx.Err())
		case err != nil:
			p.end(&failure{name, seed, err.Error()})
		case a.Failed != "":
			p.end(&failure{name, seed, a.Failed})
		default:
			count.add(a.Held)
			p.end(nil)
		}
	}
	if w != nil {
		_ = w.stop() // its output is about a reported round, or empty
	}
}

// counts counts the features of programs.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) add(held []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, what := range held {
		c.of[what]++
	}
}

// answer is the result of one program from a worker.
type answer struct {
	Held   []string `json:"held,omitempty"`
	Failed string   `json:"failed,omitempty"`
}

// answerTo runs the program of a seed.
func (r programs) answerTo(t *testing.T, seed uint64) (a answer) {
	held, err := r.once(t, rand.New(rand.NewPCG(seed, 0)))
	if err == nil && t.Failed() {
		err = errors.New("the test has failed; its worker says why at its end")
	}
	if err != nil {
		a.Failed = err.Error()
	}
	a.Held = held
	return a
}
