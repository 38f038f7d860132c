package tuning

import (
	"math"
	"time"
)

const (
	// The large batches of a trial are spread times the small ones. In a trial of
	// full batches the rate grows by urge a second at least, so that something is refused.
	spread, urge = 16, 0.3
	// A trial ends with documents if large batches are refused twice as often as
	// small ones, which the G-test (Sokal and Rohlf) calls chance in less than one of
	// seventy trials; or if every large one is refused, neverLarge at least, and
	// passes small ones passed.
	certain, neverLarge, passes = 6, 4, 2
	// It ends with requests if enoughSmall small batches were refused, at least alike
	// times as often as large ones, of which enoughLarge have passed.
	enoughSmall, enoughLarge, alike = 3, 3, 0.7
	// Without a result after so many requests batches stay full.
	fullTrial = 60
	// enough is the number of full batches a second that a service takes if they are right
	// whatever it counts.
	enough = 2.0
	// dear is a pause, in seconds, that is too long for a trial.
	dear = 2.5
	// fewest is the number of requests a second below which full batches are never
	// right: a service that is in debt for a full batch refuses everything, too.
	fewest, slowest = 0.5, 2.0

	// A trial begins if so many requests at least were refused, and
	enoughRefused = 3
	// with full batches, if more than tolerated of the last memory requests were, or
	// intolerable, of fewer requests;
	tolerated, intolerable, memory, little = 0.12, 0.4, 60, 8
	// Small ones are given up if what they bring in a span is less than twice the share that is
	// refused of the most that they have brought, which fades.
	spanSeconds, spanRequests, fading = 5.0, 8, 0.95
	// Batches that have become larger must bring worthwhile times as many documents.
	worthwhile             = 1.5
	firstWait, longestWait = 45 * time.Second, 20 * time.Minute
)

// tally is how many requests were sent, and refused as a whole.
type tally struct{ sent, refused float64 }

func (t tally) share() float64 { return t.refused / max(t.sent, 1) }

func (t tally) passed() float64 { return t.sent - t.refused }

// likelihood returns its logarithm, with the share that it has.
func (t tally) likelihood() float64 {
	if t.refused == 0 || t.passed() == 0 {
		return 0
	}
	return t.refused*math.Log(t.share()) + t.passed()*math.Log(1-t.share())
}

// sizes decides between small batches, as many documents as the rate makes in
// some time, and full ones. A service that counts requests takes most in full ones;
// of one that counts documents or bytes small ones find the limit at less cost.
type sizes struct {
	at time.Duration // requests that left before say nothing

	trial        bool
	small, large float64
	smaller      tally // of the small batches
	larger       tally
	began        mark

	// Since the last trial: requests, how many of them were refused, and the share of
	// the last ones.
	since tally
	last  float64

	// Of small batches: a span, its requests, and the most documents a second of any.
	span   mark
	recent tally
	best   float64

	// What was taken, in documents a second, before batches became larger, and when.
	taken    float64
	enlarged mark

	until time.Duration // the result holds so long
	wait  time.Duration
}

// next returns the size of the next batch of a trial. It is drawn: requests by turns fall in step
// with the service, which then refuses always the same.
func (a *adaptive) next() float64 {
	if a.draw() < 0.5 {
		return a.sizes.small
	}
	return a.sizes.large
}

// choose takes in a request, while there is a rate.
func (a *adaptive) choose(o *Observation) {
	s := &a.sizes
	if o.Started < s.at || o.Actions == 0 {
		return
	}
	refused := 0.0
	if o.Refused {
		refused = 1
	}
	if s.trial {
		a.judge(o, refused)
		return
	}
	s.since.sent++
	s.since.refused += refused
	s.last += (refused - s.last) / min(s.since.sent, memory)
	s.recent.sent++
	s.recent.refused += refused
	if a.rate.pause > dear/2 && s.last < intolerable {
		return // a trial costs more than it can bring
	}
	bad := s.last > intolerable && s.since.sent >= little
	if a.rate.unit == requests {
		if s.taken > 0 && a.batch.value > worthwhile*s.large && s.since.refused >= enoughRefused {
			bad = bad || a.clock.since(s.enlarged, documents) < worthwhile*s.taken
			if !bad && s.since.sent >= memory {
				s.taken = 0
			}
		}
		switch {
		case bad && (a.rate.value < fewest || s.taken > 0):
			of := a.batch.value
			if s.taken > 0 {
				of = min(of, s.taken/a.rate.value)
			}
			a.rate.count(documents, of)
			*s = sizes{at: o.Now, until: o.Now + longestWait/8, wait: longestWait / 8, span: a.clock.mark(), best: a.clock.since(s.span, documents)}
		case o.Refused && s.since.refused >= enoughRefused &&
			(bad || o.Now >= s.until && s.since.sent >= memory/3 && s.last > tolerated):
			a.begin(o.Now)
		}
		return
	}
	if a.clock.busy-s.span.busy < spanSeconds || s.recent.sent < spanRequests {
		return
	}
	taken := a.clock.since(s.span, documents)
	if taken < 2*s.recent.share()*s.best {
		a.undo(o.Now, taken)
		return
	}
	s.best = max(taken, fading*s.best)
	s.span, s.recent = a.clock.mark(), tally{}
}

