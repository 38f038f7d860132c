package simulate

import (
	"math"
	"time"
)

// Targets of the report.
const (
	leastGoodput = 0.90 // of the capacity, while there is more to send
	leastJain    = 0.90
	mostAfter    = 1.5 // requests in the first second after the outage, to those of a usual one
	recovered    = 0.90
)

// span is what happened in some seconds.
type span struct {
	second
	seconds float64
	// While the senders had a backlog: how long, and how much was applied then.
	saturated        float64
	saturatedApplied int64
}

// backlog is how much waits, in flush intervals of what the service takes, if the senders have
// more to send than that. What waits for its batch anyway is less.
const backlog = 4

// phaseSpan sums up a phase.
func (o *outcome) phaseSpan(i int) (sum span) {
	for _, s := range o.seconds[o.starts[i]:o.starts[i+1]] {
		sum.seconds++
		sum.requests += s.requests
		sum.refused += s.refused
		sum.documents += s.documents
		sum.throttled += s.throttled
		sum.applied += s.applied
		sum.waiting = s.waiting // in the end
		if o.capacity(i) > 0 && float64(s.waiting) > backlog*o.plan.flush.Seconds()*o.capacity(i) {
			sum.saturated++
			sum.saturatedApplied += s.applied
		}
	}
	return sum
}

// capacity is that of a phase, in documents a second.
func (o *outcome) capacity(i int) float64 { return o.plan.capacity * o.plan.phases[i].capacity }

// goodput is the share of the capacity that was used while there was enough to send; NaN if
// there never was.
func (o *outcome) goodput(i int) float64 {
	s := o.phaseSpan(i)
	return float64(s.saturatedApplied) / (s.saturated * o.capacity(i))
}

// usual is how many requests a second the senders make when all is well.
func (o *outcome) usual() float64 {
	s := o.phaseSpan(steady)
	return float64(s.requests) / s.seconds
}

// firstSecond is how many requests came in the first second after the outage.
func (o *outcome) firstSecond() int { return o.seconds[o.starts[afterOutage]].requests }

// probes returns how many requests a second came in the outage, in the mean and at the most;
// the first minute, in which the breakers open, is left out of both if the phase is longer
// than two, and opening is the most in that minute.
func (o *outcome) probes() (mean float64, most, opening int) {
	all := o.seconds[o.starts[outage]:o.starts[afterOutage]]
	first := min(60, len(all)/2)
	sum := 0
	for i, s := range all {
		if i < first {
			opening = max(opening, s.requests)
			continue
		}
		sum += s.requests
		most = max(most, s.requests)
	}
	return float64(sum) / float64(len(all)-first), most, opening
}

// smoothed is over how many seconds goodput is averaged to say when it has recovered.
const smoothed = 5

// recovery is how long it takes from the beginning of a phase until the goodput is at 90 %
// of the capacity, and stays there for five seconds; false if never.
func (o *outcome) recovery(i int) (time.Duration, bool) {
	from, to := o.starts[i], o.starts[i+1]
	for at := from; at+smoothed <= to; at++ {
		sum := 0.0
		for _, s := range o.seconds[at : at+smoothed] {
			sum += float64(s.applied)
		}
		if sum >= recovered*o.capacity(i)*smoothed {
			return time.Duration(at-from) * time.Second, true
		}
	}
	return 0, false
}

// jain is the fairness index of Jain, Chiu and Hawe: 1 if all have the same, 1/n if one has
// everything.
func jain(shares []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range shares {
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return math.NaN()
	}
	return sum * sum / (float64(len(shares)) * squares)
}

// lost is how many accepted documents failed, or have no outcome, and not because their
// process was killed.
func (o *outcome) lost() int64 {
	return o.failed + o.unsettled + max(0, o.accepted-o.completed-o.failed-o.unsettled-o.held)
}
