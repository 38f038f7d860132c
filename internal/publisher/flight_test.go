package publisher

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// takeBack returns the permit, and a subscriber of the breaker ends the goroutine.
type exitingGate struct {
	step int
	exit bool
}

func (*exitingGate) Early(bool) {}

func (g *exitingGate) State() GateState {
	if g.step == 1 { // half-open since the Sent hook
		return GateState{Shut: ErrShut, Ready: true}
	}
	return GateState{}
}

func (g *exitingGate) Enter() (Permit, bool) { return &exitingPermit{g}, true }

type exitingPermit struct{ g *exitingGate }

func (p *exitingPermit) Probe() bool { return p.g.step == 1 }

func (*exitingPermit) Answered() {}

func (p *exitingPermit) Done(Service, time.Duration, error) {
	if p.g.step == 1 && !p.g.exit {
		p.g.exit = true
		p.g.step = 2
		runtime.Goexit()
	}
}

func TestASubscriberThatEndsTheGoroutineWhileARequestIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &exitingGate{}
		p, e := start(t, &service{answer: applied}, func(c *Config[int, int]) {
			c.Gate = g
			c.Hooks.Sent = func(*Batch[int]) {
				if g.step == 0 {
					g.step = 1
				}
			}
		})
		add(t, p, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		assert.NoError(t, p.Flush(ctx))
		assert.Equal(t, 3, e.completed)
		ended, cancel := withEnded(t) // otherwise the bubble does not end
		defer cancel()
		_ = p.Close(ended)
	})
}
