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
}

// open reports whether a request that is ready would be let through.
func (g *gateView) open() bool { return g.shut == nil || g.ready }

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
		yieldUntil: g.yieldUntil,
	}
	return passed
}

// refreshGate finds out whether the gate lets requests through.
func (l *loop[V, R]) refreshGate() {
	gate := l.p.config.Gate
	if gate == nil {
		return
	}
	gate.Early(l.gate.shut != nil && l.fresh() != 0)
	shut, s := l.gate.shut, gate.State()
	l.budget.traffic.passed += l.gate.see(s, l.refusals.tried > 0, l.p.now())
	switch {
	case shut == nil && s.Shut != nil:
		l.pending.dissolve()
	case shut != nil && s.Shut == nil:
		l.exonerate()
		l.p.config.Hooks.Suspect(nil)
	}
}

// mayLeave reports whether a request would be let go now: by the gate, and if that is
// open by the slots that are shared with others. Of the classes that have something to
// send it chooses the first one that has a slot, in the order of their turns. It takes
// neither slot nor permit: they are taken when the request is ready and the Sent hook has
// run, so that no hook holds what others wait for.
func (l *loop[V, R]) mayLeave() bool {
	if gate := l.p.config.Gate; gate != nil && !l.gate.open() {
		// Whoever is refused is woken when the probe of another has ended.
		if permit, ok := gate.Enter(); ok {
			permit.Done(ServiceUnclear, -1, nil)
		}
		l.refreshGate()
		if !l.gate.open() {
			return false
		}
	}
	slots, probe := l.p.config.Slots, l.gate.shut != nil
	sendable := uint64(0)
	for class := range l.pending.classes {
		_, stands := l.flights.of(uint8(class))
		if !stands && l.sendable(uint8(class)) { // one at a time stands
			sendable |= 1 << class
		}
	}
	if fresh := l.fresh(); probe && fresh&sendable != 0 {
		sendable &= fresh
	}
	for class := range l.turns.order(sendable, probe) {
		free := slots == nil
		if !free {
			free, l.trial = slots.Free(class, l.nextBytes(class))
			if n, _ := l.flights.of(class); free && l.trial == 0 && n >= l.slots() { // the doubt has just ended
				slots.Quit(class)
				continue
			}
		}
		if free {
			l.class = class
			l.turns.had(class, sendable, probe)
			return true
		}
		l.asked |= 1 << class
		l.slotless = true
	}
	return false
}

// sendable reports whether a request of a class is wanted, and there may be one more. With
// slots that are shared the limit of requests under way is for each class by itself, so that
// an urgent one does not wait for those of a slow one.
func (l *loop[V, R]) sendable(class uint8) bool {
	if !l.wantedOf(class) {
		return false
	}
	if l.p.config.Slots == nil {
		return true
	}
	n, _ := l.flights.of(class)
	return n < l.slots() || n == l.slots() && l.p.config.Slots.Doubted()
}

// nextBytes returns about how large the next request of a class will be.
func (l *loop[V, R]) nextBytes(class uint8) int {
	c, limits := l.pending.classes[class], l.limits()
	n, bytes := c.waiting, c.waitingBytes
	if n > limits.actions {
		n, bytes = limits.actions, int(int64(bytes)*int64(limits.actions)/int64(n))
	}
	return min(limits.size(n, bytes), limits.bytes)
}

// quitSlots gives up the slots that were asked for and are not wanted any more: while the
// gate is shut or the publisher is paused, for example, or when what waited was taken back.
func (l *loop[V, R]) quitSlots() {
	slots := l.p.config.Slots
	if slots == nil {
		return
	}
	for class := range l.pending.classes {
		if _, stands := l.flights.of(uint8(class)); !stands && l.asked&(1<<class) == 0 {
			slots.Quit(uint8(class))
		}
	}
}

// quitAllSlots gives up all that was asked for.
func (l *loop[V, R]) quitAllSlots() {
	l.asked = 0
	l.quitSlots()
}

// verdict is whether a request may leave.
type verdict uint8

const (
	allowed verdict = iota
	slotless
	refused // by the gate
)

// acquire takes what a request needs from others: a slot, and then the permit of the
// gate, which is refused or used at once. So neither is held while the other is waited
// for. A goroutine that ends in between leaves the flight what it has.
//
// A request that was announced and finds that others have its slot stands: it leaves with
// the next one. Taken back it could meet the same again and again.
func (l *loop[V, R]) acquire(f *flight[V, R]) verdict {
	gate := l.p.config.Gate
	if slots := l.p.config.Slots; slots != nil && f.slot == nil {
		if l.refreshGate(); gate != nil && !l.gate.open() {
			return refused // there is no use in asking for a slot
		}
		slot, ok := slots.Take(f.class, f.batch.Bytes)
		if !ok {
			return slotless
		}
		f.slot = slot
	}
	if gate == nil {
		return allowed
	}
	if f.permit == nil {
		permit, ok := gate.Enter()
		if !ok {
			l.refreshGate()
			return refused
		}
		f.permit = permit
	}
	l.refreshGate()
	probe := f.permit.Probe() && (f.probe || len(f.refs) == 1)
	if l.gate.shut == nil || probe {
		return allowed
	}
	return refused
}
