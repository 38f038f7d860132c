package tuning

import "time"

const (
	// ramp is how many more requests may be in flight after each one that succeeds: four times as many after each round
	// trip.
	ramp = 3
	// fewInFlight is how many requests a service is assumed to process without queueing.
	fewInFlight = 4
	// fullBatch is the share of the upper bounds from which a batch counts as full, so that latencies are comparable.
	fullBatch = 0.9
	// A round has roundWindows times as many requests as may be in flight.
	roundWindows = 4
	// trialSize is the share of requests in flight that a trial keeps; trialRate is the share of the rate that must remain
	// for it to succeed.
	trialSize, trialRate = 0.75, 0.9
	// tolerance is how many times its usual latency a full batch may take before a trial.
	tolerance = 2
)

// window is the number of requests in flight that the latency allows.
type window struct {
	bounds  Bounds
	size    float64
	ramping bool // size grows with every request

	usual float64 // seconds of a full batch without queueing
	few   int     // requests averaged in usual

	// The round: full batches sent after began.
	began    time.Duration
	first    mark
	requests int
	seconds  float64

	trial  bool
	before struct{ size, rate, latency float64 } // state before the trial
}

func newWindow(b Bounds) window {
	return window{bounds: b, size: float64(b.Min.InFlight), ramping: b.Min.InFlight < b.Max.InFlight}
}

// resize changes the bounds.
func (w *window) resize(b Bounds) {
	if b.Max.InFlight > w.bounds.Max.InFlight && w.limit() == w.bounds.Max.InFlight {
		w.ramping = true // nothing was too much so far
	}
	if b.Max.BatchActions != w.bounds.Max.BatchActions || b.Max.BatchBytes != w.bounds.Max.BatchBytes {
		w.usual, w.few = 0, 0 // a full batch has another size now
	}
	w.bounds = b
	w.size = within(w.size, float64(b.Min.InFlight), float64(b.Max.InFlight))
	w.trial, w.requests, w.seconds = false, 0, 0
}

// limit returns how many requests may be in flight while there is no rate.
func (w *window) limit() int { return int(w.size) }

// slots returns how many requests may be in flight if a rate needs them.
func (w *window) slots() float64 {
	if w.ramping {
		return float64(w.bounds.Max.InFlight)
	}
	return w.size
}

// passed processes a request in which nothing was refused.
func (w *window) passed(o *Observation, c *clock) {
	most := w.bounds.Max.InFlight
	if o.Backlog <= 0 {
		return // the window was not the limit
	}
	latency := (o.Now - o.Started).Seconds()
	full := float64(o.Actions) >= fullBatch*float64(w.bounds.Max.BatchActions) ||
		float64(o.Bytes) >= fullBatch*float64(w.bounds.Max.BatchBytes)
	if full && o.InFlight <= fewInFlight && (w.ramping || w.few == 0) {
		w.few++
		w.usual += (latency - w.usual) / float64(w.few)
	}
	if w.ramping {
		w.size = min(w.size+ramp, float64(most))
		if w.size == float64(most) {
			w.ramping, w.began = false, o.Now
		}
		return
	}
	if most <= fewInFlight || !full || o.Started < w.began {
		return
	}
	if w.requests == 0 {
		w.first = c.mark()
	} else {
		w.seconds += latency
	}
	if w.requests++; float64(w.requests) <= roundWindows*w.size {
		return
	}
	w.judge(w.seconds/float64(w.requests-1), c.since(w.first, documents))
	w.began, w.requests, w.seconds = o.Now, 0, 0
}

// judge ends a round.
func (w *window) judge(latency, rate float64) {
	if w.usual == 0 {
		w.usual = latency
	}
	slow := latency > tolerance*w.usual && w.size > fewInFlight
	switch {
	case w.trial && rate < trialRate*w.before.rate:
		w.size, w.usual = w.before.size, w.before.latency
		w.trial = false
	case slow:
		if !w.trial {
			w.before.size, w.before.rate, w.before.latency = w.size, rate, latency
		}
		w.trial = true
		w.size = max(w.size*trialSize, float64(w.bounds.Min.InFlight), fewInFlight)
	default:
		w.trial = false
		w.size = min(w.size+max(1, w.size/8), float64(w.bounds.Max.InFlight))
		if latency < w.usual {
			w.usual += (latency - w.usual) / 4
		}
	}
}
