package tuning

import (
	"math"
	"time"
)

// All of these were chosen with the simulation in the tests and confirmed with
// real senders. Times are seconds.
const (
	// decrease is what is left of the measured capacity after a refusal. 0.85
	// lets the service save something up, without losing more than a few percent
	// if it cannot.
	decrease = 0.85
	// back is the time constant of the return to the measured capacity, but at
	// least backIntervals: a slow sender needs longer to let something be saved up.
	back, backIntervals = 1.5, 20
	// overshoot is how far the measured capacity may be above the rate that met a
	// refusal; it is, if something was saved up before.
	overshoot = 1.1
	// unmeasured is what of the rate counts as measured if it could not be: there
	// was one refusal only, or the application did not send all the time.
	unmeasured = 0.95
	// collapse is the share of refused actions above which the capacity has fallen
	// too far to wait for a measurement.
	collapse = 0.6
	// overload is the share of refused actions above which the time since the last decision
	// is measurement enough.
	overload = 0.2
	// leastTrial is how many requests a second are made when none has passed yet.
	leastTrial = 5

	// A round lasts at least roundIntervals: then what was done about the last
	// refusal has had its effect. A measurement lasts longer. If it were shorter, the
	// share of a sender would depend on its luck.
	roundIntervals                   = 8
	measureSeconds, measureIntervals = 3.0, 45

	// Beyond the measured capacity a second adds gain·rate^-0.25 of the rate, so
	// 2 % at 10,000 and 4 % at 600 actions a second, but not above mostGrowth.
	gain, mostGrowth = 0.2, 0.09
	// refusedTarget and lostTarget are the shares of actions and of time that
	// looking for the limit may cost. leastGrowth is what is left of growth if it
	// costs far more, costMemory for how long the cost is remembered.
	refusedTarget, lostTarget = 0.015, 0.02
	leastGrowth, costMemory   = 0.05, 30.0
	// longestPause is how much of a pause counts: what is longer was a breaker.
	longestPause = 4.0
	// Growth becomes faster, by acceleration every second, when there was no
	// refusal for the longest of calm, calmRequests intervals, the usual time
	// between refusals and calmPauses times the usual pause, at most maxCalm.
	calm, calmRequests, calmPauses, maxCalm = 3.5, 45.0, 12.0, 60.0
	acceleration                            = 0.2
	// startGrowth is what a second adds to the very first rate at least; every
	// decision halves it.
	startGrowth = 2.0
	// The time that a request takes adds at most blindGrowth: an answer must be able
	// to come.
	blindGrowth = 0.35
	// Above unneeded times what the upper bounds allow there is no rate any more.
	unneeded = 2
)

// rate is the search for how much a second a service takes.
type rate struct {
	unit  unit    // what is counted
	known bool    // something was refused: there is a rate
	value float64 // of the unit, a second
	goal  float64 // what was measured last
	// start is the growth of a rate that has just been made. The first one is
	// little more than a guess, and far too low if others were served before.
	start float64

	decidedAt     time.Duration // requests that left before say nothing new
	decided       float64       // the same in busy seconds
	round         float64       // when the first of the others ended, negative: not yet
	sent, refusal float64       // actions of this round

	// A refusal is a moment at which the service has nothing left. older is such
	// a moment, and newer a later one, at least a measurement apart.
	older, newer mark
	last         mark // the last decision
	refusals     int
	lastRefusal  float64 // or the end of the pause that followed
	recent       [2]mark // moments of the last two seconds, before there is a rate

	pausing bool
	cycle   float64 // seconds between decisions, smoothed
	pause   float64 // seconds lost in each, smoothed
	cost    float64 // share of refused actions in the requests, fading
	weight  float64 // of it
	noise   noise   // refused actions that are none of its business
}

// explained reports whether nothing was refused of a request that says anything
// about its rate.
func (r *rate) explained(o *Observation) bool {
	if o.Refused {
		return false
	}
	if r.known && o.Started < r.decidedAt {
		return o.Throttled == 0 // sent before the last decision
	}
	return r.noise.observe(o) || o.Throttled == 0
}

