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

// programs are rounds that draw a program from a seed and run it in this process,
// in a worker on each core. A worker is a process of its own, so that a panic, a
// deadlock in a bubble of testing/synctest, or a loop without end is a failure with
// a seed like any other.
type programs struct {
	// once runs one program. It returns which of holds it has held.
	once func(t *testing.T, rnd *rand.Rand) (held []string, err error)
	// holds names all that a program may hold.
	holds func() []string
	// limit is how long a program may take. Defaults to a minute.
	limit time.Duration
	// blindFrom is the number of rounds that must have held everything. Defaults to 10 000.
	blindFrom int
}

const blindFrom = 10_000

func (r programs) run(ctx context.Context, name string, p *plan) error {
	temp, err := os.MkdirTemp("", "soak") // of the workers, one of which may be killed
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
		err = ctx.Err() // interrupted, and nothing had failed
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

// feed gives one worker seeds as long as there are any.
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
		_ = w.stop() // what it says is about a round that was reported, or nothing
	}
}

// counts counts what the programs held.
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

// answer is what a worker says about one program.
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
