package book

import (
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// PlaceNumber is the part of a State's Place that has the number of the record that got it; keys of one call differ in
// nothing else.
const PlaceNumber uint64 = 1<<arrivalBits - 1

// State is the full state of a key, for a log that is compacted. Times are in milliseconds since 1970, by the wall
// clock.
type State[R Ref] struct {
	Waiting, Leased, Parked         []Rec[R]
	Replaced                        *Rec[R]
	Place, LeasedPlace, ParkedPlace uint64
	Expired, Deaths, Tries          int
	Due, Quiet, ParkedAt            int64 // 0: none
	Reason, ReplacedReason          string
	Gen, LeasedGen                  uint32

	// The lease, if Leased.
	Token, Holder queue.ID
	Name          string
	Company       bool // of its holder
	Requested     bool
	Until         int64 // ns since 1970
	Uncertain     time.Duration
}

// Uses calls f with each record of a key, so that f can change its location. It returns false if the key is not in the
// book.
func (b *Book[R]) Uses(key string, f func(*Rec[R])) bool {
	n := b.find(key)
	if n == nil {
		return false
	}
	b.eachRecord(n, f)
	return true
}

// eachRecord calls f with each record of a key.
func (b *Book[R]) eachRecord(n *node[R], f func(*Rec[R])) {
	b.eachWaiting(n, f)
	if m := n.more; m != nil {
		for _, recs := range [][]Rec[R]{m.leased, m.parked} {
			for i := range recs {
				f(&recs[i])
			}
		}
		if m.replaced != nil {
			f(m.replaced)
		}
	}
}

// State returns the state of a key, false if it has none.
func (b *Book[R]) State(now time.Time, key string) (s State[R], ok bool) {
	n := b.find(key)
	if n == nil {
		return s, false
	}
	b.eachWaiting(n, func(r *Rec[R]) { s.Waiting = append(s.Waiting, *r) })
	s.Place, s.Gen = uint64(n.place), n.gen
	m := n.more
	if m == nil {
		return s, true
	}
	s.Leased, s.Parked, s.Replaced = slices.Clone(m.leased), slices.Clone(m.parked), m.replaced
	s.LeasedPlace, s.ParkedPlace, s.ParkedAt = uint64(m.leasedPlace), uint64(m.parkedPlace), m.parkedAt
	s.Expired, s.Deaths, s.Tries = m.expired, m.deaths, m.tries
	s.Reason, s.ReplacedReason = m.reason, m.replacedReason
	if at := b.instant(now); m.due > at {
		s.Due = b.time(m.due).UnixMilli()
	}
	if at := b.instant(now); m.quiet > at {
		s.Quiet = b.time(m.quiet).UnixMilli()
	}
	if m.from != nil {
		s.LeasedGen, s.Until, s.Uncertain = m.leasedGen, b.time(m.until).UnixNano(), m.uncertain
		s.Token, s.Holder, s.Name, s.Company, s.Requested = m.from.token, m.from.by.id, m.from.name, m.from.by.company, m.requested
	}
	return s, true
}

// Restore replaces the state of a key.
func (b *Book[R]) Restore(now time.Time, key string, s State[R]) {
	b.Remove(now, key)
	n, i := b.obtain(key)
	b.leaveEra(n) // also if Remove has left the end of an Uncertain
	b.setEra(n)
	b.gen = max(b.gen, s.Gen, s.LeasedGen)
	for _, recs := range [][]Rec[R]{s.Waiting, s.Leased, s.Parked} {
		for _, r := range recs {
			b.keep(r.Ref)
			b.seq = max(b.seq, r.Seq)
		}
	}
	if len(s.Leased)+len(s.Parked)+len(s.Waiting) > 1 || s.Replaced != nil || s.Expired+s.Tries > 0 || s.Due+s.Quiet > 0 || len(s.Waiting) == 0 {
		b.restoreMore(n, now, &s)
	}
	if len(s.Waiting) > 0 {
		n.first, n.place, n.gen = s.Waiting[0], place(s.Place), s.Gen
		b.waiting++
		if len(s.Waiting) > 1 {
			n.more.rest = slices.Clone(s.Waiting[1:])
		}
		if !n.isParked() {
			b.gens[n.gen]++
		}
	}
	if len(s.Leased) > 0 {
		n.more.leased = s.Leased
		n.more.leasedGen = s.LeasedGen
		b.gens[s.LeasedGen]++
		b.leased++
		r := b.reservations[s.Token]
		if r == nil {
			r = b.begin(now, &queue.Want{Token: s.Token, Holder: s.Holder, Name: s.Name}).r
		}
		b.lend(n, i, r, b.instant(time.Unix(0, s.Until)), s.Uncertain)
		n.more.requested = s.Requested
		r.by.keepCompany(s.Company)
		return
	}
	b.settleIn(n, i, now)
}

func (b *Book[R]) restoreMore(n *node[R], now time.Time, s *State[R]) {
	m := n.extra()
	m.leasedPlace, m.parkedPlace = place(s.LeasedPlace), place(s.ParkedPlace)
	m.expired, m.deaths, m.tries = s.Expired, s.Deaths, s.Tries
	if s.Due > 0 {
		m.due = b.instant(time.UnixMilli(s.Due))
	}
	if s.Quiet > 0 {
		m.quiet = b.instant(time.UnixMilli(s.Quiet))
	}
	if len(s.Parked) > 0 {
		m.parked, m.parkedAt = s.Parked, s.ParkedAt
		b.say(&m.reason, s.Reason)
		b.parked++
		b.parkedBytes += bytesOf(s.Parked)
	}
	if s.Replaced != nil {
		m.replaced = s.Replaced
		b.say(&m.replacedReason, s.ReplacedReason)
		b.keep(s.Replaced.Ref)
		b.replacedBytes += int64(s.Replaced.Ref.Bytes())
	}
}

// Remove removes all state of a key.
func (b *Book[R]) Remove(now time.Time, key string) {
	n, i := b.lookup(b.hash(key))
	if n == nil {
		return
	}
	if n.isLeased() {
		b.unlease(n)
		b.commit(n, len(n.more.leased))
	}
	if n.waits() {
		if !n.isParked() {
			b.ungen(n.gen)
		}
		b.dropPile(n)
		n.first = Rec[R]{}
		b.waiting--
	}
	b.forgetReplaced(n)
	if n.isParked() {
		for _, r := range b.takeParked(n) {
			b.letGo(r.Ref)
		}
	}
	if m := n.more; m != nil {
		m.expired, m.deaths, m.tries, m.due, m.quiet = 0, 0, 0, 0, 0
	}
	b.settleIn(n, i, now)
}

// Repeat applies a logged reservation. company is that of its holder; requested applies to all keys.
func (b *Book[R]) Repeat(now time.Time, want *queue.Want, keys []string, records []int, company, requested bool) {
	t := b.begin(now, want)
	for i, key := range keys {
		n, at := b.lookup(b.hash(key))
		if n == nil || !n.waits() || n.isLeased() || n.isParked() {
			continue
		}
		t.bytes = 0
		for j := range min(records[i], n.pile()) {
			t.bytes += b.waitingAt(n, j).Ref.Bytes()
		}
		t.take(at) // the bytes are those of its records, so it has room
		b.nodes.at(at).more.requested = requested
	}
	t.r.by.keepCompany(company) // even if some keys are gone
}

func (h *holder) keepCompany(company bool) {
	h.company = company
	h.alone = h.alone && !company
}
