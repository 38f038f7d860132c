package outbox

import (
	"container/heap"
	"encoding/json"
	"slices"
	"sort"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// row is a buffered row.
type row struct {
	seq     int64
	written int64
	key     string
	op      models.ActionType
	body    []byte
	tries   int
	class   uint8
	part    uint8 // the range of its bucket
	light   bool  // the body was dropped: the row is superseded, or the key waits after a failure
	gone    bool  // the Loader returned no document, so a delete was confirmed
	size    int   // of the dropped body
}

// replaces reports whether the row makes earlier waiting rows of its key superfluous.
func (r *row) replaces() bool {
	return r.op == models.ActionTypeUpload || r.op == models.ActionTypeDelete || r.op == ""
}

// needsBody reports whether the row is sent with a body.
func (r *row) needsBody() bool { return r.op != "" && r.op != models.ActionTypeDelete }

// desk holds the buffered rows of a relay, by key: read and not deleted yet. It does no I/O and gets the time as an
// argument; the loop owns it.
type desk struct {
	exports bool // rows are exported one by one, not folded
	loads   bool // there is a Loader, for rows of any kind

	entries map[string]*entry
	seqs    map[int64]uint32   // of all buffered rows → the generation of the hold of the range
	gone    map[int64]struct{} // deleted since the running reads began
	reads   int                // running reads
	ready   [classes][]*entry
	aside   asides
	asides  int   // rows of the keys in aside
	left    int   // rows only in the table, in gaps
	bytes   int64 // of bodies of entries

	settled   time.Time // when the service last accepted or rejected a group
	settling  settling  // rows of groups that have ended
	confirmed confirmed
}

// entry is a key with buffered rows.
type entry struct {
	key    string
	rows   []row // by number; the first ones are in flight if flight is not nil
	gap    gap   // between them
	flight *flight
	part   uint8
	class  uint8
	queued bool  // in ready
	apart  int64 // rows up to this number are sent one by one
	tries  int
	due    time.Time
	at     int // in aside, from 1; 0: not in it
}

// It is a row that was rejected for good, and becomes a dead letter.
type letter struct {
	row
	status  int
	reason  models.Reason
	message string
	newer   int64 // the row that was applied before it, 0: none
}

// size returns how many bytes of bodies are buffered.
func (d *desk) size() int64 { return d.bytes + d.settling.bytes() }

// inHand returns how many rows are buffered, also without a body or about to be deleted, except those of keys in aside.
func (d *desk) inHand() int { return len(d.seqs) - d.asides }

func newDesk(exports bool) *desk {
	return &desk{exports: exports, entries: make(map[string]*entry), seqs: make(map[int64]uint32), gone: make(map[int64]struct{})}
}

// take takes over rows that were read, except those that are buffered or were deleted since, and rows of stale keys,
// which are read again. gens are the generations of the ranges. It returns how many rows were new, and how many of
// these came late: their numbers are not above those of known.
func (d *desk) take(rows []row, gens *[ranges]uint32, known [classes]int64) (fresh, late int) {
	stale := d.settling.stale(gens)
	for i := range rows {
		r := &rows[i]
		if _, known := d.seqs[r.seq]; known || gens[r.part] == 0 || stale[r.key] {
			continue
		}
		if _, deleted := d.gone[r.seq]; deleted {
			continue
		}
		e := d.entries[r.key]
		if e != nil && e.gap.has(r.seq) {
			if e.flight != nil && e.flight.step == kindRefill {
				e.gap.came = append(e.gap.came, r.seq)
			}
			continue
		}
		d.seqs[r.seq] = gens[r.part]
		fresh++
		if r.seq <= known[r.class] {
			late++
		}
		if newer := d.confirmed.above(r, gens[r.part]); newer > 0 && !d.overtaken(r, newer) {
			continue
		}
		if e == nil {
			e = &entry{key: r.key, part: r.part, class: r.class}
			d.entries[r.key] = e
		}
		d.insert(e, *r)
	}
	return fresh, late
}

// insert inserts a row among the rows of its key. A late row becomes the first of those that are not in flight.
func (d *desk) insert(e *entry, r row) {
	first := e.under()
	at := first + sort.Search(len(e.rows)-first, func(i int) bool { return e.rows[first+i].seq > r.seq })
	e.rows = slices.Insert(e.rows, at, r)
	d.bytes += int64(len(r.body))
	e.tries = max(e.tries, r.tries)
	if e.at != 0 {
		d.asides++
	}
	if e.at != 0 || e.gap.n > 0 {
		d.lighten(&e.rows[at])
		d.trim(e)
	}
	if e.at == 0 {
		d.supersede(e)
		d.enqueue(e)
	}
}

// under returns how many rows of a key are in flight.
func (e *entry) under() int {
	if e.flight == nil {
		return 0
	}
	return len(e.flight.rows)
}

// supersede drops the bodies of waiting rows that will not be sent: rows before one that replaces them and, if the key
// will be loaded, all rows.
func (d *desk) supersede(e *entry) {
	if d.exports {
		return
	}
	waiting := e.rows[e.under():e.front()]
	for len(waiting) > 0 && waiting[0].seq <= e.apart {
		waiting = waiting[1:]
	}
	last, loads := -1, false
	for i := range waiting {
		if waiting[i].replaces() {
			last = i
		}
		loads = loads || waiting[i].op == ""
	}
	for i := range waiting {
		if i < last || loads {
			d.lighten(&waiting[i])
		}
	}
}

func (d *desk) lighten(r *row) {
	if r.needsBody() {
		d.bytes -= int64(len(r.body))
		r.size = max(r.size, len(r.body))
		r.body, r.light = nil, true
	}
}

// enqueue puts a key into ready if it has something that may be sent.
func (d *desk) enqueue(e *entry) {
	if e.queued || e.flight != nil || e.at != 0 || len(e.rows)+e.gap.n == 0 {
		return
	}
	e.queued = true
	for i := range e.rows {
		e.class = min(e.class, e.rows[i].class)
	}
	d.ready[e.class] = append(d.ready[e.class], e)
}

// next returns the next group of rows to send, of the most urgent class, or nil. open reports whether a range may be
// sent.
func (d *desk) next(open func(part uint8) bool) *flight {
	for c := range d.ready {
		for i, e := range d.ready[c] {
			if !open(e.part) {
				continue
			}
			if i == 0 {
				d.ready[c][0] = nil
				d.ready[c] = d.ready[c][1:]
			} else {
				d.ready[c] = slices.Delete(d.ready[c], i, i+1)
			}
			e.queued = false
			return d.plan(e)
		}
	}
	return nil
}

// fetched gives the rows of a flight their bodies. A body is nil if the row was purged; rows that were not asked for
// have none in the map.
func (d *desk) fetched(f *flight, bodies map[int64][]byte) {
	if !d.land(f) {
		return
	}
	e := f.entry
	kept := e.rows[:0]
	for i, r := range e.rows {
		if body, asked := bodies[r.seq]; i < len(f.rows) && r.light && asked {
			if body == nil {
				d.forget(r)
				continue
			}
			d.bytes += int64(len(body))
			r.body, r.light = body, false
		}
		kept = append(kept, r)
	}
	clear(e.rows[len(kept):])
	e.rows = kept
	if len(e.rows)+e.gap.n == 0 {
		delete(d.entries, e.key)
		return
	}
	e.sort() // a late row was added behind those in flight
	d.enqueue(e)
}

// The number of a row that is no longer buffered is removed.
func (d *desk) forget(r row) {
	delete(d.seqs, r.seq)
	if d.reads > 0 {
		d.gone[r.seq] = struct{}{}
	}
}

// read records the end of a read.
func (d *desk) read() {
	if d.reads--; d.reads == 0 {
		clear(d.gone)
	}
}

// deleted records that rows are deleted; gens are the generations of their ranges at the start of the deletion.
func (d *desk) deleted(rows []row, gens *[ranges]uint32) {
	for _, r := range rows {
		if d.seqs[r.seq] == gens[r.part] {
			d.forget(r)
		}
	}
}

// drop drops all buffered rows of a range.
func (d *desk) drop(part uint8) {
	for key, e := range d.entries {
		if e.part != part {
			continue
		}
		if e.at != 0 {
			heap.Remove(&d.aside, e.at-1)
			d.asides -= len(e.rows)
		}
		for _, r := range e.rows {
			d.bytes -= int64(len(r.body))
			delete(d.seqs, r.seq)
		}
		d.left -= e.gap.n
		if e.flight != nil {
			e.flight.entry = nil
		}
		e.queued = false
		delete(d.entries, key)
	}
	d.settling.keep(func(r row) bool {
		if r.part == part {
			delete(d.seqs, r.seq)
		}
		return r.part != part
	})
	for r := range d.settling.running() { // until its end their keys are stale
		if r.part == part {
			delete(d.seqs, r.seq)
		}
	}
	for c := range d.ready {
		d.ready[c] = slices.DeleteFunc(d.ready[c], func(e *entry) bool { return e.part == part })
	}
}

// public returns a row as users see it.
func (r *row) public() Row {
	return Row{
		Key: r.key, Seq: r.seq, Class: r.class, Op: r.op, Body: json.RawMessage(r.body),
		Written: time.UnixMilli(r.written), Attempts: r.tries,
	}
}
