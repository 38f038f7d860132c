package queuelab

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Model is the simplest implementation of a queue: maps and slices, with a full scan in each call, and the time as an
// argument. Its methods are those of queue.Queue and its optional interfaces; comments refer to the rules in DESIGN.md
// of package queue by number. It is not safe for concurrent use; ModelQueue wraps it in a queue that is.
type Model struct {
	// MaxKeys and MaxBytes are the bounds; 0 means none.
	MaxKeys  int
	MaxBytes int64

	keys         map[string]*entry
	adders       map[queue.ID]answered
	reservations map[queue.ID]*reservation

	arrivals   uint64 // number of places given so far
	seq        uint64 // number of records numbered so far
	generation uint64 // the present one, from 1

	company map[queue.ID]bool // holders that have had more than one lease since they last had none
	alone   time.Time         // until then holders with leases get nothing while a suspect waits to go alone

	paused      bool
	pauseReason string

	stats queue.Stats // the counters, and LastReserved
}

// entry is the state of a key.
type entry struct {
	key                  string
	pile, leased, parked []queue.Record // oldest first; leased and parked are never both

	place, leasedPlace, parkedPlace place // one for each of them

	lease     *reservation // while leased
	until     time.Time    // while leased
	requested bool         // while leased

	due       time.Time // End.After
	uncertain time.Time // outlives the records

	expired, deaths, tries int

	reason         string // while parked
	parkedAt       time.Time
	replaced       *queue.Record
	replacedReason string
}

// place is the position of a key in the order of all keys.
type place struct {
	class      uint8
	ms         int64 // Unix time
	arrival    uint64
	generation uint64
}

// withClass returns the place with another class, and the older of two generations.
func (p place) withClass(class uint8, generation uint64) place {
	p.class, p.generation = class, min(p.generation, generation)
	return p
}

// before is the order of places.
func (p place) before(q place) bool {
	switch {
	case p.class != q.class:
		return p.class < q.class
	case p.ms != q.ms:
		return p.ms < q.ms
	}
	return p.arrival < q.arrival
}

// answered is the last call of an adder.
type answered struct {
	number  uint64
	at      time.Time
	receipt queue.Receipt
}

// reservation is the leases of one Reserve.
type reservation struct {
	token, holder queue.ID
	name          string
	keys          []string // all keys, also those whose leases have ended
	uncertain     time.Duration
}

// NewModel returns an empty queue without bounds.
func NewModel() *Model {
	return &Model{
		keys:         map[string]*entry{},
		adders:       map[queue.ID]answered{},
		reservations: map[queue.ID]*reservation{},
		company:      map[queue.ID]bool{},
		generation:   1,
	}
}

// Append implements Queue.Append.
func (m *Model) Append(now time.Time, call queue.Call) (queue.Receipt, error) {
	if err := queue.CheckCall(&call); err != nil { // rule 1
		return queue.Receipt{}, err
	}
	switch last := m.adders[call.Adder]; { // rule 8
	case call.Number < last.number, call.Number == last.number && now.Sub(last.at) > queue.Memory:
		return queue.Receipt{}, queue.ErrTooOld
	case call.Number == last.number:
		return last.receipt, nil
	}
	if m.MaxKeys > 0 || m.MaxBytes > 0 { // rule 7, on a copy
		after := m.Clone()
		after.apply(now, call)
		all, _ := m.size()
		allAfter, parked := after.size()
		if m.MaxKeys > 0 && allAfter.keys > all.keys && allAfter.keys-min(parked.keys, m.MaxKeys) > m.MaxKeys ||
			m.MaxBytes > 0 && allAfter.bytes > all.bytes && allAfter.bytes-min(parked.bytes, m.MaxBytes) > m.MaxBytes {
			return queue.Receipt{}, fmt.Errorf("%w: %d are parked", queue.ErrFull, parked.keys)
		}
	}
	receipt := m.apply(now, call)
	m.adders[call.Adder] = answered{call.Number, now, receipt}
	return receipt, nil
}

// apply applies a call.
func (m *Model) apply(now time.Time, call queue.Call) queue.Receipt {
	receipt := queue.Receipt{Position: position(m.generation)}
	for _, f := range call.Folds { // rule 2
		receipt.Folded += m.fold(f)
	}
	for i, r := range call.Records {
		r.Body = slices.Clone(r.Body)
		r.From = queue.Origin{Adder: call.Adder, Number: call.Number, Index: i}
		m.seq++
		r.Seq = m.seq
		receipt.Replaced += m.add(now, r)
	}
	m.stats.Appended += int64(len(call.Records))
	m.stats.Replaced += int64(receipt.Replaced)
	m.stats.Folded += int64(receipt.Folded)
	seen := map[string]bool{}
	for _, r := range call.Records {
		if e := m.keys[r.Key]; !seen[r.Key] && len(e.pile) >= queue.PileLimit {
			receipt.Piles = append(receipt.Piles, queue.Pile{Key: r.Key, Records: copies(e.pile[:queue.PileLimit])})
		}
		seen[r.Key] = true
	}
	m.tidy(now)
	return receipt
}

