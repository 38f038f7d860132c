package book

import "time"

// EraOf returns the Era of a key, false if the key is not in the book.
func (b *Book[R]) EraOf(key string) (era uint32, ok bool) {
	n := b.find(key)
	if n == nil {
		return 0, false
	}
	return n.era, true
}

// Renew records the present Era for a key whose State was written to the log.
func (b *Book[R]) Renew(key string) {
	if n := b.find(key); n != nil {
		b.leaveEra(n)
		b.setEra(n)
	}
}

// setEra records the present Era for a key that has none.
func (b *Book[R]) setEra(n *node[R]) {
	n.era = b.Era
	b.eras[n.era]++
}

func (b *Book[R]) leaveEra(n *node[R]) {
	if b.eras[n.era]--; b.eras[n.era] == 0 {
		delete(b.eras, n.era)
	}
}

// Older counts the keys with this Era or an earlier one. It is cheap; before a removal call Dependents.
func (b *Book[R]) Older(era uint32) (keys int) {
	for at, n := range b.eras {
		if at <= era {
			keys += n
		}
	}
	return keys
}

// Parts is how many calls of Dependents or EachOlder visit all keys.
const Parts = indexParts

// Dependents counts the keys in one part of the book, 0 to Parts-1, that would be lost with the log up to an Era: those
// with that Era or an earlier one, and those with a record for which in returns true. A log calls it before it removes
// anything. It visits one part at a time, so that the book is not locked for long. A key that depends on nothing old
// cannot come to depend on it later.
func (b *Book[R]) Dependents(part int, era uint32, in func(R) bool) (keys int) {
	p := &b.index[part]
	for _, slot := range p.slots {
		if slot == 0 {
			continue
		}
		n := b.nodes.at(slot - 1)
		depends := n.era <= era
		b.eachRecord(n, func(r *Rec[R]) { depends = depends || in(r.Ref) })
		if depends {
			keys++
		}
	}
	return keys
}

// EachOlder calls f with each key in one part of the book that has this Era or an earlier one: whether it has only
// one waiting record and no other state, how many records, and the bytes of these.
func (b *Book[R]) EachOlder(part int, era uint32, f func(simple bool, records, bytes int)) {
	p := &b.index[part]
	for _, slot := range p.slots {
		if slot == 0 {
			continue
		}
		if n := b.nodes.at(slot - 1); n.era <= era {
			records, bytes := 0, 0
			b.eachRecord(n, func(r *Rec[R]) {
				records++
				bytes += r.Ref.Bytes()
			})
			f(n.more == nil, records, bytes)
		}
	}
}

// Globals is the state that belongs to no key and must survive the compaction of a log.
type Globals struct {
	Seq    uint64
	Gen    uint32
	Paused bool
	Reason string // of the pause
}

// Globals returns this state.
func (b *Book[R]) Globals() Globals { return Globals{b.seq, b.gen, b.paused, b.pauseReason} }

// SetGlobals sets this state. Numbers only rise.
func (b *Book[R]) SetGlobals(g Globals) {
	b.seq, b.gen = max(b.seq, g.Seq), max(b.gen, g.Gen)
	b.paused, b.pauseReason = g.Paused, g.Reason
}

// Recount resets the counters of Stats, after a log was replayed.
func (b *Book[R]) Recount() {
	b.counts.appended, b.counts.replaced, b.counts.folded, b.counts.stale, b.counts.expired = 0, 0, 0, 0, 0
	b.lastReserved = time.Time{}
}

// RanOut returns how many leases have run out since the counters were reset.
func (b *Book[R]) RanOut() int64 { return b.counts.expired }

// Advance ends leases and delays that are over at this time, as every call does.
func (b *Book[R]) Advance(now time.Time) { b.advance(now) }

// Reserved reports whether a reservation has leases.
func (b *Book[R]) Reserved(token [16]byte) bool { return b.reservations[token] != nil }

// Nothing reports whether the book has no key at all.
func (b *Book[R]) Nothing() bool { return b.nodes.used == 0 }

// Aside returns how many keys are parked or leased, and the bytes of their reasons.
func (b *Book[R]) Aside() (keys, texts int64) { return b.leased + b.parked, b.texts }

// Leased returns how many keys are leased.
func (b *Book[R]) Leased() int64 { return b.leased }

// say sets a reason.
func (b *Book[R]) say(reason *string, text string) {
	b.texts += int64(len(text) - len(*reason))
	*reason = text
}

// Size returns the number of keys in the queue, of their records, and of the bytes of keys and bodies.
func (b *Book[R]) Size() (keys int, records, bytes int64) { return b.keys(), b.recs, b.bytes }

// keep counts a record that enters the queue, letGo one that leaves it.
func (b *Book[R]) keep(r R) {
	b.bytes += int64(r.Bytes())
	b.recs++
}

func (b *Book[R]) letGo(r R) {
	b.bytes -= int64(r.Bytes())
	b.recs--
}
