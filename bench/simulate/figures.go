package simulate

import (
	"math"
	"time"
)

// The targets of the report.
const (
	leastGoodput = 0.90 // share of the capacity while senders have a backlog
	leastJain    = 0.90
	mostAfter    = 1.5 // requests in the first second after the outage, relative to a usual second
	recovered    = 0.90
)

// span sums up some seconds.
type span struct {
	second
	seconds float64
	// Duration of the senders' backlog, and the documents applied during it.
	saturated        float64
	saturatedApplied int64
}

// backlog is the number of waiting documents above which the senders count as having a backlog, in flush intervals of
// the service's capacity. Documents that only wait for their batch are fewer.
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
		sum.waiting = s.waiting // at the end
		if o.capacity(i) > 0 && float64(s.waiting) > backlog*o.plan.flush.Seconds()*o.capacity(i) {
			sum.saturated++
			sum.saturatedApplied += s.applied
		}
	}
	return sum
}

// capacity returns the capacity of the service in a phase, in documents per second.
func (o *outcome) capacity(i int) float64 { return o.plan.capacity * o.plan.phases[i].capacity }

// goodput returns the used share of the capacity while the senders had a backlog, NaN if they had none.
func (o *outcome) goodput(i int) float64 {
	s := o.phaseSpan(i)
	return float64(s.saturatedApplied) / (s.saturated * o.capacity(i))
}

// usual returns the requests per second in the steady phase.
func (o *outcome) usual() float64 {
	s := o.phaseSpan(steady)
	return float64(s.requests) / s.seconds
}

// firstSecond returns the number of requests in the first second after the outage.
func (o *outcome) firstSecond() int { return o.seconds[o.starts[afterOutage]].requests }

// probes returns the mean and maximum number of requests per second in the outage. Both exclude the first minute, in
// which the breakers open, if the phase is longer than two minutes; opening is the maximum of that minute.
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

// smoothed is the number of seconds over which recovery averages goodput.
const smoothed = 5

// recovery returns the time from the start of a phase until the goodput is at 90 % of the capacity for five seconds;
// false if it never is.
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

// jain returns the fairness index of Jain, Chiu and Hawe: 1 for equal shares, 1/n if one has everything.
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

// lost returns the number of accepted documents that failed or have no outcome, except those of killed processes.
func (o *outcome) lost() int64 {
	return o.failed + o.unsettled + max(0, o.accepted-o.completed-o.failed-o.unsettled-o.held)
}
