package tuning

import (
	"math"
	"time"
)

// These constants were chosen by the simulation in the tests and confirmed with real senders. Times are in seconds.
const (
	// decrease is the factor applied to the measured capacity after a refusal. 0.85 lets the service save up a reserve, and
	// loses only a few percent if it cannot.
	decrease = 0.85
	// back is the time constant of the return to the measured capacity; it is at least backIntervals, because a slow sender
	// needs longer to let a reserve build up.
	back, backIntervals = 1.5, 20
	// overshoot limits the measured capacity relative to the rate that was refused. Without a limit it is too high if the
	// service had a reserve.
	overshoot = 1.1
	// unmeasured is the factor applied to the rate when the capacity could not be measured: after a single refusal, or if
	// the application was not always sending.
	unmeasured = 0.95
	// grown is how many times the last measurement the rate must be for the measurement to begin again.
	grown = 1.5
	// costly is a pause, in seconds, after which the service has saved up so much that every round is a measurement.
	costly = 0.65
	// collapse is the share of refused actions above which the capacity has fallen too far to wait for a measurement.
	collapse = 0.6
	// overload is the share of refused actions above which the time since the last decision suffices as a measurement.
	overload = 0.2
	// leastTrial is the initial rate, in requests per second, if none has passed yet.
	leastTrial = 5

	// A round lasts at least roundIntervals, so that the last decision has taken effect. A measurement lasts longer: with
	// shorter ones a sender's share would depend on chance.
	roundIntervals                   = 8
	measureSeconds, measureIntervals = 3.0, 45

	// Beyond the measured capacity the rate grows by gain·rate^-0.25 per second, that is 2 % at 10,000 and 4 % at 600
	// actions per second, but at most by mostGrowth.
	gain, mostGrowth = 0.2, 0.09
	// refusedTarget and lostTarget are the shares of actions and of time that probing may cost. leastGrowth is the smallest
	// factor on growth if it costs more; costMemory is how long the cost is remembered.
	refusedTarget, lostTarget = 0.015, 0.02
	leastGrowth, costMemory   = 0.05, 30.0
	// longestPause is the most of a pause that counts; a longer one is due to a breaker.
	longestPause = 4.0
	// Growth accelerates by acceleration per second after a time without refusals: the longest of calm, calmRequests
	// intervals, the usual time between refusals and calmPauses times the usual pause, at most maxCalm.
	calm, calmRequests, calmPauses, maxCalm = 3.5, 45.0, 12.0, 60.0
	acceleration                            = 0.25
	// startGrowth is the least growth of the first rate, per second; every decision halves it.
	startGrowth = 2.0
	// againGrowth is the same for a rate that had become unneeded: others may have used what it left.
	againGrowth = 0.2
	// During one request the rate grows at most by blindGrowth, because its answer must arrive first.
	blindGrowth = 0.35
	// Above unneeded times the rate that the upper bounds allow there is no rate limit any more.
	unneeded = 2
)

// rate searches for the amount that a service takes per second.
type rate struct {
	unit  unit    // what the service counts
	known bool    // something was refused, so there is a rate
	value float64 // units per second
	goal  float64 // the last measurement
	// start is the growth of a new rate. The first rate is little more than a guess, far too low if other senders were
	// served before.
	start float64

	decidedAt     time.Duration // requests sent before that carry no new information
	decided       float64       // the same in busy seconds
	round         float64       // when the first later request ended; negative: not yet
	sent, refusal float64       // actions of this round

	// A refusal is a moment at which the service has nothing left. older and newer are two of them, at least a measurement
	// apart.
	older, newer mark
	last         mark // the last decision
	refusals     int
	lastRefusal  float64 // or the end of the pause after it
	recent       [2]mark // the last two marks, measureSeconds apart, for the first rate

	pausing bool
	cycle   float64 // seconds between decisions, smoothed
	pause   float64 // seconds lost in each, smoothed
	cost    float64 // share of refused actions per request, fading
	weight  float64 // of cost
	noise   noise   // refused actions that do not depend on the rate
}

// explained reports whether nothing was refused in a request that carries information about its rate.
func (r *rate) explained(o *Observation) bool {
	if o.Refused {
		return false
	}
	if r.known && o.Started < r.decidedAt {
		return o.Throttled == 0 // sent before the last decision
	}
	return r.noise.observe(o) || o.Throttled == 0
}

// passed processes a request in which nothing was refused.
func (r *rate) passed(o *Observation, c *clock, elapsed, interval, latency, most, docs float64) {
	r.tick(o, c, elapsed)
	if !r.known || o.Backlog <= 0 {
		return // without a backlog no more is needed
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
		*r = rate{unit: r.unit, recent: r.recent, noise: r.noise, start: againGrowth} // it is not a limit any more
	}
}

// refused processes a request in which something was refused.
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
	r.restart(o.Now, c)
	r.sent, r.refusal = 0, 0
	r.pausing = true
}

// restart begins a round: requests sent before carry no new information.
func (r *rate) restart(now time.Duration, c *clock) {
	r.decidedAt, r.decided, r.round, r.last = now, c.busy, -1, c.mark()
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

// first sets the first rate: what was done in the last seconds, or half of what was tried. The service may have had a
// reserve, and other senders may have used all of it, so neither number alone is reliable.
func (r *rate) first(c *clock) {
	from := r.recent[0]
	took := max(c.busy-from.busy, 1)
	r.known = true
	if r.start == 0 {
		r.start = startGrowth
	}
	r.value = max(decrease*(c.done[r.unit]-from.done[r.unit]), (c.sent[r.unit]-from.sent[r.unit])/2) / took
	if c.done[requests] == from.done[requests] && r.unit == requests {
		r.value = max(r.value, leastTrial)
	}
	r.goal = r.value
}

// count changes the unit. of is the number of new units in an old one.
func (r *rate) count(u unit, of float64) {
	r.unit = u
	r.value *= of
	r.goal *= of
	r.refusals = 0
}

// decide sets a new rate at the end of a round.
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
	if r.pause > costly && r.value < overshoot*r.goal {
		measured = min(measured, c.since(r.last, r.unit))
	}
	if r.value > grown*r.goal { // what was measured before is too old
		r.older, r.newer, r.refusals = c.mark(), c.mark(), 2
	}
	measured = max(measured, r.value/2)
	r.value = min(r.value, decrease*measured)
	r.goal = measured
	if useless > 0 { // back to where the fall began, and grow from there
		r.goal, r.start = useless, startGrowth
		r.cost, r.weight = 0, 0
	}
}
