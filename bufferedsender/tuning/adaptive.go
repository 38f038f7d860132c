package tuning

import (
	"math"
	"time"
)

// AdaptiveOptions configures Adaptive. nil and the zero value are ready to use.
type AdaptiveOptions struct {
	// Spacing is the time between requests once the controller has found a rate of documents: a batch has as many documents
	// as the rate allows in that time. A longer Spacing means fewer and larger requests, and more refused documents each
	// time the limit is probed. Defaults to 70 ms, also if negative.
	Spacing time.Duration
}

// Adaptive returns a policy that measures the capacity of the service and sends at that rate.
//
// # How it works
//
// A controller starts with the upper bounds but one request in flight, and allows three more for each one that
// succeeds. As long as nothing is refused it stays at the upper bounds, like Fixed. Only if full batches take more than
// a second does it try a quarter of the size, and keeps it while that brings twice as many documents per second.
//
// The first document or request that is refused because the service is busy starts the search for a rate, in documents
// or requests per second. The search has three independent parts: what the service counts, how much of it the service
// takes, and how to probe for more. DESIGN.md of this package has the details, and results for 135 services.
//
// The batch size depends on what the service counts. A document that is refused individually was counted. If whole
// requests are refused, large and small batches are sent in random order: a service that counts requests refuses both
// alike, one that counts documents or bytes refuses the large ones. If requests are counted, batches are full, or as
// large as the service takes at once. If small batches yield clearly less than before, they grow again.
//
// The capacity is measured, not guessed. At each refusal the service's reserve is used up. So the amount that it took
// between two refusals, divided by the time between them, is its capacity, or the sender's share. The rate falls to 85
// % of that, which lets the reserve recover. Sending at the measured rate, not at a fraction of the last one, follows
// the adaptive retry mode of the AWS SDKs and BBR. If more than 60 % are refused, the capacity has fallen so far that
// waiting for the next measurement would waste requests; then the last few requests decide. No decision removes more
// than half.
//
// The rate then grows like CUBIC (RFC 9438): fast back to the measured rate, slowly beyond it, and faster and faster if
// the expected refusal does not come, so that a recovered service is detected within seconds. The slow phase is
// additive in effect: a large sender grows by a smaller share of its rate than a small one, all fall by the same share,
// and a sender with more requests is refused more often. So several senders converge to equal shares of a service (Chiu
// and Jain 1989; Bansal and Balakrishnan 2001 for additive steps that depend on the rate). The time between requests
// varies randomly around its mean: if senders were synchronized, the service would always refuse the same one (Floyd
// and Jacobson 1992).
//
// The frequency of probing depends on its cost: the share of refused documents, and the time lost while a Retry-After
// stops all sending. Above 1.5 % and 2 % the rate grows more slowly. A Retry-After of five seconds is rarely risked, so
// increased capacity is then found late.
//
// A rate of documents becomes a pace: batches with as many documents as the rate allows in Spacing, an Interval that
// makes the rate exact, BatchBytes for four times the usual size of such a batch, and twice as many requests in flight
// as the rate and the latency need (Little's law). If a request is refused as a whole and is larger than every one that
// passed, the next batch is a quarter of it.
//
// Not every 503 of a single document means that the service is overloaded. If less than 30 % are refused, if that share
// does not change while the rate falls to 60 %, and if the refused documents are spread over the batches at random,
// then a lower rate does not help. That share counts as noise, the rate returns to where its fall began, and from then
// on only clearly more refusals, twice as many, count. A sender so slow that its batches have fewer than four documents
// cannot distinguish this and continues to slow down.
//
// Latency alone is a weaker signal. It is compared only between full batches, so that its dependence on size does not
// matter, and averaged over rounds of requests. If a round takes longer than twice the usual time, the controller tries
// a quarter fewer requests in flight. If the rate of documents remains the same, the requests only waited for each
// other, and the controller continues. Otherwise the service is slow for another reason: everything is restored, and
// the new time becomes the usual one. The gradient is that of Netflix' concurrency-limits. Those also yield to latency
// that the sender does not cause; the trial prevents that.
//
// Connection errors and time-outs change nothing, nor do requests that end while nothing waits to be sent.
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

// jitter is the share by which intervals vary at random; of requests at most slowJitter × the rate. A service whose
// reserve is one request refuses whatever comes early.
const jitter, slowJitter = 0.25, 0.02

// batchSlack is the factor by which a batch may exceed its usual size in bytes.
const batchSlack = 4

