package outbox

import (
	"slices"
	"sort"
)

// Bounds of a key with rows that stay in the table.
const (
	maxAside  = 100_000 // keys that wait after a failure: at most about 1 KB each, without bodies
	maxKept   = 4       // first rows of such a key, and as many of the last
	maxRefill = 256     // rows read at once when the key is due
)

// gap describes rows of a key that are in the table only, between the first and the last rows, which are buffered.
type gap struct {
	first, last int64
	n           int     // of rows, 0: no gap; late rows are not counted
	came        []int64 // during the read of the gap, which may have missed them
}

func (g *gap) has(seq int64) bool { return g.n > 0 && g.first <= seq && seq <= g.last }

// front returns how many rows of a key are before the gap, all if there is none.
func (e *entry) front() int {
	if e.gap.n == 0 {
		return len(e.rows)
	}
	return sort.Search(len(e.rows), func(i int) bool { return e.rows[i].seq >= e.gap.first })
}

// trim keeps the first and the last rows of a waiting key. Rows between them that a later row replaces are deleted,
// so that a key that changes while it waits does not fill the table. The others are read again when the key is due. A
// key that is due keeps the rows before the gap.
func (d *desk) trim(e *entry) {
	if e.at == 0 && e.gap.n == 0 {
		return
	}
	before := len(e.rows)
	front := e.front()
	behind := slices.Clone(e.rows[front:])
	e.rows = e.rows[:front]
	if e.at != 0 && front > maxKept {
		rest := slices.Clone(e.rows[maxKept:])
		e.rows = e.rows[:maxKept]
		if rest = d.spend(e, rest, behind); e.gap.n == 0 {
			behind = rest
		} else {
			d.leave(e, rest)
		}
	}
	behind = d.spend(e, behind, nil)
	if n := len(behind) - maxKept; n > 0 {
		d.leave(e, behind[:n])
		behind = behind[n:]
	}
	e.rows = append(e.rows, behind...)
	if e.at != 0 {
		d.asides -= before - len(e.rows)
	}
}

// spend deletes those of rows that a later one replaces, among rows or behind, and returns the others.
func (d *desk) spend(e *entry, rows, behind []row) []row {
	if d.exports {
		return rows
	}
	last := len(rows)
	if !slices.ContainsFunc(behind, func(r row) bool { return r.replaces() }) {
		for last--; last > 0 && !rows[last].replaces(); last-- {
		}
	}
	kept := rows[:0]
	for i, r := range rows {
		if i >= last || r.seq <= e.apart {
			kept = append(kept, r)
			continue
		}
		d.settling.done = append(d.settling.done, r)
	}
	return kept
}

// leave widens the gap by rows.
func (d *desk) leave(e *entry, rows []row) {
	for i := range rows {
		g, seq := &e.gap, rows[i].seq
		if g.n == 0 {
			g.first, g.last = seq, seq
		}
		g.first, g.last = min(g.first, seq), max(g.last, seq)
		g.n++
		d.left++
		delete(d.seqs, seq)
	}
}

// refilled takes over the first rows of a gap, read for a flight; more says that there may be others.
func (d *desk) refilled(f *flight, rows []row, gen uint32, more bool) {
	if !d.land(f) {
		return
	}
	e := f.entry
	defer func() { d.goOn(e) }()
	found := make(map[int64]bool, len(rows))
	for i := range rows {
		found[rows[i].seq] = true
	}
	came := e.gap.came
	e.gap.came = nil
	for _, seq := range came {
		if !found[seq] && (!more || seq <= rows[len(rows)-1].seq) {
			return // the row was committed late: the gap is read again
		}
	}
	left := 0
	if more {
		e.gap.first, left = rows[len(rows)-1].seq+1, max(1, e.gap.n-len(rows))
	}
	d.left += left - e.gap.n
	e.gap.n = left
	for _, r := range rows {
		_, known := d.seqs[r.seq]
		_, deleted := d.gone[r.seq]
		if known || deleted {
			continue
		}
		d.seqs[r.seq] = gen
		if newer := d.confirmed.above(&r, gen); newer > 0 && !d.overtaken(&r, newer) { // as in take, whose row the gap has dropped
			continue
		}
		e.rows = append(e.rows, r)
	}
}
