package publisher

import "time"

// gateView is the loop's copy of the gate's state. It is pure data.
type gateView struct {
	shut   error // why the gate stops requests, or nil
	locked bool  // it lets none through
	ready  bool  // it waits for a probe
	early  bool  // only because of an item that arrived after the index was suspected
	spared bool  // see GateState
	served uint32
	others uint64 // requests of other publishers with a reply from a working service
	// yieldUntil is until when the next probe is left to other publishers.
	yieldUntil instant
}

// open reports whether a ready request would be let through.
func (g *gateView) open() bool { return g.shut == nil || g.ready }

// yield is how long a publisher with several refused items leaves the next probe to others that share the gate, because
// their items may be applied.
const yield = 100 * time.Millisecond

// see records the state of the gate and returns how many requests have passed since the last call, of all publishers
// that share the gate. yields is true if a probe of this publisher was refused.
func (g *gateView) see(s GateState, yields bool, now instant) (passed uint32) {
	if s.Ready && !g.ready && yields {
		g.yieldUntil = later(now, yield)
	}
	passed = uint32(s.Served) - g.served
	*g = gateView{
		shut: s.Shut, locked: s.Blocked, ready: s.Ready, early: s.Early, spared: s.Spared, served: uint32(s.Served), others: s.Others,
		yieldUntil: g.yieldUntil,
	}
	return passed
}

// refreshGate reads the state of the gate.
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

// mayLeave reports whether a request could be sent now: the gate must be open, and a shared slot must be free. It
// chooses the first class with a slot among those with something to send, in the order of turns. It takes neither
// slot nor permit. These are taken after the request is ready and the Sent hook has run, so that no hook holds what
// others wait for.
func (l *loop[V, R]) mayLeave() bool {
	if gate := l.p.config.Gate; gate != nil && !l.gate.open() {
		// A refused publisher is woken when the probe of another one has ended.
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
	if fresh := l.fresh(); probe && fresh&sendable != 0 && !l.skipsFresh() {
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

// sendable reports whether a request of a class is wanted and allowed. With shared slots the limit of requests in
// flight applies to each class separately, so that an urgent request does not wait for those of a slow class.
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

// nextBytes returns the approximate size of the next request of a class, in bytes.
func (l *loop[V, R]) nextBytes(class uint8) int {
	c, limits := l.pending.classes[class], l.limits()
	n, bytes := c.waiting, c.waitingBytes
	if n > limits.actions {
		n, bytes = limits.actions, int(int64(bytes)*int64(limits.actions)/int64(n))
	}
	return min(limits.size(n, bytes), limits.bytes)
}

// quitSlots leaves the lines for slots that are no longer needed, for example while the gate is shut or the publisher
// is paused, or after waiting items were taken back.
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

// quitAllSlots leaves all lines for slots.
func (l *loop[V, R]) quitAllSlots() {
	l.asked = 0
	l.quitSlots()
}

// verdict is whether a request may be sent.
type verdict uint8

const (
	allowed verdict = iota
	slotless
	refused // by the gate, or too large for a trial
)

// acquire takes the resources of a request: first a slot, then the gate's permit, which is granted or refused at once.
// So neither is held while waiting for the other. If the goroutine ends in between, the flight keeps what it has.
//
// An announced request without a slot stands: it is sent with the next slot. If it were taken back, the same could
// happen again and again.
func (l *loop[V, R]) acquire(f *flight[V, R]) verdict {
	gate := l.p.config.Gate
	if slots := l.p.config.Slots; slots != nil && f.slot == nil {
		if l.refreshGate(); gate != nil && !l.gate.open() {
			return refused // a slot would be useless
		}
		slot, ok := slots.Take(f.class, f.batch.Bytes)
		if !ok {
			return slotless
		}
		f.slot = slot
		if _, most := slot.Trial(); most > 0 && len(f.refs) > most { // it was prepared before the doubt
			return refused
		}
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