// fold replaces the oldest waiting records, and returns how many records that saved.
func (m *Model) fold(f queue.Fold) int {
	e := m.keys[f.Key]
	if e == nil || len(e.pile) < f.Count || e.pile[f.Count-1].Seq != f.Last {
		return 0
	}
	old := e.pile[:f.Count]
	var folded []queue.Record
	for i, r := range f.Records {
		r.Body = slices.Clone(r.Body)
		r.From = old[len(old)-1].From
		r.Seq = old[len(old)-len(f.Records)+i].Seq // so that the numbers still rise
		folded = append(folded, r)
	}
	e.pile = append(folded, e.pile[f.Count:]...)
	return f.Count - len(f.Records)
}

// add appends one record and returns how many records it replaced.
func (m *Model) add(now time.Time, r queue.Record) (replaced int) {
	e := m.entry(r.Key)
	if r.Replaces() {
		e.due, e.tries = time.Time{}, 0 // rule 6
		if len(e.parked) > 0 {          // rule 5
			replaced = len(e.parked) + len(e.pile)
			e.giveWay()
			e.pile = nil
		}
	}
	switch {
	case len(e.pile) == 0:
		e.place = m.newPlace(now, r) // rule 4
		e.pile = []queue.Record{r}
	case r.Replaces(): // rule 3
		replaced += len(e.pile)
		e.place.class = r.Class
		e.pile = []queue.Record{r}
	default: // rule 3; rule 5, behind parked records
		e.place.class = min(e.place.class, r.Class)
		e.pile = append(e.pile, r)
	}
	return replaced
}

// giveWay unparks e because a record replaces the parked ones.
func (e *entry) giveWay() {
	newest := e.parked[len(e.parked)-1]
	e.replaced, e.replacedReason = &newest, e.reason
	e.parked, e.reason, e.parkedAt = nil, "", time.Time{}
	e.due, e.tries = time.Time{}, 0
}

// newPlace returns the place of a key that had no waiting records before r.
func (m *Model) newPlace(now time.Time, r queue.Record) place {
	since := r.Since
	if since.IsZero() || since.After(now) {
		since = now
	}
	if oldest := now.Add(-queue.MaxSkew); since.Before(oldest) {
		since = oldest
	}
	m.arrivals++
	return place{r.Class, since.UnixMilli(), m.arrivals, m.generation}
}

// entry returns the entry of a key, and makes it if necessary.
func (m *Model) entry(key string) *entry {
	if m.keys[key] == nil {
		m.keys[key] = &entry{key: key}
	}
	return m.keys[key]
}

// holdsSomething reports whether the queue has records of the key.
func (e *entry) holdsSomething() bool {
	return len(e.pile)+len(e.leased)+len(e.parked) > 0
}

// suspect reports whether a holder has died with the key; lone whether the key goes alone.
func (e *entry) suspect() bool { return e.expired > 0 }
func (e *entry) lone() bool    { return e.deaths > 1 }

// tidy drops state that no longer matters.
func (m *Model) tidy(now time.Time) {
	for k, e := range m.keys {
		if !e.holdsSomething() {
			if uncertain := e.uncertain; uncertain.After(now) {
				*e = entry{key: k, uncertain: uncertain}
			} else {
				delete(m.keys, k)
			}
		}
	}
}

// amount is a number of keys and bytes, for MaxKeys and MaxBytes.
type amount struct {
	keys  int
	bytes int64
}

// size returns the amount of everything, and of parked records.
func (m *Model) size() (all, parked amount) {
	for _, e := range m.keys {
		if e.holdsSomething() {
			all.keys++
		}
		if len(e.parked) > 0 {
			parked.keys++
		}
		for _, r := range slices.Concat(e.pile, e.leased, e.parked) {
			all.bytes += int64(size(r))
		}
		for _, r := range e.parked {
			parked.bytes += int64(size(r))
		}
	}
	return all, parked
}

// Fault implements queue.Faulty.
func (m *Model) Fault() error {
	if _, parked := m.size(); m.MaxKeys > 0 && parked.keys >= m.MaxKeys || m.MaxBytes > 0 && parked.bytes >= m.MaxBytes {
		return fmt.Errorf("%w: %d keys are parked", queue.ErrFull, parked.keys)
	}
	return nil
}

// size returns the size of a record for Want.Bytes and MaxBytes.
func size(r queue.Record) int { return len(r.Key) + len(r.Body) }

// copies returns copies of records for callers.
func copies(records []queue.Record) (out []queue.Record) {
	for _, r := range records {
		r.Body = slices.Clone(r.Body)
		out = append(out, r)
	}
	return out
}

func position(generation uint64) queue.Position {
	return queue.Position(strconv.FormatUint(generation, 10))
}
