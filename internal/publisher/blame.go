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

// spent reports whether an item that is to be sent again has used up its attempts.
// What it fails in the company of others is not among them, see failedTogether.
//
// Where a gate holds everything while the service does not work, an attempt
// counts only if something else got through: something in the same reply, or a
// request since its last attempt. Then the answer about one item (a conflict, an
// error in its result) counts towards MaxAttempts. A request that fails with
// nothing else in it, and a service that is too busy for the item, count towards a
// trial, because both are chance most of the time.
func (l *loop[V, R]) spent(n *node[V], f failed) bool {
	t, attempts, gated := &l.traffic, l.p.config.MaxAttempts, l.p.config.Gate != nil
	passed := f.progress || t.passed != n.passed
	others := passed || f.pinged && l.pending.lanes.count == 1
	applied := t.applied != n.applied
	n.passed, n.applied = t.passed, t.applied
	if passed && n.lonely {
		n.lonely = false
		l.lonely--
	}
	switch {
	case attempts == 1 && !f.unpaid:
		return true // not to be sent again, whatever it is
	case !gated && !f.busy, !gated && !others, f.own, !f.whole && !f.busy && others:
		n.used++
		return int(n.used) >= attempts
	case f.busy:
		// What is under way may be what the service is busy with.
		return applied && !f.older && n.busy.counts(f.now, t.applied, t.busy, f.sharers, attempts)
	case others:
		own := uint32(0)
		if f.fresh {
			own = 1
		}
		return n.alone.counts(f.now, t.fresh-t.freshFailed, t.freshFailed, own, attempts)
	}
	return l.longAlone(n, f)
}

// longAlone is for an item that fails while nothing else is sent: then nobody can
// say whose fault it is. If it is the only one a Ping can. If there are more, of
// which none gets through, the service is more likely to be at fault. So they
// are given up after ten minutes, if all that there is to send has failed so and,
// with a Ping, the service answers that: a Flush must end.
func (l *loop[V, R]) longAlone(n *node[V], f failed) bool {
	const long = 10 * time.Minute
	if !n.lonely {
		n.lonely, n.lonelyAt = true, f.now
		l.lonely++
	} else if f.asked && !f.pinged {
		n.lonelyAt = f.now // an outage, which is no item's fault and may be over just now
	}
	return (l.p.config.Ping == nil || f.pinged) && f.now-n.lonelyAt >= long && l.allLonely()
}

// allLonely reports whether there is nothing to send that has not failed alone.
func (l *loop[V, R]) allLonely() bool { return l.lonely > 0 && l.lonely >= l.pending.lanes.count }
