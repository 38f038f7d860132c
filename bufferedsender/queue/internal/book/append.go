package book

import (
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/bounds"
)

// Change is a record to append.
type Change[R Ref] struct {
	Key      string
	Ref      R
	Seq      uint64 // see NextSeq
	Replaces bool
	Class    uint8
	Since    int64 // ms since 1970; 0: now
}

// NextSeq assigns the numbers of n records and returns the first one.
func (b *Book[R]) NextSeq(n int) uint64 {
	first := b.seq + 1
	b.seq += uint64(n) //nolint:gosec // a length
	return first
}

// Fits returns an error if the changes would exceed the bounds of the queue.
func (b *Book[R]) Fits(changes []Change[R]) error {
	if b.MaxKeys == 0 && b.MaxBytes == 0 {
		return nil
	}
	before := b.fill()
	after := before
	seen := make(map[string]int64, len(changes)) // waiting bytes of the keys of the call
	unparked := map[string]bool{}
	for i := range changes {
		c := &changes[i]
		waits, again := seen[c.Key]
		n := b.find(c.Key)
		if !again {
			if n == nil || n.vacant() {
				after.Keys++
			}
			waits = b.waitingBytes(n)
		}
		size := int64(c.Ref.Bytes())
		if c.Replaces {
			after.Bytes -= waits
			waits = 0
			if n != nil && n.isParked() && !unparked[c.Key] {
				unparked[c.Key] = true
				after.Parked--
				aside := bytesOf(n.more.parked)
				after.Bytes -= aside
				after.ParkedBytes -= aside
			}
		}
		after.Bytes += size
		seen[c.Key] = waits + size
	}
	return b.bounds().Full(after, after.Keys > before.Keys, after.Bytes > before.Bytes)
}

func (b *Book[R]) bounds() bounds.Bounds {
	return bounds.Bounds{Keys: int64(b.MaxKeys), Bytes: b.MaxBytes}
}

func (b *Book[R]) fill() bounds.Fill {
	return bounds.Fill{Keys: int64(b.keys()), Parked: b.parked, Bytes: b.bytes - b.replacedBytes, ParkedBytes: b.parkedBytes}
}

// Fault returns an error once parked keys have used up their share of the bounds, otherwise nil.
func (b *Book[R]) Fault() *error {
	if err := b.bounds().Fault(b.fill()); err != nil {
		return &err
	}
	return nil
}

func bytesOf[R Ref](recs []Rec[R]) (sum int64) {
	for i := range recs {
		sum += int64(recs[i].Ref.Bytes())
	}
	return sum
}

// keys returns the number of keys with records in the queue.
func (b *Book[R]) keys() int { return b.nodes.used - b.quiets }

func (b *Book[R]) waitingBytes(n *node[R]) (sum int64) {
	if n == nil {
		return 0
	}
	b.eachWaiting(n, func(r *Rec[R]) { sum += int64(r.Ref.Bytes()) })
	return sum
}

func (b *Book[R]) eachWaiting(n *node[R], f func(*Rec[R])) {
	if !n.waits() {
		return
	}
	f(&n.first)
	if n.more != nil {
		for i := range n.more.rest {
			f(&n.more.rest[i])
		}
	}
}

// Append appends changes. It returns how many records they replaced, and the keys whose piles have reached
// queue.PileLimit, each once.
func (b *Book[R]) Append(now time.Time, changes []Change[R]) (replaced int, piles []string) {
	for i := range changes {
		c := &changes[i]
		b.seq = max(b.seq, c.Seq)
		n, at := b.obtain(c.Key)
		replaced += b.add(n, at, now, c)
		// Equal only once for each key and call, unless the pile was that high before.
		if size := n.pile(); size >= queue.PileLimit && (size == queue.PileLimit || !slices.Contains(piles, c.Key)) {
			piles = append(piles, c.Key)
		}
	}
	b.counts.appended += int64(len(changes))
	b.counts.replaced += int64(replaced)
	// A later record of the call may have replaced the pile.
	piles = slices.DeleteFunc(piles, func(key string) bool { return b.find(key).pile() < queue.PileLimit })
	return replaced, piles
}

