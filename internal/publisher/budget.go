package publisher

import (
	"math"
	"time"
)

// traffic counts what becomes of requests and items. The counts wrap around: only
// differences mean anything.
type traffic struct {
	passed uint32 // requests that the service was sound enough to answer, of whoever shares the gate
	// Requests in which nothing was that had failed before, and pings: how many there
	// were, and how many failed as a whole. It is how often a request fails that
	// has nothing the matter with it.
	fresh, freshFailed uint32

	applied, busy uint32 // items that were applied, and for which the service was too busy

	passedAt    instant // of the last request that passed, if hasPassed
	passedBytes int     // its size
	hasPassed   bool
	silent      int // requests that failed, in a row, since something passed or a Ping was answered
}

// request is one that has ended.
type request struct {
	passed bool // the service was sound enough to answer, or applied something
	failed bool // as a whole, and not for being too busy
	fresh  bool // nothing in it had failed before
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

// trial is what is known of an item that fails when nothing else is to blame. It
// tells an item that cannot be sent from a service that fails by chance.
type trial struct {
	began        instant // of the first attempt that counts
	times        uint16  // attempts that count
	good, failed uint32  // of the sample, when it began
	own          uint32  // of the failures since then, its own
}

// An item is to blame if it failed so often that chance would do it to one in a
// million, and over at least a minute.
const (
	chance  = 1e-6
	atLeast = time.Minute
)

// counts notes an attempt that counts, and reports whether it is not chance any
// more. good and failed are running counts of what others met with; own is how
// much of failed is this item's doing this time.
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

// share returns how many of the others failed since the trial began, from 0 to 1
// without either: one more of both is counted, because of few others little is known.
func (t *trial) share(good, failed uint32) float64 {
	others := float64(failed-t.failed-t.own) + 1
	return others / (others + float64(good-t.good) + 1)
}

// remarkable returns how many of the attempts are more than what befalls everybody:
// all of them if half of the others got through, and few while hardly any did.
func (t *trial) remarkable(good, failed uint32) int {
	return int(float64(t.times) * min(1, -math.Log2(t.share(good, failed))))
}

// failed is what befell an item that is to be sent again.
type failed struct {
	now      instant
	progress bool   // something in the same reply was applied
	asked    bool   // the service was sent a Ping after it
	pinged   bool   // and has answered
	whole    bool   // the request failed as a whole
	busy     bool   // because the service was too busy
	own      bool   // the answer is about this item
	fresh    bool   // the request is one of traffic.fresh
	sharers  uint32 // items that were refused together with it, itself among them
	older    bool   // a request is under way that left before
	unpaid   bool   // the gate holds it against the service
}

// history is what an item has been through.
type history struct {
	alone    trial   // requests that failed with nothing else in them
	busy     trial   // and those for which the service was too busy
	passed   uint32  // how many requests had passed when it failed last,
	applied  uint32  // and how many items had been applied
	lonelyAt instant // since when nothing else was sent while it failed, if lonely
	used     uint16  // attempts that count
	together uint8   // requests of the same items that failed as a whole
	divided  bool    // a request that it was in was divided, because others passed
	lonely   bool    // it fails, and nothing else is sent that could tell why
}

// hasFailed reports whether it has failed for no known reason.
func (h *history) hasFailed() bool { return h.alone.times > 0 || h.lonely || h.together > 0 }

// budget decides when an item has used up its attempts. It is pure data.
type budget struct {
	attempts int  // as Config.MaxAttempts
	gated    bool // there is a gate
	canPing  bool

	traffic traffic
	lonely  int // items that fail while nothing else is sent
}

// spent reports whether an item that is to be sent again has used up its attempts; keys
// is how many keys there is something to send for. What it fails in the company of
// others is not among them, see failedTogether.
//
// Where a gate holds everything while the service does not work, an attempt
// counts only if something else got through: something in the same reply, or a
// request since its last attempt. Then the answer about one item (a conflict, an
// error in its result) counts towards MaxAttempts. A request that fails with
// nothing else in it, and a service that is too busy for the item, count towards a
// trial, because both are chance most of the time.
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
		return true // not to be sent again, whatever it is
	case !b.gated && !f.busy, !b.gated && !others, f.own, !f.whole && !f.busy && others:
		h.used++
		return int(h.used) >= b.attempts
	case f.busy:
		// What is under way may be what the service is busy with.
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

// longAlone is for an item that fails while nothing else is sent: then nobody can
// say whose fault it is. If it is the only one a Ping can. If there are more, of
// which none gets through, the service is more likely to be at fault. So they
// are given up after ten minutes, if all that there is to send has failed so and,
// with a Ping, the service answers that: a Flush must end.
func (b *budget) longAlone(h *history, f failed, keys int) bool {
	const long = 10 * time.Minute
	if !h.lonely {
		h.lonely, h.lonelyAt = true, f.now
		b.lonely++
	} else if f.asked && !f.pinged {
		h.lonelyAt = f.now // an outage, which is no item's fault and may be over just now
	}
	return (!b.canPing || f.pinged) && f.now-h.lonelyAt >= long && b.allLonely(keys)
}

// allLonely reports whether there is nothing to send that has not failed alone.
func (b *budget) allLonely(keys int) bool { return b.lonely > 0 && b.lonely >= keys }

// joined notes that an item is not the only one any more, or is settled.
func (b *budget) joined(h *history) {
	if h.lonely {
		h.lonely = false
		b.lonely--
	}
}
