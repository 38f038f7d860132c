package tuning

import (
	"math"
	"time"
)

const (
	// In a trial the size of large batches is spread times that of small ones. In a trial of full batches the rate grows
	// by at least urge per second while less than sought is refused.
	spread, urge, sought = 16, 0.3, 0.15
	// A trial decides for documents if large batches are refused twice as often as small ones and the G-test (Sokal and
	// Rohlf) exceeds certain, which happens by chance in less than one of seventy trials. It also does if all large ones
	// are refused, at least neverLarge, and at least passes small ones passed.
	certain, neverLarge, passes = 6, 4, 2
	// It decides for requests if enoughSmall small batches were refused, at least alike times as often as large ones, and
	// enoughLarge large ones have passed.
	enoughSmall, enoughLarge, alike = 3, 3, 0.7
	// After fullTrial requests without a result batches stay full.
	fullTrial = 60
	// enough is the number of full batches per second above which they are right, whatever the service counts.
	enough = 2.0
	// dear is a pause, in seconds, that is too long for a trial.
	dear = 2.5
	// fewest is the number of requests per second below which full batches are rarely right: a service in debt for one full
	// batch refuses everything.
	fewest, slowest = 0.5, 2.0

	// After contact consecutive refused requests the next one is small, and ever smaller: a sender's pauses grow until
	// something passes.
	contact = 4
	// A trial starts only after enoughRefused refused requests.
	enoughRefused = 3
	// A trial may start with batches that are fitting times as large as what has passed, and at least fitting × spread.
	fitting = 4
	// With full batches it starts if more than tolerated of the last memory requests were refused, or more than intolerable
	// after at least little requests.
	tolerated, intolerable, memory, little = 0.12, 0.4, 60, 8
	// Small batches are given up if throughput < 2 × refused share × best, measured over spanSeconds and at least
	// spanRequests requests. best fades by fading per span.
	spanSeconds, spanRequests, fading = 5.0, 8, 0.95
	// Enlarged batches must have worthwhile times the throughput, in documents.
	worthwhile = 1.5
	// Where pauses exceed costly, there is no trial: small batches are tried if more than rarely of the full ones are
	// refused, and fewer than seldom are sent per second. They are given up if two are refused and they have brought less
	// than kept of the throughput before.
	rarely, seldom, kept   = 0.05, 1.5, 0.2
	firstWait, longestWait = 45 * time.Second, 20 * time.Minute
)

// tally counts requests sent and requests refused as a whole.
type tally struct{ sent, refused float64 }

func (t tally) share() float64 { return t.refused / max(t.sent, 1) }

func (t tally) passed() float64 { return t.sent - t.refused }

// likelihood returns the log-likelihood of the tally at its own share.
func (t tally) likelihood() float64 {
	if t.refused == 0 || t.passed() == 0 {
		return 0
	}
	return t.refused*math.Log(t.share()) + t.passed()*math.Log(1-t.share())
}

// sizes decides between small batches, with as many documents as the rate allows in some time, and full ones. A service
// that counts requests accepts the most documents in full batches. With one that counts documents or bytes, small ones
// find the limit at less cost.
type sizes struct {
	at time.Duration // requests sent before that carry no information

	trial        bool
	small, large float64
	smaller      tally // of the small batches
	larger       tally
	began        mark

	// Since the last trial: requests, those refused, and the share of refused ones among the last memory.
	since tally
	last  float64

	// Small batches: a span, its requests, and the best throughput, in documents per second.
	span   mark
	recent tally
	best   float64

	// The throughput in documents per second before batches were enlarged, and when that was.
	taken    float64
	enlarged mark

	// A try of small batches returns to as many full ones a second if it fails; 0: there is none.
	full float64

	until time.Duration // the result is valid until then
	wait  time.Duration
}

// next returns the size of the next batch of a trial, at random: an alternating order could match a cycle of the
// service, which would then always refuse the same size.
func (a *adaptive) next() float64 {
	if a.draw() < 0.5 {
		return a.sizes.small
	}
	return a.sizes.large
}

// choose processes a request while there is a rate. late reports whether it only had to find out if anything passes.
func (a *adaptive) choose(o *Observation, late bool) {
	s := &a.sizes
	if o.Started < s.at || o.Actions == 0 {
		return
	}
	refused := 0.0
	if o.Refused {
		refused = 1
	}
	if s.trial {
		a.judge(o, refused, late)
		return
	}
	s.since.sent++
	s.since.refused += refused
	s.last += (refused - s.last) / min(s.since.sent, memory)
	s.recent.sent++
	s.recent.refused += refused
	if a.rate.unit == requests && o.Refused && a.rate.pause > costly && s.last > rarely && s.taken == 0 &&
		a.rate.value < seldom && (a.rate.value < fewest || o.Now >= s.until || s.wait <= firstWait) {
		a.try(o.Now)
		return
	}
	if a.rate.pause > dear/2 && s.last < intolerable && s.full == 0 {
		return // a trial costs more than it can gain
	}
	if a.rate.unit == documents {
		a.compare(o.Now)
		return
	}
	bad := s.last > intolerable && s.since.sent >= little
	if s.taken > 0 && a.batch.value > worthwhile*s.large && s.since.refused >= enoughRefused {
		bad = bad || a.clock.since(s.enlarged, documents) < worthwhile*s.taken
		if !bad && s.since.sent >= memory {
			s.taken = 0
		}
	}
	switch {
	case bad && s.taken > 0:
		a.rate.count(documents, min(a.batch.value, s.taken/a.rate.value))
		*s = sizes{at: o.Now, until: o.Now + longestWait/8, wait: longestWait / 8, span: a.clock.mark(), best: a.clock.since(s.span, documents)}
	case bad && a.rate.value < fewest:
		a.try(o.Now)
	case o.Refused && s.since.refused >= enoughRefused &&
		(bad || o.Now >= s.until && s.since.sent >= memory/3 && s.last > tolerated):
		a.begin(o.Now)
	}
}

