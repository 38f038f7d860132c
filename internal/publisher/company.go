package publisher

import (
	"math"
	"slices"
	"time"
)

// plan is a way to send the items of a request again after it failed as a whole.
type plan uint8

const (
	planAlone  plan = iota // judge each item alone; uses an attempt
	planProbe              // two items alone, before the last attempt, to test whether the service works; the others later
	planPieces             // in pieces, because one item, or the size, may be the cause
	planLoose              // one by one, so that batches form again: an outage must not leave requests of one item
	planFirst              // one ahead of the others, to test whether anything passes
	planAsItIs             // the same request again
)

// company describes a request that failed as a whole.
type company struct {
	items    int
	failed   int  // items that failed this way before
	suspects int  // of these, items that failed this way again after another request had passed
	attempts int  // as Config.MaxAttempts
	used     int  // attempts of the first item
	gated    bool // there is a gate, so no attempt is used
	sized    bool // it had no answer because of its size
	divided  bool // it is a piece of a divided request, and another request has passed since
	shut     bool // the gate stops everything
}

// plan returns the first plan whose condition holds. Batches may have formed again since the earlier failures, so half
// of the items are enough.
func (c company) plan() plan {
	divide := 2*c.suspects >= c.items
	switch {
	case c.attempts == 1 && !c.shut:
		return planAlone
	case c.sized, c.divided:
		return planPieces
	case !c.gated && !divide && c.used == c.attempts-2:
		return planProbe
	case !c.gated && !divide:
		return planAlone
	case divide:
		return planPieces
	case c.shut:
		return planLoose
	case 2*c.failed >= c.items:
		return planFirst
	}
	return planAsItIs
}

// companyOf describes a request that failed as a whole.
func (l *loop[V, R]) companyOf(f *flight[V, R]) company {
	const again, busyAgain = 1, 4
	need := uint8(again)
	if f.reply.Refused {
		need = busyAgain
	}
	c := company{
		items: len(f.refs), attempts: l.p.config.MaxAttempts, used: int(l.pending.at(f.refs[0]).used),
		gated: l.p.config.Gate != nil, shut: l.gate.shut != nil, sized: f.sized && f.reply.cut(), divided: l.p.config.Gate == nil,
	}
	for _, r := range f.refs {
		n := l.pending.at(r)
		c.divided = c.divided && n.divided && n.passed != l.budget.traffic.passed
		if n.together == 0 {
			continue
		}
		c.failed++
		if n.together >= need && n.passed != l.budget.traffic.passed {
			c.suspects++
		}
	}
	return c
}

// failedTogether puts back the items of a request that failed as a whole. It returns false if each must be judged
// alone.
func (l *loop[V, R]) failedTogether(f *flight[V, R], now instant) bool {
	plan := l.companyOf(f).plan()
	if plan == planAlone {
		return false
	}
	for i, r := range f.refs {
		n := l.pending.at(r)
		l.noteFailure(n, &f.reply.Results[i], now)
		f.reply.Results[i].Next = Requeue // also if the service refuses every request
		if n.together < math.MaxUint8 && (n.together == 0 || n.passed != l.budget.traffic.passed) {
			n.together++
		}
		n.passed, n.applied = l.budget.traffic.passed, l.budget.traffic.applied
		if l.gate.shut != nil {
			n.item.Attempt--
		}
		if plan == planProbe {
			n.used++
		}
		l.putBack(n, r)
	}
	l.follow(plan, f, now)
	return true
}

// follow puts back the remaining items as the plan requires.
func (l *loop[V, R]) follow(plan plan, f *flight[V, R], now instant) {
	pause := func() time.Duration { return l.pace.backoff(now, f.batch.Items[0].Attempt) }
	due := now // when the pause ends, or earlier by Resume
	if l.pace.pausedUntil <= now {
		due = later(now, pause())
	}
	refs := l.staying(f.refs, now)
	if len(refs) == 0 {
		return
	}
	rest := func() {
		if len(refs) > 1 {
			l.pending.parts = append(l.pending.parts, part{refs: slices.Clone(refs[1:]), due: later(due, pause())})
		}
	}
	switch plan {
	case planProbe: // two places, because one item may be the cause
		middle := len(refs) / 2
		l.pending.parts = append(l.pending.parts, part{refs: []ref{refs[middle]}, due: due})
		if refs = slices.Delete(slices.Clone(refs), middle, middle+1); len(refs) > 0 {
			l.pending.parts = append(l.pending.parts, part{refs: refs[:1:1], due: due})
		}
		rest()
	case planPieces:
		l.inPieces(refs, f, now)
	case planLoose:
		for _, r := range refs {
			l.pending.retry(r, due)
		}
	case planFirst:
		if f.reply.TimedOut {
			l.pace.size.doubt(f.batch.Bytes)
		}
		l.pending.retry(refs[0], due)
		rest()
	default:
		l.pending.parts = append(l.pending.parts, part{refs: slices.Clone(refs), due: due})
	}
}

// inPieces divides a request: into halves, or into more pieces if it may have been too slow because of its size.
func (l *loop[V, R]) inPieces(refs []ref, f *flight[V, R], now instant) {
	const slowPieces = 16
	pieces := 2
	if f.reply.TimedOut {
		pieces = slowPieces
		if t := &l.budget.traffic; t.hasPassed && f.left-t.passedAt < time.Minute && t.passedBytes < f.batch.Bytes {
			l.pace.size.slow(f.batch.Bytes)
		}
	} else if l.p.config.Gate == nil { // without a gate there are few tries
		pieces = slowPieces
	} else if f.sized {
		pieces = min(max(pieces, 1+f.batch.Bytes/max(1, l.pace.size.current)), slowPieces)
	}
	for _, piece := range l.pending.divide(refs, pieces) {
		for _, r := range piece {
			l.pending.at(r).together, l.pending.at(r).divided = 0, true
		}
		l.pending.parts = append(l.pending.parts, part{refs: piece, due: now})
	}
}
