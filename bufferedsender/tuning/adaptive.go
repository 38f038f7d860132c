package tuning

import (
	"math"
	"time"
)

// AdaptiveOptions configures Adaptive. nil and the zero value are ready to use.
type AdaptiveOptions struct {
	// Spacing is how far apart the requests of a sender are that has found how many
	// documents the service takes: batches are as large as the rate makes them in that time.
	// Longer means fewer and larger requests, and more documents refused each
	// time the limit is looked for. Defaults to 70 ms; what is negative counts as
	// the default too.
	Spacing time.Duration
}

// Adaptive returns a policy that finds out what the service takes and sends
// that much.
//
// # How it works
//
// A controller begins with the upper bounds, but one request in flight, and
// sends three more for every one that succeeds. As long as nothing is refused
// it stays at the upper bounds and is no different from Fixed.
//
// The first document or request that is refused because the service is busy
// begins the search for a rate, in documents or requests a second. Three things are
// kept apart that are often mixed up. DESIGN.md of this package says more, and shows
// what comes out for 135 services.
//
// Which of them the service counts decides how large batches are. A document that is
// refused by itself was counted. If whole requests are refused, large and small
// batches are sent, in an order that is drawn: a service that counts requests refuses
// both alike, one that counts documents or bytes refuses the large ones. Batches are full where
// requests are counted, or as large as the service takes at once. Small ones that bring
// clearly less than what was taken before grow again.
//
// What the service takes is measured and not guessed. Each time it refuses
// something, what it had in reserve is used up; so what it took between two such
// moments, divided by the time between them, is its capacity, or the sender's
// share of it. The rate falls below that, to 85 %, which lets the reserve grow
// back. Sending at the measured rate instead of at some fraction of the last one
// is the idea of the adaptive retry mode of the AWS SDKs and of BBR. If more
// than 60 % are refused the capacity has fallen so far that waiting for the next
// measurement would waste requests: then what was taken of the last few requests
// counts. One decision never takes away more than half.
//
// How to go on from there is the shape of CUBIC (RFC 9438): back to the measured
// rate soon, beyond it slowly, and faster and faster when the refusal that was
// expected has not come, so that a service that has recovered is found in
// seconds. The slow part is additive, in that a large sender grows by a smaller
// share of its rate than a small one; all fall by the same share, and whoever
// sends more is refused more often. That is why several senders come to share a
// service evenly (Chiu and Jain 1989; Bansal and Balakrishnan 2001 for additive
// steps that depend on the rate). The time between requests is drawn at random
// around its mean, because senders in step would always hit the same one (Floyd
// and Jacobson 1992).
//
// How often to look for the limit depends on what looking costs: the share of
// documents that were refused, and the time lost when a Retry-After holds all
// sending. Above 1.5 % and 2 % it grows slower. A Retry-After of five seconds is
// rarely risked, so a capacity that has grown is found late.
//
// A rate of documents becomes a pace like this: batches of as many as the rate
// makes in Spacing, an Interval that makes the rate exact, BatchBytes for four
// times the usual size of such a batch, and twice as many in flight as the rate
// and the latency need (Little's law). A request that is refused as a whole, and
// is larger than all that have passed, makes the next batch a quarter.
//
// Not every 503 of a single document means that the service is full. If a share
// of less than 30 % stays as it is while the rate falls to 60 %, and the refused
// ones are spread over the batches as by chance, then no rate is low enough:
// that share is taken for granted, the rate returns to where its fall began, and
// from then on only what goes clearly beyond, twice as much, counts as refused.
// A sender so slow that its batches have fewer than four documents cannot tell,
// and goes on giving way.
//
// Latency alone says less. It is compared only between full batches, so that it
// does not matter how it depends on their size, and averaged over rounds of
// requests. If a round takes longer than twice the usual, the controller
// tries a quarter less in flight. If as many documents a second are done as
// before, the requests were only waiting for each other, and it goes on; if not,
// the service is slow for another reason, everything is as before, and the new
// time is the usual one from now on. The gradient is that of Netflix'
// concurrency-limits, the trial guards against its known weakness, that it also
// gives way to a latency that it has no part in.
//
// Connection errors and time-outs change nothing, nor do requests that end while
// nothing waits to be sent.
func Adaptive(opts *AdaptiveOptions) Policy {
	var p adaptivePolicy
	if opts != nil {
		p.options = *opts
	}
	if p.options.Spacing <= 0 {
		p.options.Spacing = 70 * time.Millisecond
	}
	return p
}

type adaptivePolicy struct{ options AdaptiveOptions }

func (p adaptivePolicy) New(b Bounds) Controller {
	b = b.normalized()
	a := &adaptive{bounds: b, options: p.options, window: newWindow(b), fit: newFit(b.Max.BatchActions), rate: rate{unit: documents}}
	a.translate()
	return a
}

// batchSlack is how much larger than usual a batch may be in bytes.
const batchSlack = 4

