package filequeue

import (
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
)

// states is a frame under construction, with the full state of some keys.
type states struct {
	q     *Queue
	b     []byte
	keys  []string
	recs  [][]int // where the records of each key begin in b, in the order of book.Uses
	parts int     // keys on their own, and groups
	group group   // the last one
	near  *frame  // a frame in memory, in which most records are
	reads int     // records read from elsewhere
}

// group is keys with one waiting record each and no other state, in one place but for the number of their record. They
// need no more room than in the frames of calls, so that a full disk can rewrite them. A group is written with an empty
// key, which no record has.
type group struct {
	place uint64
	gen   uint32
	keys  int // 0: none
	at    int // where keys is in b
}

// groupBytes is the most that a group of one key needs besides its record.
const groupBytes = frameHeader + statesHeader + 2 + 8 + 4 + 4

const statesHeader = 4

func (q *Queue) newStates() *states {
	return &states{q: q, b: append(newFrame(statesHeader), 0, 0, 0, 0)}
}

// add adds a key. Its records are read from the log.
func (s *states) add(now time.Time, key string) error {
	if key == "" { // no record has it
		return nil
	}
	st, ok := s.q.book.State(now, key)
	s.keys, s.recs = append(s.keys, key), append(s.recs, nil)
	simple := len(st.Leased)+len(st.Parked)+st.Expired+st.Tries == 0 && st.Replaced == nil && st.Due+st.Quiet == 0
	if ok && simple && len(st.Waiting) == 1 && (st.Place^st.Waiting[0].Seq)&book.PlaceNumber == 0 {
		return s.addToGroup(st.Place&^book.PlaceNumber, st.Gen, st.Waiting[0])
	}
	s.parts, s.group = s.parts+1, group{}
	s.b = appendText(s.b, key)
	s.b = appendFlag(s.b, ok)
	if !ok {
		return nil
	}
	s.b = le.AppendUint64(s.b, st.Place)
	s.b = le.AppendUint32(s.b, st.Gen)
	err := s.records(st.Waiting)
	s.b = appendFlag(s.b, !simple)
	if simple {
		return err
	}
	var gone []book.Rec[ref]
	if st.Replaced != nil {
		gone = append(gone, *st.Replaced)
	}
	err = errors.Join(err, s.records(st.Leased), s.records(st.Parked), s.records(gone))
	s.b = le.AppendUint64(s.b, st.LeasedPlace)
	s.b = le.AppendUint64(s.b, st.ParkedPlace)
	s.b = le.AppendUint32(s.b, st.LeasedGen)
	company := 1 // former versions wrote the number of keys of the reservation
	if st.Company {
		company++
	}
	for _, n := range []int{st.Expired, st.Deaths, st.Tries, company} {
		s.b = appendInt(s.b, n)
	}
	for _, n := range []int64{st.Due, st.Quiet, st.ParkedAt, st.Until, int64(st.Uncertain)} {
		s.b = appendI64(s.b, n)
	}
	for _, text := range []string{st.Reason, st.ReplacedReason, st.Name} {
		s.b = appendText(s.b, text)
	}
	s.b = append(s.b, st.Token[:]...)
	s.b = append(s.b, st.Holder[:]...)
	s.b = appendFlag(s.b, st.Requested)
	return err
}

// addToGroup adds a key to the last group, if it belongs there, or to a new one.
func (s *states) addToGroup(place uint64, gen uint32, rec book.Rec[ref]) error {
	g := &s.group
	if g.keys == 0 || g.place != place || g.gen != gen {
		s.parts++
		s.b = appendText(s.b, "")
		s.b = le.AppendUint64(s.b, place)
		s.b = le.AppendUint32(s.b, gen)
		*g = group{place: place, gen: gen, at: len(s.b)}
		s.b = appendInt(s.b, 0)
	}
	g.keys++
	le.PutUint32(s.b[g.at:], uint32(g.keys)) //nolint:gosec // a few
	return s.record(rec)
}

// stateSize returns the maximum size of a key's state in a frame. The caller holds the lock.
func (q *Queue) stateSize(now time.Time, key string) int {
	const numbers = 256 // all of them, and the lengths of the texts
	st, ok := q.book.State(now, key)
	if !ok {
		return numbers + len(key)
	}
	size := numbers + len(key) + min(len(st.Reason), maxText) + min(len(st.ReplacedReason), maxText) + min(len(st.Name), maxText)
	q.book.Uses(key, func(r *book.Rec[ref]) { size += recordHeader + int(r.Ref.length) }) // the key exists
	return size
}

