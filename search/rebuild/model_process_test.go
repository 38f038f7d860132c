package rebuild

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// process runs rebuilds or writes. It can be killed or stopped at any call to another system. A killed process gets
// no replies, but its earlier requests may still be executed.
type process struct {
	m      *model
	dead   atomic.Bool
	writes bool

	mu     sync.Mutex
	goesOn chan struct{}        // closed when it resumes; nil: running
	trap   *trap                // nil: none, or already sprung
	cut    map[string]time.Time // end of its disconnection from the store, and from the documents
}

// trap is a disturbance of a process at a call in a given step. Short steps are hit as often as long ones.
type trap struct {
	step  Step   // step of the record; for a writer any
	whom  string // "line", or what is asked
	skips int    // number of earlier calls to let pass
	// what is "kill", "stop", "lose" (the call gets no reply) or "cut" (the store is unreachable for this long, the
	// documents for some time).
	what string
	when string // "before" it is done, "after", or "late": it is done so much later
	late time.Duration
	long time.Duration // for stop and cut
}

func (t trap) String() string {
	return fmt.Sprintf("%s %s %s number %d in %q (late %v, long %v)", t.what, t.when, t.whom, t.skips, t.step, t.late, t.long)
}

// sprung returns the trap of a process if it springs at this call.
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
		p.m.hold("late: " + whom)
	}
	return t
}

// springs executes a trap at a call.
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

// cutOff reconnects the process to the documents before the store, so that it could write outdated documents.
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

// works reports whether the process is neither dead, stopped nor cut off.
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

// trouble is a temporary fault of a remote system.
type trouble struct {
	kind  string // "slow", "slow answer" (it is done at once), "lost" (it is not done), "cut" (it is done, and the answer does not come)
	until time.Time
	takes time.Duration // duration of slow calls
}

var errTrouble = errors.New("the line is cut")

// ask makes a call to another system. A slow call is executed even if the process no longer waits for it.
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