// passed takes in a request of which nothing was refused.
func (r *rate) passed(o *Observation, c *clock, elapsed, interval, latency, most, docs float64) {
	r.tick(o, c, elapsed)
	if !r.known || o.Backlog <= 0 {
		return // what is not needed is not asked for
	}
	quiet := c.busy - r.lastRefusal
	growth := min(mostGrowth, gain*math.Pow(r.value*docs, -0.25))
	affordable := 1.0
	if cost := r.cost / max(r.weight, 1); cost > refusedTarget {
		affordable = refusedTarget / cost
	}
	growth *= max(affordable*affordable, leastGrowth)
	if cost := r.pause / max(r.cycle, 1); cost > lostTarget {
		growth *= lostTarget * lostTarget / (cost * cost)
	}
	if late := quiet - min(max(calm, r.cycle, calmRequests*interval, calmPauses*r.pause), maxCalm); late > 0 {
		growth += acceleration * late
	}
	growth = min(max(growth, r.start), blindGrowth/max(latency, 1e-3))
	step := 0.0
	if r.value < r.goal {
		step = (r.goal - r.value) * (1 - math.Exp(-elapsed/max(back, backIntervals*interval)))
	}
	r.value += step + r.value*min(growth*elapsed, 1)
	if r.value > unneeded*most {
		*r = rate{unit: r.unit, recent: r.recent, noise: r.noise} // it is no limit any more
	}
}

// refused takes in a request of which something was refused.
func (r *rate) refused(o *Observation, c *clock, interval float64) {
	r.tick(o, c, 0)
	if r.known && o.Started < r.decidedAt {
		return // sent before the last decision
	}
	refused := float64(o.Throttled)
	if o.Refused {
		refused = float64(o.Actions)
		r.noise.refusedWhole()
	}
	r.refusal += refused
	r.cost += refused / max(float64(o.Actions), 1)
	r.lastRefusal = c.busy
	if r.refusals == 0 || c.busy-r.newer.busy >= max(measureSeconds, measureIntervals*interval) {
		r.older, r.newer = r.newer, c.mark()
		r.refusals++
	}
	switch {
	case !r.known:
		r.first(c)
	case c.busy-r.round < roundIntervals*interval:
		return
	default:
		r.decide(c)
	}
	r.decidedAt, r.decided, r.last = o.Now, c.busy, c.mark()
	r.round, r.sent, r.refusal = -1, 0, 0
	r.pausing = true
}

// tick counts a request.
func (r *rate) tick(o *Observation, c *clock, elapsed float64) {
	if c.busy-r.recent[1].busy >= measureSeconds {
		r.recent[0], r.recent[1] = r.recent[1], c.mark()
	}
	fade := math.Exp(-elapsed / costMemory)
	r.cost *= fade
	r.weight = r.weight*fade + 1
	if o.Started < r.decidedAt {
		return
	}
	if r.round < 0 {
		r.round = c.busy
	}
	r.sent += float64(o.Actions)
	if r.pausing {
		r.pausing = false
		r.pause += (within(c.pause-savedUp, 0, longestPause) - r.pause) * 0.3
		r.lastRefusal = c.busy
		r.start /= 1 + c.pause*c.pause
	}
}

// first makes the first rate: what was done in the last seconds, or half of
// what was tried. The service may have saved up more, and others may have got
// it all, so neither alone is to be trusted.
func (r *rate) first(c *clock) {
	from := r.recent[0]
	took := max(c.busy-from.busy, 1)
	r.known, r.start = true, startGrowth
	r.value = max(decrease*(c.done[r.unit]-from.done[r.unit]), (c.sent[r.unit]-from.sent[r.unit])/2) / took
	if c.done[requests] == from.done[requests] && r.unit == requests {
		r.value = max(r.value, leastTrial)
	}
	r.goal = r.value
}

// count counts in another unit from now on, of which there were so many in one of the old.
func (r *rate) count(u unit, of float64) {
	r.unit = u
	r.value *= of
	r.goal *= of
	r.refusals = 0
}

// decide makes a new rate at the end of a round.
func (r *rate) decide(c *clock) {
	r.start /= 2
	useless := r.noise.decided(r.value, c.busy-r.decided > calm)
	r.cycle += (c.busy - r.decided - r.cycle) * 0.5
	measured := unmeasured * r.value
	if r.refusals > 1 && c.slack == r.older.slack {
		measured = min(c.since(r.older, r.unit), overshoot*r.value)
	}
	if share := r.refusal / max(r.sent, 1); share > collapse {
		measured = min(measured, r.value*(1-share))
	}
	if r.refusal > overload*r.sent {
		measured = min(measured, c.since(r.last, r.unit))
		r.start = min(r.start, 0.3) / 2 // the guess was not too low
		r.cost, r.weight = 0, 0
	}
	measured = max(measured, r.value/2)
	r.value = min(r.value, decrease*measured)
	r.goal = measured
	if useless > 0 { // back to where the fall began, and on from there
		r.goal, r.start = useless, startGrowth
		r.cost, r.weight = 0, 0
	}
}
