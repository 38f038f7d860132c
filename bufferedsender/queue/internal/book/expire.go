package book

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// advance ends the leases that have run out, and makes keys due that were delayed.
func (b *Book[R]) advance(now time.Time) {
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
	m := n.more
	alone := m.requested && !m.from.by.company
	if m.deaths == 0 || m.deaths == 1 && m.requested || alone {
		m.deaths++
	}
	m.quiet = max(m.quiet, m.until.after(m.uncertain))
	b.unlease(n)
	m.expired++
	b.counts.expired++
	if recs := b.commit(n, 0); alone && m.deaths >= queue.MaxDeaths {
		b.park(n, recs, m.leasedPlace, now, fmt.Sprintf("%d holders died with it, the last one with nothing else", m.deaths))
	} else {
		b.putBack(n, recs)
	}
	b.settleIn(n, i, now)
}

// RunOutAll ends all leases: their holder has died. Nobody gets the keys for as long
// as their holder asked for.
func (b *Book[R]) RunOutAll(now time.Time) {
	b.advance(now)
	b.emptying = longAgo
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
	if b.emptying > b.instant(now) {
		next = min(next, b.emptying)
	}
	if next == never {
		return time.Time{}, false
	}
	return b.time(next), true
}
