package publisher

import (
	"math"
	"slices"
	"time"
)

// plan is how the items of a request that failed as a whole go again.
type plan uint8

const (
	planAlone  plan = iota // each is judged by itself, and uses an attempt
	planProbe              // one before its last attempt, to find out whether the service works; the others later
	planPieces             // in pieces, because one of them may be the reason, or the size
	planLoose              // one by one, so that batches form anew: an outage must not leave requests of one
	planFirst              // one ahead of the others, to find out whether anything passes
	planAsItIs             // the same request again
)

// company is a request that failed as a whole.
type company struct {
	items    int
	failed   int  // of the items, those that failed so before
	suspects int  // and those that did so again after another request had passed
	attempts int  // as Config.MaxAttempts
	used     int  // attempts of the first item
	gated    bool // there is a gate, so that no attempt is used
	sized    bool // it had no answer for its size
	divided  bool // it is a piece of one that was divided, and another request has passed since
	shut     bool // and it holds everything
}

// plan decides by the first row that applies. Batches may have formed anew since the items
// failed before, so half of them are enough.
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

// companyOf looks at a request that failed as a whole.
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

// failedTogether puts back the items of a request that failed as a whole, and
// reports whether it could: not if each is judged by itself.
func (l *loop[V, R]) failedTogether(f *flight[V, R], now instant) bool {
	plan := l.companyOf(f).plan()
	if plan == planAlone {
		return false
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
		if plan == planProbe {
			n.used++
		}
		l.putBack(n, r)
	}
	l.follow(plan, f, now)
	return true
}

// follow puts the items that are still to be sent into the parts that a plan makes of them.
func (l *loop[V, R]) follow(plan plan, f *flight[V, R], now instant) {
	pause := func() time.Duration { return l.pace.backoff(now, f.batch.Items[0].Attempt) }
	due := now // when the pause is over, which Resume can end
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
	case planProbe:
		l.pending.parts = append(l.pending.parts, part{refs: slices.Clone(refs[:1]), due: due})
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

// inPieces divides a request: in halves, or in more pieces if it was too slow, which may be
// for its size.
func (l *loop[V, R]) inPieces(refs []ref, f *flight[V, R], now instant) {
	const slowPieces = 16
	pieces := 2
	if f.reply.TimedOut {
		pieces = slowPieces
		if t := &l.budget.traffic; t.hasPassed && f.left-t.passedAt < time.Minute && t.passedBytes < f.batch.Bytes {
			l.pace.size.slow(f.batch.Bytes)
		}
	} else if l.p.config.Gate == nil { // nothing is tried twice without an end
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