// stateSizeDropped is stateSize after a Drop.
func (q *Queue) stateSizeDropped(now time.Time, key string) int {
	size := q.stateSize(now, key)
	st, ok := q.book.State(now, key)
	if !ok || len(st.Parked) == 0 {
		return size // it stays as it is
	}
	gone := st.Parked
	if st.Replaced != nil {
		gone = append(gone, *st.Replaced)
	}
	for i := range gone {
		size -= recordHeader + int(gone[i].Ref.length)
	}
	return size
}

// records copies records from the log, with their number.
func (s *states) records(recs []book.Rec[ref]) error {
	s.b = appendInt(s.b, len(recs))
	for i := range recs {
		if err := s.record(recs[i]); err != nil {
			return err
		}
	}
	return nil
}

// record copies a record from the log.
func (s *states) record(rec book.Rec[ref]) error {
	r := rec.Ref
	begin := len(s.b)
	s.b = append(s.b, make([]byte, recordHeader+int(r.length))...)
	raw := s.b[begin:]
	if err := s.fetch(raw, r); err != nil {
		return err
	}
	if _, err := decodeRecord(raw); err != nil { // a new checksum must not make it right
		return &CorruptError{Segment: r.segment, Offset: int64(r.offset), Reason: err.Error()}
	}
	number(raw, rec.Seq)
	last := len(s.recs) - 1
	s.recs[last] = append(s.recs[last], begin-frameHeader)
	return nil
}

// fetch copies the bytes at a reference.
func (s *states) fetch(raw []byte, r ref) error {
	if f := s.near; f != nil && r.segment == f.at.segment && r.offset >= f.at.offset+frameHeader {
		if at := int64(r.offset) - int64(f.at.offset) - frameHeader; at+int64(len(raw)) <= int64(len(f.payload)) {
			copy(raw, f.payload[at:])
			return nil
		}
	}
	s.reads++
	from, err := s.q.log.area(r.segment)
	if err != nil {
		return err
	}
	if n, err := from.area.ReadAt(raw, int64(r.offset)); n < len(raw) {
		return err
	}
	return nil
}

// frame completes the frame.
func (s *states) frame() []byte {
	le.PutUint32(s.b[frameHeader:], uint32(s.parts)) //nolint:gosec // a few
	return s.b
}

// write writes the frame, and updates the references of the book to it.
func (s *states) write(c *call) error {
	if len(s.keys) == 0 {
		return nil
	}
	at, err := c.q.log.place(len(s.b), c.now)
	if err != nil {
		c.q.fail(err)
		return c.q.log.failed
	}
	if err := c.write(kindState, s.frame()); err != nil {
		return err
	}
	for i, key := range s.keys {
		next := 0
		c.q.book.Uses(key, func(r *book.Rec[ref]) {
			r.Ref.segment = at.segment
			r.Ref.offset = at.offset + uint32(frameHeader+s.recs[i][next]) //nolint:gosec // see maxFrame
			next++
		}) // a key that is not in the book has no records in the frame
		c.q.book.Renew(key)
	}
	return nil
}

func (d *decoder) recs(base position) (recs []book.Rec[ref]) {
	n := d.count()
	for range n {
		c := d.change(base)
		if d.bad {
			return nil
		}
		recs = append(recs, book.Rec[ref]{Seq: c.Seq, Ref: c.Ref, Replaces: c.Replaces})
	}
	return recs
}

func (d *decoder) state(base position) (st book.State[ref]) {
	st.Place, st.Gen = d.u64(), d.u32()
	st.Waiting = d.recs(base)
	if !d.flag() {
		return st
	}
	st.Leased, st.Parked = d.recs(base), d.recs(base)
	if gone := d.recs(base); len(gone) > 0 {
		st.Replaced = &gone[0]
	}
	st.LeasedPlace, st.ParkedPlace, st.LeasedGen = d.u64(), d.u64(), d.u32()
	st.Expired, st.Deaths, st.Tries, st.Company = d.count(), d.count(), d.count(), d.count() != 1
	st.Due, st.Quiet, st.ParkedAt, st.Until, st.Uncertain = d.i64(), d.i64(), d.i64(), d.i64(), duration(d.i64())
	st.Reason, st.ReplacedReason, st.Name = d.text(), d.text(), d.text()
	st.Token, st.Holder = d.id(), d.id()
	st.Requested = d.flag()
	return st
}