// compare judges small batches by their throughput.
func (a *adaptive) compare(now time.Duration) {
	s := &a.sizes
	if a.clock.busy-s.span.busy < spanSeconds {
		return
	}
	taken := a.clock.since(s.span, documents)
	switch {
	case s.full > 0 && taken < kept*s.best && s.recent.sent < memory:
		if s.recent.refused > 1 {
			a.restore(now)
		}
		return
	case s.full > 0: // the try has succeeded
		s.full = 0
	case s.recent.sent < spanRequests:
		return
	case taken < 2*s.recent.share()*s.best:
		a.undo(now, taken)
		return
	}
	s.best = max(taken, fading*s.best)
	s.span, s.recent = a.clock.mark(), tally{}
}

// begin starts a trial of full batches against small ones.
func (a *adaptive) begin(now time.Duration) {
	large := min(a.largest(), fitting*max(a.fit.size, spread))
	a.sizes = sizes{at: now, trial: true, began: a.clock.mark(), wait: a.sizes.wait, large: large, small: max(1, large/spread)}
}

// judge processes a request of a trial.
func (a *adaptive) judge(o *Observation, refused float64, late bool) {
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
	if late {
		if !o.Refused && large.refused > 1 && large.passed() == 0 {
			a.end(documents, o.Now)
		}
		return
	}
	t := small
	if float64(o.Actions) > math.Sqrt(s.small*s.large) {
		t = large
	}
	t.sent++
	t.refused += refused
	both := tally{small.sent + large.sent, small.refused + large.refused}
	if both.share() < sought {
		a.rate.start = max(a.rate.start, urge)
	}
	g := 2 * (small.likelihood() + large.likelihood() - both.likelihood())
	switch {
	case o.Refused && 2*small.share() < large.share() && g > certain,
		large.refused >= neverLarge && large.passed() == 0 && small.passed() >= passes:
		a.end(documents, o.Now)
	case large.refused > 1 && small.refused > 1 && both.passed() == 0 && s.small > 1: // first find a size that fits
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

// end ends a trial. Its throughput is the first measurement.
func (a *adaptive) end(to unit, now time.Duration) {
	s, r := &a.sizes, &a.rate
	long := a.clock.busy-s.began.busy > 1
	slow := to == requests && long && a.clock.since(s.began, requests) < fewest
	if slow {
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
	full := 0.0
	if slow {
		full, wait = a.clock.since(s.began, requests), firstWait
	}
	*s = sizes{at: now, until: now + wait, wait: wait, span: a.clock.mark(), best: a.clock.since(s.began, documents), full: full}
	r.restart(now, &a.clock)
}

// try sends small batches without a trial, as many documents a second as before.
func (a *adaptive) try(now time.Duration) {
	s, r := &a.sizes, &a.rate
	wait := max(firstWait, min(3*s.wait, longestWait))
	next := sizes{at: now, until: now + wait, wait: wait, span: a.clock.mark(), best: a.clock.since(s.span, documents)}
	if r.value >= fewest || r.pause <= costly {
		next.full = r.value
	}
	*s = next
	r.count(documents, max(1, a.batch.value))
	r.restart(now, &a.clock)
}

// restore ends a try that has failed.
func (a *adaptive) restore(now time.Duration) {
	s, r := &a.sizes, &a.rate
	r.count(requests, 1)
	r.value, r.goal = s.full, s.full
	*s = sizes{at: now, until: now + s.wait, wait: s.wait, span: a.clock.mark()}
	r.restart(now, &a.clock)
}

// undo gives up small batches: they become fitting times as large and grow on, at the rate of requests that passed.
func (a *adaptive) undo(now time.Duration, taken float64) {
	r, n := &a.rate, max(1, a.batch.value)
	r.count(requests, 1)
	r.value = a.clock.since(a.sizes.span, requests)
	r.goal, r.start = r.value, urge
	a.fit.size, a.fit.passed = min(fitting*n, a.fit.most), n
	wait := max(firstWait, min(3*a.sizes.wait, longestWait))
	a.sizes = sizes{at: now, until: now + wait, wait: wait, taken: taken, large: n, enlarged: a.clock.mark()}
	r.restart(now, &a.clock)
}