// adaptive is the controller of Adaptive.
type adaptive struct {
	bounds  Bounds
	options AdaptiveOptions
	pace    Pace

	clock   clock
	rate    rate
	window  window
	latency average // seconds per request
	size    average // bytes per action

	batch  average // actions per request
	fit    fit
	slow   slow
	sizes  sizes
	random uint64
}

func (a *adaptive) Pace() Pace { return a.pace }

func (a *adaptive) Observe(o Observation) Pace {
	o = o.sane()
	a.random ^= uint64(o.Now) // senders must not be synchronized; their requests end at different times
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
	late := a.fit.row >= contact
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
			a.slow.observe(&o, min(a.fit.size, a.largest()))
			a.window.passed(&o, &a.clock)
		}
	}
	switch {
	case !a.rate.known, a.rate.unit == requests && a.clock.done[requests] == 0: // first find a size that fits
	case a.rate.unit == requests && a.sizes.at == 0:
		if o.Refused {
			a.begin(o.Now)
		}
	default:
		a.choose(&o, late)
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

// largest returns the size of the largest batch within the bounds.
func (a *adaptive) largest() float64 {
	n := float64(a.bounds.Max.BatchActions)
	if a.size.value > 0 {
		n = min(n, float64(a.bounds.Max.BatchBytes)/a.size.value)
	}
	return max(n, 1)
}

// per returns the number of actions per counted unit.
func (a *adaptive) per() float64 {
	if a.rate.unit == requests {
		return max(a.batch.value, 1)
	}
	return 1
}

// most returns the rate at which the upper bounds become the limit.
func (a *adaptive) most() float64 {
	of := 1.0
	if a.rate.unit != requests {
		of = float64(a.bounds.Max.BatchActions)
	}
	return float64(a.bounds.Max.InFlight) * of / max(a.latency.value, 1e-6)
}

// translate converts rate, sizes and window into a pace.
func (a *adaptive) translate() {
	low, high := &a.bounds.Min, &a.bounds.Max
	l := a.bounds.loosest()
	r, slots := &a.rate, a.window.slots()
	n := min(a.fit.size, a.largest())
	interval, vary := 0.0, jitter
	batch := func() {
		n = within(math.Round(n), float64(low.BatchActions), float64(high.BatchActions))
		l.BatchActions = int(n)
	}
	switch {
	case !r.known:
		n = a.slow.limit(a.fit.size)
		batch()
		l.InFlight = a.window.limit()
		a.pace = l
		return
	case r.unit == requests:
		r.value = max(r.value, 1/high.Interval.Seconds())
		interval = 1 / r.value
		vary = min(vary, slowJitter*r.value)
		if a.sizes.trial {
			n, interval = a.next(), min(interval, 1/slowest)
		}
		if late := a.fit.row - contact; late >= 0 {
			n = max(1, min(n, a.largest()/spread)*math.Pow(shrink, float64(late)))
		}
		batch()
	default:
		r.value = max(r.value, float64(low.BatchActions)/high.Interval.Seconds())
		// A long request needs larger batches if there are not enough slots.
		n = min(n, r.value*max(a.options.Spacing.Seconds(), a.latency.value/slots))
		batch()
		l.BatchBytes = int(within(batchSlack*n*a.size.value, float64(low.BatchBytes), float64(high.BatchBytes)))
		interval = n / r.value
	}
	l.Interval = time.Duration(within(interval*(1-vary+2*vary*a.draw())*float64(time.Second), float64(low.Interval), float64(high.Interval)))
	l.InFlight = int(within(2*a.latency.value/interval+2, float64(low.InFlight), slots))
	a.pace = l
}

// draw returns a random number from 0 to 1 (xorshift, Marsaglia 2003).
func (a *adaptive) draw() float64 {
	if a.random == 0 {
		a.random = 0x9e3779b97f4a7c15
	}
	a.random ^= a.random << 13
	a.random ^= a.random >> 7
	a.random ^= a.random << 17
	return float64(a.random>>11) / (1 << 53)
}

// within returns v limited to the range from low to high.
func within(v, low, high float64) float64 { return max(low, min(v, high)) }

// average is an exponential moving average.
type average struct {
	value float64
	any   bool
}

// add adds v with the given weight. The first value counts fully.
func (a *average) add(v, weight float64) {
	if !a.any {
		a.value, a.any = v, true
		return
	}
	a.value += (v - a.value) * weight
}