// adaptive is the controller.
type adaptive struct {
	bounds  Bounds
	options AdaptiveOptions
	pace    Pace

	clock   clock
	rate    rate
	window  window
	latency average // seconds of a request
	size    average // bytes of an action

	batch  average // actions of a request
	fit    fit
	sizes  sizes
	random uint64
}

func (a *adaptive) Pace() Pace { return a.pace }

func (a *adaptive) Observe(o Observation) Pace {
	o = o.sane()
	a.random ^= uint64(o.Now) // senders must not be in step: they end requests at different times
	elapsed := a.clock.advance(&o, a.pace.Interval)
	if o.Actions > 0 {
		a.size.add(float64(o.Bytes)/float64(o.Actions), 0.1)
	}
	if o.Broken {
		return a.pace
	}
	a.latency.add((o.Now - o.Started).Seconds(), 0.1)
	if o.Backlog > 0 && o.Actions > 0 {
		a.batch.add(float64(o.Actions), 0.1)
	}
	a.fit.observe(&o)
	known := a.rate.known
	if !a.rate.explained(&o) {
		if !known && o.Refused {
			a.rate.unit = requests
		}
		a.rate.refused(&o, &a.clock, a.pace.Interval.Seconds())
	} else {
		a.rate.passed(&o, &a.clock, elapsed, a.pace.Interval.Seconds(), a.latency.value, a.most(), a.per())
		if !a.rate.known {
			a.window.passed(&o, &a.clock)
		}
	}
	switch {
	case !a.rate.known, a.rate.unit == requests && a.clock.done[requests] == 0: // first one that fits
	case a.rate.unit == requests && a.sizes.at == 0:
		if o.Refused {
			a.begin(o.Now)
		}
	default:
		a.choose(&o)
	}
	a.translate()
	return a.pace
}

// Resize implements Resizer.
func (a *adaptive) Resize(b Bounds) Pace {
	a.bounds = b.normalized()
	a.window.resize(a.bounds)
	a.fit.resize(a.bounds.Max.BatchActions)
	a.translate()
	return a.pace
}

// largest is the largest batch that the bounds allow.
func (a *adaptive) largest() float64 {
	n := float64(a.bounds.Max.BatchActions)
	if a.size.value > 0 {
		n = min(n, float64(a.bounds.Max.BatchBytes)/a.size.value)
	}
	return max(n, 1)
}

// per returns how many actions there are in one of the unit that is counted.
func (a *adaptive) per() float64 {
	if a.rate.unit == requests {
		return max(a.batch.value, 1)
	}
	return 1
}

// most is the rate at which the upper bounds are what limits.
func (a *adaptive) most() float64 {
	of := 1.0
	if a.rate.unit != requests {
		of = float64(a.bounds.Max.BatchActions)
	}
	return float64(a.bounds.Max.InFlight) * of / max(a.latency.value, 1e-6)
}

// translate turns rate, sizes and window into a pace.
func (a *adaptive) translate() {
	low, high := &a.bounds.Min, &a.bounds.Max
	l := a.bounds.loosest()
	r, slots := &a.rate, a.window.slots()
	n := min(a.fit.size, a.largest())
	interval := 0.0
	batch := func() {
		n = within(math.Round(n), float64(low.BatchActions), float64(high.BatchActions))
		l.BatchActions = int(n)
	}
	switch {
	case !r.known:
		n = a.fit.size
		batch()
		l.InFlight = a.window.limit()
		a.pace = l
		return
	case r.unit == requests:
		r.value = max(r.value, 1/high.Interval.Seconds())
		interval = 1 / r.value
		if a.sizes.trial {
			n, interval = a.next(), min(interval, 1/slowest)
		}
		batch()
	default:
		r.value = max(r.value, float64(low.BatchActions)/high.Interval.Seconds())
		// A long request needs large batches, or more slots than there are.
		n = min(n, r.value*max(a.options.Spacing.Seconds(), a.latency.value/slots))
		batch()
		l.BatchBytes = int(within(batchSlack*n*a.size.value, float64(low.BatchBytes), float64(high.BatchBytes)))
		interval = n / r.value
	}
	l.Interval = time.Duration(within(interval*(0.75+0.5*a.draw())*float64(time.Second), float64(low.Interval), float64(high.Interval)))
	l.InFlight = int(within(2*a.latency.value/interval+2, float64(low.InFlight), slots))
	a.pace = l
}

// draw returns a number from 0 to 1 (xorshift, Marsaglia 2003).
func (a *adaptive) draw() float64 {
	if a.random == 0 {
		a.random = 0x9e3779b97f4a7c15
	}
	a.random ^= a.random << 13
	a.random ^= a.random >> 7
	a.random ^= a.random << 17
	return float64(a.random>>11) / (1 << 53)
}

// within returns the number between low and high that is nearest to v.
func within(v, low, high float64) float64 { return max(low, min(v, high)) }

// average is a mean in which what is longer ago counts less.
type average struct {
	value float64
	any   bool
}

// add lets v count with the given weight, the first one in full.
func (a *average) add(v, weight float64) {
	if !a.any {
		a.value, a.any = v, true
		return
	}
	a.value += (v - a.value) * weight
}
