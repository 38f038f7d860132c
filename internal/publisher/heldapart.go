package publisher

import (
	"slices"
	"time"
)

// split puts back the parts of a batch that was refused as a whole, without using an attempt. While the gate is shut it
// puts back single items, so that batches form again.
func (l *loop[V, R]) split(f *flight[V, R], now instant) {
	for _, r := range f.refs {
		n := l.pending.at(r)
		n.item.Attempt--
		n.err = f.reply.Err
		l.putBack(n, r)
	}
	if f.reply.TooLarge {
		l.pace.size.refuse(f.batch.Bytes)
	}
	var named []ref
	for _, i := range f.reply.Named {
		if i >= 0 && i < len(f.refs) {
			named = append(named, f.refs[i])
		}
	}
	f.refs = l.staying(f.refs, now)
	switch {
	case l.gate.shut != nil && !f.reply.TooLarge:
		for _, r := range f.refs {
			l.pending.retry(r, now)
		}
	case !l.splitByTrait(f, now):
		l.pending.split(f.refs, named)
	}
}

// splitByTrait sets apart the items with the refused trait and sends the others again. It reports whether it could.
func (l *loop[V, R]) splitByTrait(f *flight[V, R], now instant) bool {
	trait := f.reply.Trait
	if trait == nil || l.p.config.Gate == nil || l.refusals.innocent[trait.Name] > now {
		return false
	}
	var having, others []ref
	for _, r := range f.refs {
		if trait.Has(l.pending.at(r).item.Body) {
			having = append(having, r)
		} else {
			others = append(others, r)
		}
	}
	if len(having) == 0 {
		return false
	}
	g := l.groupFor(&f.reply, now)
	if g == nil {
		return false
	}
	for _, r := range having {
		l.pending.holdIn(g, r)
	}
	if len(others) > 0 {
		l.pending.parts = append([]part{{refs: others}}, l.pending.parts...)
	}
	return true
}

// groupFor returns the group for the refusal in a reply. It returns nil if there are too many groups to search; then
// the items fail one by one, like any others.
func (l *loop[V, R]) groupFor(reply *Reply[R], now instant) *group {
	const many = 64
	g := l.pending.groupOf(reply.Trait)
	if g == nil && len(l.pending.groups) >= many {
		l.pending.groups = slices.DeleteFunc(l.pending.groups, func(g *group) bool { return len(g.refs) == 0 && !g.out && !g.guilty() })
	}
	switch {
	case g == nil && len(l.pending.groups) >= many:
		return nil
	case g == nil:
		g = l.pending.newGroup(reply.Trait, l.budget.traffic.applied)
	}
	g.err, g.last = reply.Err, now
	return g
}

// trustFor is how long a trait does not count as a cause after an item with it was applied.
const trustFor = time.Minute

// endSingle updates the groups after a request with a single item of a group, or with applied items that have the trait
// of one.
func (l *loop[V, R]) endSingle(f *flight[V, R], now instant) {
	if f.group != nil {
		f.group.out = false
	}
	for i := range f.reply.Results {
		if len(l.pending.groups) == 0 {
			return
		}
		if f.reply.Results[i].Next != Complete {
			continue
		}
		for _, g := range slices.Clone(l.pending.groups) {
			if !g.trait.Has(f.batch.Items[i].Body) {
				continue
			}
			l.pending.endGroup(g)
			if l.refusals.innocent == nil {
				l.refusals.innocent = make(map[string]instant)
			}
			l.refusals.innocent[g.trait.Name] = later(now, trustFor)
		}
	}
	l.pending.groups = slices.DeleteFunc(l.pending.groups, func(g *group) bool {
		return len(g.refs) == 0 && !g.out && now-g.last >= trustFor
	})
}

// refusedFor judges an item that was refused alone for a trait, and reports whether it must wait because the index is
// the cause.
func (l *loop[V, R]) refusedFor(f *flight[V, R], now instant) (wait bool) {
	trait := f.reply.Trait
	if trait == nil || l.p.config.Gate == nil || l.refusals.innocent[trait.Name] > now || !trait.Has(f.batch.Items[0].Body) {
		return false
	}
	g := l.groupFor(&f.reply, now)
	if g == nil {
		return false
	}
	if !g.guilty() {
		g.refused[f.batch.Items[0].Key] = struct{}{}
		if g.guilty() {
			g.due = later(now, recoverAtLeast)
			g.why = &IndexError{Err: g.err, apart: true}
			l.blame(g)
		}
		return false
	}
	l.pending.at(f.refs[0]).err = g.why
	l.blame(g)
	g.due = later(now, min(recoverAtLeast<<min(g.probes, 16), recoverAtMost))
	g.probes++
	if f.group != nil { // it may be set apart for something else, too
		f.group.due = max(f.group.due, g.due)
	}
	return true
}

// blame notifies the callers that wait for items of a group that the index is the cause.
func (l *loop[V, R]) blame(g *group) {
	for _, r := range g.refs {
		n := l.pending.at(r)
		n.err = g.why
		if l.p.config.Back != nil {
			l.p.config.Back(&n.item, n.unknown, n.err)
		}
	}
}

// limitGroups limits guilty groups to a quarter of the buffer, because they would take the room of items that pass.
// Their oldest items fail first.
func (l *loop[V, R]) limitGroups() {
	const share = 4
	for _, g := range l.pending.groups {
		for l.gate.shut == nil && g.guilty() && l.budget.traffic.applied != g.applied &&
			(len(g.refs) > max(1, l.settings.limits.Items/share) || int64(g.bytes) > max(1, l.settings.limits.Bytes/share)) {
			r := g.refs[0]
			g.remove(r, l.pending.sizeOf(r))
			n := l.pending.at(r)
			n.held = nil
			l.settle(Settlement[V, R]{
				Item: &n.item, Outcome: Failed, Index: true, Unknown: n.unknown, Waited: l.p.now() - n.accepted,
				Result: &Result[R]{Next: Fail, Err: g.err, Unknown: n.unknown},
			}, r)
		}
	}
	l.settleNow()
}
