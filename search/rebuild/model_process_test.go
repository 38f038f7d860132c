package rebuild

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// process is what runs rebuilds, or writes. It can be killed, and stopped for a while, at whatever it asks others:
// nothing that a killed one asks is answered, and what it had asked before may still be done.
type process struct {
	m      *model
	dead   atomic.Bool
	writes bool

	mu     sync.Mutex
	goesOn chan struct{}        // closed when it does; nil: it runs
	trap   *trap                // nil: none, or it has sprung
	cut    map[string]time.Time // until when it does not reach the store, and the documents
}

// trap is what happens to a process at something that it does in a step: so it is as likely in a step that takes no
// time as in one that takes long.
type trap struct {
	step  Step   // that the record is in; of a writer any
	whom  string // "line", or what is asked
	skips int    // so many before it
	// what is "kill", "stop", "lose" (what is asked has no answer) or "cut" (it does not reach the store for so long, and
	// the documents for some time).
	what string
	when string // "before" it is done, "after", or "late": it is done so much later
	late time.Duration
	long time.Duration // of stop and cut
}

func (t trap) String() string {
	return fmt.Sprintf("%s %s %s number %d in %q (late %v, long %v)", t.what, t.when, t.whom, t.skips, t.step, t.late, t.long)
}

// sprung returns the trap of a process if it springs now.
func (p *process) sprung(whom string) *trap {
	step := p.m.w.record().Step
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.trap
	if t == nil || t.whom != whom || !p.writes && t.step != step || p.m.calm.Load() {
		return nil
	}
	if t.skips > 0 {
		t.skips--
		return nil
	}
	p.trap = nil
	if !p.writes {
		p.m.hold(map[string]string{"kill": "killed in ", "stop": "stopped in ", "lose": "without an answer in ", "cut": "cut off in "}[t.what] + string(step))
	}
	if t.when == "late" && t.what != "cut" && whom != "line" {
		p.m.hold("done late: " + whom)
	}
	return t
}

// springs has a trap spring at something that is asked.
func (p *process) springs(ctx context.Context, t *trap, do func(ctx context.Context) error) error {
	if t.what == "cut" {
		p.cutOff(t)
		return errTrouble
	}
	done := make(chan error, 1)
	switch ctx := context.WithoutCancel(ctx); t.when {
	case "after":
		done <- do(ctx)
	case "late":
		p.m.late.Go(func() {
			time.Sleep(t.late)
			done <- do(ctx)
		})
	}
	switch t.what {
	case "kill":
		p.kill()
		return errDead
	case "lose":
		return errTrouble
	}
	p.stop(t.long)
	if dead := p.alive(); dead != nil {
		return dead
	}
	if t.when == "before" {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		done <- do(ctx)
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *process) stop(long time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.goesOn != nil {
		return
	}
	stopped := make(chan struct{})
	p.goesOn = stopped
	p.m.stoppedUntil(time.Now().Add(long))
	time.AfterFunc(long, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.goesOn == stopped {
			p.goesOn = nil
			close(stopped)
		}
	})
}

func (p *process) kill() {
	p.dead.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.goesOn != nil {
		close(p.goesOn)
		p.goesOn = nil
	}
}

// cutOff has a process reach the documents again before the store, which is when it could write what is old.
func (p *process) cutOff(t *trap) {
	p.m.stoppedUntil(time.Now().Add(t.long))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = map[string]time.Time{"store": time.Now().Add(t.long), "documents": time.Now().Add(t.late)}
}

func (p *process) reaches(whom string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !time.Now().Before(p.cut[whom])
}

// works reports whether it is neither dead, nor stopped, nor cut off.
func (p *process) works() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.dead.Load() && p.goesOn == nil && !time.Now().Before(p.cut["store"])
}

// alive waits while the process is stopped.
func (p *process) alive() error {
	for {
		p.mu.Lock()
		stopped := p.goesOn
		p.mu.Unlock()
		if p.dead.Load() {
			return errDead
		}
		if stopped == nil {
			return nil
		}
		<-stopped
	}
}

// trouble is what may go wrong with something that is asked, for a while.
type trouble struct {
	kind  string // "slow", "slow answer" (it is done at once), "lost" (it is not done), "cut" (it is done, and the answer does not come)
	until time.Time
	takes time.Duration // of the slow ones
}

var errTrouble = errors.New("the line is cut")

// ask has a process do something that others do. What is slow is done also if the process does not wait for it any
// more.
func (p *process) ask(ctx context.Context, whom string, do func(ctx context.Context) error) error {
	if err := p.alive(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if t := p.sprung(whom); t != nil {
		return p.springs(ctx, t, do)
	}
	if !p.reaches(whom) {
		return errTrouble
	}
	t := p.m.troubled(whom)
	switch t.kind {
	case "lost":
		return errTrouble
	case "cut":
		_ = do(context.WithoutCancel(ctx))
		return errTrouble
	case "slow", "slow answer":
		done := make(chan error, 1)
		p.m.late.Go(func() {
			if t.kind == "slow" {
				time.Sleep(t.takes)
				done <- do(context.WithoutCancel(ctx))
				return
			}
			err := do(context.WithoutCancel(ctx))
			time.Sleep(t.takes)
			done <- err
		})
		select {
		case err := <-done:
			return errors.Join(p.alive(), err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	err := do(ctx)
	if dead := p.alive(); dead != nil {
		return dead
	}
	return err
}