func (b *Book[R]) add(n *node[R], at int32, now time.Time, c *Change[R]) (replaced int) {
	rec := Rec[R]{Seq: c.Seq, Ref: c.Ref, Replaces: c.Replaces}
	b.keep(rec.Ref)
	if !n.waits() {
		b.waiting++
	}
	if c.Replaces {
		replaced = b.unpark(n)
		if n.more != nil {
			n.more.due, n.more.tries = 0, 0
		}
	}
	switch {
	case !n.waits() || c.Replaces:
		if n.waits() {
			replaced += b.dropPile(n)
			n.place = n.place.ofClass(c.Class)
		} else {
			n.place = newPlace(c.Class, placeTime(now, c.Since), c.Seq)
			n.gen = b.gen
			if !n.isParked() {
				b.gens[n.gen]++
			}
		}
		n.first = rec
	default:
		m := n.extra()
		m.rest = append(m.rest, rec)
		n.place = n.place.withClass(c.Class) // may become more urgent: settleIn moves it
	}
	b.settleIn(n, at, now)
	return replaced
}

// placeTime returns the time of a new place.
func placeTime(now time.Time, since int64) int64 {
	ms := now.UnixMilli()
	if since == 0 {
		return ms
	}
	return min(max(since, ms-queue.MaxSkew.Milliseconds()), ms)
}

// dropPile removes the waiting records. The caller resets what depends on them.
func (b *Book[R]) dropPile(n *node[R]) (dropped int) {
	b.eachWaiting(n, func(r *Rec[R]) {
		b.letGo(r.Ref)
		dropped++
	})
	if n.more != nil {
		n.more.rest = nil
	}
	return dropped
}

// unpark removes the parked records before a record that replaces them is appended. The newest of them is kept as
// replaced; records that waited behind them are removed. The key gets a new place.
func (b *Book[R]) unpark(n *node[R]) (replaced int) {
	if !n.isParked() {
		return 0
	}
	m := n.more
	replaced = len(m.parked)
	last := m.parked[len(m.parked)-1]
	b.forgetReplaced(n)
	for i := range m.parked[:len(m.parked)-1] {
		b.letGo(m.parked[i].Ref)
	}
	m.replaced = &last
	b.replacedBytes += int64(last.Ref.Bytes())
	b.say(&m.replacedReason, m.reason)
	b.say(&m.reason, "")
	b.parkedBytes -= bytesOf(m.parked)
	m.parked, m.parkedAt, m.tries = nil, 0, 0
	b.parked--
	if n.waits() {
		replaced += b.dropPile(n)
		n.first = Rec[R]{}
	}
	return replaced
}

func (b *Book[R]) forgetReplaced(n *node[R]) {
	if m := n.more; m != nil && m.replaced != nil {
		b.replacedBytes -= int64(m.replaced.Ref.Bytes())
		b.letGo(m.replaced.Ref)
		m.replaced = nil
		b.say(&m.replacedReason, "")
	}
}

// Fold replaces the oldest count waiting records of a key by fewer equivalent ones, and returns how many fewer; last is
// the number of the newest one replaced. The new records get the numbers of the last ones replaced. 0 means that
// nothing was changed.
func (b *Book[R]) Fold(key string, count int, last uint64, by []Change[R]) int {
	n := b.find(key)
	if n == nil || n.pile() < count || b.waitingAt(n, count-1).Seq != last {
		return 0
	}
	recs := make([]Rec[R], 0, n.pile()-count+len(by))
	for i := range by {
		seq := b.waitingAt(n, count-len(by)+i).Seq
		recs = append(recs, Rec[R]{Seq: seq, Ref: by[i].Ref, Replaces: by[i].Replaces})
		b.keep(by[i].Ref)
	}
	for i := range n.pile() {
		if r := b.waitingAt(n, i); i < count {
			b.letGo(r.Ref)
		} else {
			recs = append(recs, *r)
		}
	}
	n.first = recs[0]
	n.more.rest = append([]Rec[R](nil), recs[1:]...)
	b.counts.folded += int64(count - len(by))
	return count - len(by)
}

// waitingAt returns the i-th record of a pile.
func (b *Book[R]) waitingAt(n *node[R], i int) *Rec[R] {
	if i == 0 {
		return &n.first
	}
	return &n.more.rest[i-1]
}

// Pile returns the waiting records of a key, oldest first, at most limit of them.
func (b *Book[R]) Pile(key string, limit int) (recs []Rec[R]) {
	if n := b.find(key); n != nil {
		for i := range min(limit, n.pile()) {
			recs = append(recs, *b.waitingAt(n, i))
		}
	}
	return recs
}
