package book

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// advance ends the leases that have run out, and makes keys due that were delayed.
func (b *Book[R]) advance(now time.Time) {
	b.forgetGroup()
	b.shrink()
	at := b.instant(now)
	for len(b.leases.items) > 0 {
		i := b.leases.items[0]
		n := b.nodes.at(i)
		if n.more.until > at {
			break
		}
		b.runOut(n, i, now)
		b.ripe = true
	}
	for len(b.delayed.items) > 0 {
		i := b.delayed.items[0]
		n := b.nodes.at(i)
		if n.more.dueAt() > at {
			break
		}
		b.settleIn(n, i, now)
		b.ripe = true
	}
}

// Ripe reports whether time has made keys due since it was asked last. Any call may have
// noticed that, one that only counts too: whoever waits for keys is to be woken.
func (b *Book[R]) Ripe() bool {
	ripe := b.ripe
	b.ripe = false
	return ripe
}

// runOut ends a lease that nobody has ended.
func (b *Book[R]) runOut(n *node[R], i int32, now time.Time) {
	m, r := n.more, n.more.from
	r.ranOut = true
	m.quiet = max(m.quiet, m.until.after(m.uncertain))
	b.unlease(n)
	b.counts.expired++
	alone := r.size == 1 && n.isSuspect() // as which it was reserved, by its name or in its turn
	if m.expired++; m.expired == queue.Suspicious {
		b.suspected++
	}
	if n.isSuspect() {
		if smaller := max(1, r.size/8); b.group == 0 || smaller < b.group {
			b.group = smaller
		}
	}
	recs := b.commit(n, 0)
	if alone {
		m.deaths++
	}
	if alone && m.deaths >= queue.MaxDeaths {
		b.park(n, recs, m.leasedPlace, now, fmt.Sprintf("%d holders died while they held only this key", m.deaths))
	} else {
		b.putBack(n, recs)
	}
	b.settleIn(n, i, now)
}

// RunOutAll ends all leases: their holder has died. Nobody gets the keys for as long
// as their holder asked for. Nobody tries suspects any more, and they are tried one by one at first: the
// holder may have died of one of them.
func (b *Book[R]) RunOutAll(now time.Time) {
	b.advance(now)
	b.taster, b.tasting, b.group = queue.ID{}, 0, min(b.group, 1)
	for _, i := range b.leases.items {
		b.nodes.at(i).more.until = b.instant(now)
	}
	b.advance(now)
}

// Next returns when there may be something to reserve that there is not now, false if only
// a call can change that.
func (b *Book[R]) Next(now time.Time) (time.Time, bool) {
	next := never
	if len(b.leases.items) > 0 {
		next = b.nodes.at(b.leases.items[0]).more.until
	}
	if len(b.delayed.items) > 0 {
		next = min(next, b.nodes.at(b.delayed.items[0]).more.dueAt())
	}
	if len(b.suspects.items) > 0 && b.suspectsHeld == 0 && b.tasting > b.instant(now) {
		next = min(next, b.tasting)
	}
	if next == never {
		return time.Time{}, false
	}
	return b.time(next), true
}
