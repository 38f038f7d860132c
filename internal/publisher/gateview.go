package publisher

import "time"

// gateView is what the loop knows of the gate. It is pure data.
type gateView struct {
	shut   error // why the gate holds requests back, or nil
	locked bool  // it lets none through at all
	ready  bool  // it waits for somebody to send a probe
	served uint32
	others uint64 // requests of others that the service was sound enough to serve
	// yieldUntil leaves the next probe to others until then.
	yieldUntil instant

	permit Permit // for the next request, if the gate has given one
}

// yield is how long a publisher whose items were refused, and not only one, leaves the
// next probe to others that share the gate: theirs may be applied.
const yield = 100 * time.Millisecond

// see takes in what the gate says, and returns how many requests have passed since the
// last time, of whoever shares the gate. yields says that a probe of this publisher was
// refused.
func (g *gateView) see(s GateState, yields bool, now instant) (passed uint32) {
	if s.Ready && !g.ready && yields {
		g.yieldUntil = later(now, yield)
	}
	passed = uint32(s.Served) - g.served
	*g = gateView{
		shut: s.Shut, locked: s.Blocked, ready: s.Ready, served: uint32(s.Served), others: s.Others,
		yieldUntil: g.yieldUntil, permit: g.permit,
	}
	return passed
}

// refreshGate finds out whether the gate lets requests through.
func (l *loop[V, R]) refreshGate() {
	gate := l.p.config.Gate
	if gate == nil {
		return
	}
	shut, s := l.gate.shut, gate.State()
	l.budget.traffic.passed += l.gate.see(s, l.refusals.tried > 0, l.p.now())
	switch {
	case shut == nil && s.Shut != nil:
		l.pending.dissolve()
	case shut != nil && s.Shut == nil:
		l.exonerate()
	}
}

// acquirePermit asks the gate for leave to start a request.
func (l *loop[V, R]) acquirePermit() bool {
	gate := l.p.config.Gate
	if gate == nil {
		return true
	}
	permit, ok := gate.Enter()
	l.gate.permit = permit
	l.refreshGate()
	return ok
}