// states reads a frame of states. It calls f with each key; ok is false if the key is gone.
func (d *decoder) states(base position, f func(key string, st book.State[ref], ok bool)) {
	for range d.count() {
		key, ok := d.text(), true
		var st book.State[ref]
		if key == "" {
			d.grouped(base, f)
		} else if ok = d.flag(); ok {
			st = d.state(base)
		}
		if d.bad {
			return
		}
		if key != "" {
			f(key, st, ok)
		}
	}
}

func (d *decoder) grouped(base position, f func(key string, st book.State[ref], ok bool)) {
	place, gen := d.u64(), d.u32()
	for range d.count() {
		c := d.change(base)
		if d.bad {
			return
		}
		rec := book.Rec[ref]{Seq: c.Seq, Ref: c.Ref, Replaces: c.Replaces}
		f(c.Key, book.State[ref]{Place: place | c.Seq&book.PlaceNumber, Gen: gen, Waiting: []book.Rec[ref]{rec}}, true)
	}
}

func (r *recovery) replayState(f *frame) bool {
	d := decoder{b: f.payload}
	d.states(f.payloadAt(), func(key string, st book.State[ref], ok bool) {
		if ok {
			r.book.Restore(f.now, key, st)
		} else {
			r.book.Remove(f.now, key)
		}
	})
	return !d.bad
}

// globals returns a frame with the state that belongs to no key.
func (q *Queue) globals() []byte { return appendGlobals(newFrame(64), q.book.Globals(), q.log.first) }

func appendGlobals(b []byte, g book.Globals, first uint32) []byte {
	b = le.AppendUint32(b, first)
	b = le.AppendUint64(b, g.Seq)
	b = le.AppendUint32(b, g.Gen)
	b = appendFlag(b, g.Paused)
	return appendText(b, g.Reason)
}

func (r *recovery) replayGlobals(f *frame) bool {
	d := decoder{b: f.payload}
	first := d.u32()
	g := book.Globals{Seq: d.u64(), Gen: d.u32(), Paused: d.flag(), Reason: d.text()}
	if d.bad {
		return false
	}
	r.first = max(r.first, first)
	r.book.SetGlobals(g)
	return true
}

// payloadAt returns the position of a frame's payload.
func (f *frame) payloadAt() position { return position{f.at.segment, f.at.offset + frameHeader} }

func (r *recovery) replayCall(f *frame) bool {
	d := decoder{b: f.payload}
	base := f.payloadAt()
	var receipt queue.Receipt
	call := queue.Call{Adder: d.id(), Number: d.u64()}
	n := d.count()
	if n > len(d.b)/recordHeader {
		return false
	}
	r.changes = r.changes[:0]
	for range n {
		r.changes = append(r.changes, d.change(base))
	}
	for range d.count() {
		key, count, last := d.text(), d.count(), d.u64()
		var by []book.Change[ref]
		for range d.count() {
			if by = append(by, d.change(base)); d.bad {
				return false
			}
		}
		if d.bad {
			return false
		}
		if len(by) < count {
			receipt.Folded += r.book.Fold(key, count, last, by)
		}
	}
	if d.bad {
		return false
	}
	receipt.Replaced, _ = r.book.Append(f.now, r.changes)
	receipt.Position = r.book.Position()
	r.adders.Remember(f.now, &call, receipt)
	return true
}

// addersFrame returns a frame with the last call of each adder, for a log whose beginning is removed: a caller that
// kept a call of an earlier process may still repeat it.
func (q *Queue) addersFrame() []byte {
	b := newFrame(1 << 10)
	q.adders.Each(func(adder queue.ID, number uint64, at time.Time, r queue.Receipt) {
		b = append(b, adder[:]...)
		b = le.AppendUint64(b, number)
		b = appendI64(b, at.UnixNano())
		b = appendText(b, string(r.Position))
		b = appendInt(b, r.Replaced)
		b = appendInt(b, r.Folded)
	})
	return b
}

func (r *recovery) replayAdders(f *frame) bool {
	d := decoder{b: f.payload}
	for d.at < len(d.b) && !d.bad {
		call := queue.Call{Adder: d.id(), Number: d.u64()}
		at := time.Unix(0, d.i64())
		receipt := queue.Receipt{Position: queue.Position(d.text()), Replaced: d.count(), Folded: d.count()}
		if !d.bad {
			r.adders.Remember(at, &call, receipt)
		}
	}
	return !d.bad
}
