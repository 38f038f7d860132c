package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// plan selects the rounds to run, and counts those that ran.
type plan struct {
	seed   uint64 // of the first round
	rounds int    // 0: as many as fit before until
	times  int    // runs of each seed
	began  time.Time
	until  time.Time // zero: no limit
	out    io.Writer

	mu     sync.Mutex
	handed int // runs begun
	ended  int // runs ended
	said   time.Time
	failed error // the first failure
}

// failure is a failed round.
type failure struct {
	name string // of the soak
	seed uint64
	why  string
}

func (f *failure) Error() string {
	return fmt.Sprintf("seed %d failed:\n%s\n\nThe same again: go run ./internal/soak %s -seed %d -rounds 1 -times 100", f.seed, f.why, f.name, f.seed)
}

// next returns the seed of the next run, or false if no more must begin.
func (p *plan) next() (seed uint64, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.failed != nil || p.rounds > 0 && p.handed >= p.rounds*p.times || !p.until.IsZero() && !now.Before(p.until) {
		return 0, false
	}
	if now.Sub(p.began) >= time.Minute && now.Sub(p.said) >= time.Minute {
		p.said = now
		fmt.Fprintf(p.out, "rounds so far: %d in %v\n", p.ended, now.Sub(p.began).Round(time.Second))
	}
	p.handed++
	return p.seed + uint64((p.handed-1)/p.times), true
}

// end counts a run. After an error no more begin.
func (p *plan) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	if p.failed == nil {
		p.failed = err
	}
}

// result prints and returns the result.
func (p *plan) result() (rounds int, failed error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		fmt.Fprintf(p.out, "rounds passed: %d in %v\n", p.ended, time.Since(p.began).Round(time.Second))
	}
	return p.ended, p.failed
}
