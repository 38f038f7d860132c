package publisher

import (
	"math"
	"slices"
	"time"
)

// failedTogether puts back the items of a request that failed as a whole, and
// reports whether it could: not if each uses an attempt, because there is no gate
// that would hold them until the service works. With one no attempt is used.
//
// The request is sent again as it is. If it fails again after another one has
// passed it is divided, because one of its items may be the reason, or its
// size. While nothing passes its items go back one by one, so that batches form
// anew: an outage must not leave requests of one.
//
//archtest:long owed: to decide and to put back are two parts
func (l *loop[V, R]) failedTogether(f *flight[V, R], now instant) bool {
	const again, busyAgain, slowPieces = 1, 4, 16
	need := uint8(again)
	if f.reply.Refused {
		need = busyAgain
	}
	// Batches may have formed anew since, so not all of them need to have failed.
	failed, suspects := 0, 0
	for _, r := range f.refs {
		n := l.pending.at(r)
		if n.together == 0 {
			continue
		}
		failed++
		if n.together >= need && n.passed != l.budget.traffic.passed {
			suspects++
		}
	}
	divide, before := 2*suspects >= len(f.refs), 2*failed >= len(f.refs)
	gated, one := l.p.config.Gate != nil, false
	if attempts := l.p.config.MaxAttempts; attempts == 1 && l.gate.shut == nil {
		return false
	} else if !gated && !divide {
		// Before the last attempt one of them finds out whether the service works.
		if one = int(l.pending.at(f.refs[0]).used) == attempts-2; !one {
			return false
		}
	}
	due := now // when the pause is over, which Resume can end
	if l.pace.pausedUntil <= now {
		due = later(now, l.pace.backoff(now, f.batch.Items[0].Attempt))
	}
	for i, r := range f.refs {
		n := l.pending.at(r)
		l.noteFailure(n, &f.reply.Results[i], now)
		f.reply.Results[i].Next = Requeue // also if the service refuses whatever it is sent
		if n.together < math.MaxUint8 && (n.together == 0 || n.passed != l.budget.traffic.passed) {
			n.together++
		}
		n.passed, n.applied = l.budget.traffic.passed, l.budget.traffic.applied
		if l.gate.shut != nil {
			n.item.Attempt--
		}
		if one {
			n.used++
		}
		l.putBack(n, r)
	}
	refs := l.staying(f.refs, now)
	switch {
	case len(refs) == 0:
	case one && len(refs) > 1:
		l.pending.parts = append(l.pending.parts, part{refs: slices.Clone(refs[:1]), due: due},
			part{refs: slices.Clone(refs[1:]), due: later(due, l.pace.backoff(now, f.batch.Items[0].Attempt))})
	case divide:
		pieces := 2
		if f.reply.TimedOut {
			pieces = slowPieces
			if l.budget.traffic.hasPassed && f.left-l.budget.traffic.passedAt < time.Minute && l.budget.traffic.passedBytes < f.batch.Bytes {
				l.pace.size.slow(f.batch.Bytes)
			}
		}
		for _, piece := range l.pending.divide(refs, pieces) {
			for _, r := range piece {
				l.pending.at(r).together = 0
			}
			l.pending.parts = append(l.pending.parts, part{refs: piece, due: now})
		}
	case l.gate.shut != nil:
		for _, r := range refs {
			l.pending.retry(r, due)
		}
	case before: // one of them finds out whether anything passes
		if f.reply.TimedOut {
			l.pace.size.doubt(f.batch.Bytes)
		}
		l.pending.retry(refs[0], due)
		if len(refs) > 1 {
			l.pending.parts = append(l.pending.parts, part{refs: slices.Clone(refs[1:]), due: later(due, l.pace.backoff(now, f.batch.Items[0].Attempt))})
		}
	default:
		l.pending.parts = append(l.pending.parts, part{refs: slices.Clone(refs), due: due})
	}
	return true
}
