package publisher

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAGateThatWantsAProbeIsLeftToOthersForAMoment(t *testing.T) {
	var g gateView
	assert.EqualValues(t, 5, g.see(GateState{Served: 5}, true, 0))
	assert.EqualValues(t, 2, g.see(GateState{Served: 7, Others: 3}, true, 0), "only requests since the last call")
	assert.Zero(t, g.yieldUntil, "the gate needs no probe")

	g.see(GateState{Shut: ErrShut, Blocked: true, Served: 7}, true, time.Second)
	assert.True(t, g.locked)
	g.see(GateState{Shut: ErrShut, Ready: true, Served: 7}, true, 2*time.Second)
	assert.Equal(t, 2*time.Second+yield, g.yieldUntil)
	g.see(GateState{Shut: ErrShut, Ready: true, Served: 7}, true, 3*time.Second)
	assert.Equal(t, 2*time.Second+yield, g.yieldUntil, "the wait begins when the gate starts to need a probe")

	var other gateView
	other.see(GateState{Shut: ErrShut, Ready: true}, false, time.Second)
	assert.Zero(t, other.yieldUntil, "no probe of this one was refused")
}

func TestTheCountOfPassedRequestsMayWrapAround(t *testing.T) {
	var g gateView
	g.see(GateState{Served: 1<<32 - 1}, false, 0)
	assert.EqualValues(t, 3, g.see(GateState{Served: 1<<32 + 2}, false, 0))
}