// begin begins a trial of full batches against small ones.
func (a *adaptive) begin(now time.Duration) {
	large := a.largest()
	a.sizes = sizes{at: now, trial: true, began: a.clock.mark(), wait: a.sizes.wait, large: large, small: max(1, large/spread)}
	a.rate.start = max(a.rate.start, urge)
}

// judge takes in a request of a trial.
func (a *adaptive) judge(o *Observation, refused float64) {
	s := &a.sizes
	small, large := &s.smaller, &s.larger
	if a.clock.pause > dear {
		to := requests
		if large.sent > 0 && large.passed() == 0 {
			to = documents
		}
		a.end(to, o.Now)
		return
	}
	t := small
	if float64(o.Actions) > math.Sqrt(s.small*s.large) {
		t = large
	}
	t.sent++
	t.refused += refused
	both := tally{small.sent + large.sent, small.refused + large.refused}
	g := 2 * (small.likelihood() + large.likelihood() - both.likelihood())
	switch {
	case o.Refused && 2*small.share() < large.share() && g > certain,
		large.refused >= neverLarge && large.passed() == 0 && small.passed() >= passes:
		a.end(documents, o.Now)
	case large.refused > 1 && small.refused > 1 && both.passed() == 0 && s.small > 1: // first one that fits
		s.small, s.large, s.at = max(1, s.small*shrink), max(4, s.large*shrink), o.Now
		s.smaller, s.larger = tally{}, tally{}
	case small.refused >= enoughSmall && large.passed() >= enoughLarge && small.share() > alike*large.share():
		a.end(requests, o.Now)
	case both.sent >= fullTrial && large.refused >= enoughSmall && small.refused == 0:
		a.end(documents, o.Now)
	case both.sent >= fullTrial:
		a.end(requests, o.Now)
	}
}

// end ends a trial. What was taken in it is the first measurement.
func (a *adaptive) end(to unit, now time.Duration) {
	s, r := &a.sizes, &a.rate
	long := a.clock.busy-s.began.busy > 1
	if long && a.clock.since(s.began, requests) < fewest {
		to = documents
	}
	if s.larger.passed() >= enough*max(1, a.clock.busy-s.began.busy) {
		to = requests
	}
	of := 1.0
	if to == documents {
		of = (s.small + s.large) / 2
	}
	r.count(to, of)
	if long {
		r.value = min(r.value, max(a.clock.since(s.began, to), r.value/4))
		r.goal = r.value
	}
	wait := time.Duration(0)
	if to == requests {
		wait = max(firstWait, min(3*s.wait, longestWait))
	}
	*s = sizes{at: now, until: now + wait, wait: wait, span: a.clock.mark(), best: a.clock.since(s.began, documents)}
	r.decidedAt, r.decided, r.round, r.last = now, a.clock.busy, -1, a.clock.mark()
}

// undo gives small batches up: they become larger, at the rate of requests that passed.
func (a *adaptive) undo(now time.Duration, taken float64) {
	r, n := &a.rate, max(1, a.batch.value)
	r.count(requests, 1)
	r.value = a.clock.since(a.sizes.span, requests)
	r.goal, r.start = r.value, urge
	a.fit.size, a.fit.passed = n, n
	wait := max(firstWait, min(3*a.sizes.wait, longestWait))
	a.sizes = sizes{at: now, until: now + wait, wait: wait, taken: taken, large: n, enlarged: a.clock.mark()}
	r.decidedAt, r.decided, r.round, r.last = now, a.clock.busy, -1, a.clock.mark()
}
