package publisher

import (
	"math"
	"time"
)

// traffic counts results of requests and items. The counters wrap around; only differences are meaningful.
type traffic struct {
	passed uint32 // requests with a reply from a working service, of all publishers that share the gate
	// Requests without items that had failed before, and pings: how many, and how many failed as a whole. Their ratio is
	// the failure rate of requests without a known problem.
	fresh, freshFailed uint32

	applied, busy uint32 // applied items, and items for which the service was too busy

	passedAt    instant // of the last request that passed, if hasPassed
	passedBytes int     // its size
	hasPassed   bool
	silent      int // consecutive failed requests since something passed or a Ping was answered
}

// request describes a finished request.
type request struct {
	passed bool // the service worked, or applied something
	failed bool // as a whole, except because the service was too busy
	fresh  bool // without items that had failed before
	pinged bool // a Ping was answered afterwards
	bytes  int
}

// end counts a request.
func (t *traffic) end(r request, now instant) {
	if r.passed {
		t.passed++
		t.passedAt, t.passedBytes, t.hasPassed = now, r.bytes, true
	}
	if t.silent++; r.passed || r.pinged {
		t.silent = 0
	}
	if r.fresh && (r.passed || r.failed) {
		t.fresh++
		if !r.passed {
			t.freshFailed++
		}
	}
	if r.pinged {
		t.fresh++
	}
}

// trial collects evidence about an item that fails with no other known cause. It distinguishes an item that cannot be
// sent from random failures of the service.
type trial struct {
	began        instant // of the first counted attempt
	times        uint16  // counted attempts
	good, failed uint32  // counts of the sample when the trial began
	own          uint32  // failures since then that are the item's own
}

// An item is to blame if the probability of so many random failures is below one in a million, over at least a minute.
const (
	chance  = 1e-6
	atLeast = time.Minute
)

// counts records a counted attempt and reports whether chance can be ruled out. good and failed are running counts of
// other requests; own is the part of failed caused by this item this time.
func (t *trial) counts(now instant, good, failed, own uint32, least int) bool {
	if t.times == 0 {
		*t = trial{began: now, good: good, failed: failed - own}
	}
	t.own += own
	if t.times < math.MaxUint16 {
		t.times++
	}
	if int(t.times) < least || now-t.began < atLeast {
		return false
	}
	return math.Pow(t.share(good, failed), float64(t.times)) < chance
}

// share returns the share of other requests that failed since the trial began, from 0 to 1 exclusive. One more of each
// kind is added, because few requests are weak evidence.
func (t *trial) share(good, failed uint32) float64 {
	others := float64(failed-t.failed-t.own) + 1
	return others / (others + float64(good-t.good) + 1)
}

// remarkable returns how many attempts exceed the general failure rate: all if at least half of the others passed, few
// while hardly any did.
func (t *trial) remarkable(good, failed uint32) int {
	return int(float64(t.times) * min(1, -math.Log2(t.share(good, failed))))
}

// failed describes the failed attempt of an item that will be sent again.
type failed struct {
	now      instant
	progress bool   // something in the same reply was applied
	asked    bool   // a Ping was sent after it
	pinged   bool   // the Ping was answered
	whole    bool   // the request failed as a whole
	busy     bool   // because the service was too busy
	own      bool   // the answer is about this item
	fresh    bool   // the request counts in traffic.fresh
	sharers  uint32 // items refused together with it, itself included
	older    bool   // an older request is in flight
	unpaid   bool   // the gate counts it against the service
}

// history summarizes the attempts of an item.
type history struct {
	alone    trial   // requests that failed with nothing else in them
	busy     trial   // attempts for which the service was too busy
	passed   uint32  // value of traffic.passed at its last failure
	applied  uint32  // value of traffic.applied at its last failure
	lonelyAt instant // start of the time in which nothing else was sent while it failed, if lonely
	used     uint16  // counted attempts
	together uint8   // requests with the same items that failed as a whole
	divided  bool    // a request with it was divided, because others passed
	lonely   bool    // it fails while nothing else is sent that could show why
}

// hasFailed reports whether it has failed without a known reason.
func (h *history) hasFailed() bool { return h.alone.times > 0 || h.lonely || h.together > 0 }

// budget decides when an item has used up its attempts. It is pure data.
type budget struct {
	attempts int  // as Config.MaxAttempts
	gated    bool // there is a gate
	canPing  bool

	traffic traffic
	lonely  int // items that fail while nothing else is sent
}

// spent reports whether an item to be sent again has used up its attempts. keys is the number of keys with something to
// send. Failures of a whole request with several items are handled in failedTogether.
//
// A gate stops everything while the service does not work. So with a gate an attempt counts only if something else
// passed, in the same reply or in a request since the item's last attempt. An answer about one item (a conflict, an
// error in its result) then counts toward MaxAttempts. A request that fails with only this item, and a service too busy
// for the item, count toward a trial, because both are usually chance.
func (b *budget) spent(h *history, f failed, keys int) bool {
	t := &b.traffic
	passed := f.progress || t.passed != h.passed
	others := passed || f.pinged && keys == 1
	applied := t.applied != h.applied
	h.passed, h.applied = t.passed, t.applied
	if passed {
		b.joined(h)
	}
	switch {
	case b.attempts == 1 && !f.unpaid:
		return true // never sent again
	case !b.gated && !f.busy, !b.gated && !others, f.own, !f.whole && !f.busy && others:
		h.used++
		return int(h.used) >= b.attempts
	case f.busy:
		// A request in flight may be what keeps the service busy.
		return applied && !f.older && h.busy.counts(f.now, t.applied, t.busy, f.sharers, b.attempts)
	case others:
		own := uint32(0)
		if f.fresh {
			own = 1
		}
		return h.alone.counts(f.now, t.fresh-t.freshFailed, t.freshFailed, own, b.attempts)
	}
	return b.longAlone(h, f, keys)
}

// longAlone handles an item that fails while nothing else is sent, so that the cause is unknown. For a single item a
// Ping can show it. If there are more items and none passes, the service is the more likely cause. They are given up
// after ten minutes if everything to be sent has failed this way and, with a Ping, the service answers that: a Flush
// must end.
func (b *budget) longAlone(h *history, f failed, keys int) bool {
	const long = 10 * time.Minute
	if !h.lonely {
		h.lonely, h.lonelyAt = true, f.now
		b.lonely++
	} else if f.asked && !f.pinged {
		h.lonelyAt = f.now // an outage, not an item's fault; it may just have ended
	}
	return (!b.canPing || f.pinged) && f.now-h.lonelyAt >= long && b.allLonely(keys)
}

// allLonely reports whether everything that could be sent has failed alone.
func (b *budget) allLonely(keys int) bool { return b.lonely > 0 && b.lonely >= keys }

// joined records that an item is no longer the only one, or is settled.
func (b *budget) joined(h *history) {
	if h.lonely {
		h.lonely = false
		b.lonely--
	}
}
