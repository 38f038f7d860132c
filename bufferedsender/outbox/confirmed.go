package outbox

import "time"

// Bounds of the memory of confirmed rows.
const (
	confirmedFor = 5 * time.Minute
	maxConfirmed = 100_000
)

// confirmed are the keys with recently confirmed rows, each with its highest confirmed number. Rows below that number
// are not sent, and the index may be ahead for these keys if the server has gone back. It does no I/O and gets the time
// as an argument; the desk owns it.
type confirmed struct {
	keys  map[string]*confirmation
	order []*confirmation // by queued; at may be later
}

// confirmation is the last confirmation of a key.
type confirmation struct {
	key        string
	seq        int64  // 0: in doubt
	gen        uint32 // of the hold of its range: a later hold may read the row again
	at, queued time.Time
}

// add records that a row, and the rows before it of its key, are confirmed.
func (c *confirmed) add(r *row, gen uint32, now time.Time) {
	if c.keys == nil {
		c.keys = make(map[string]*confirmation)
	}
	k := c.keys[r.key]
	if k == nil {
		k = &confirmation{key: r.key, queued: now}
		c.keys[r.key], c.order = k, append(c.order, k)
	}
	if k.gen != gen || r.seq > k.seq { // a late row that was loaded has a lower number
		k.seq = r.seq
	}
	k.gen, k.at = gen, now
	for len(c.keys) > maxConfirmed {
		c.pop(func(k *confirmation) bool { return k.queued.Equal(k.at) })
	}
}

// above returns the number of the confirmed row that a late row of the same hold is behind, 0 if there is none.
func (c *confirmed) above(r *row, gen uint32) int64 {
	if k := c.keys[r.key]; k != nil && k.gen == gen && k.seq > r.seq {
		return k.seq
	}
	return 0
}

// prune drops confirmations from before a time that are not above the floor: no row below the floor can come any more.
func (c *confirmed) prune(before time.Time, floor int64) {
	for len(c.order) > 0 && c.order[0].queued.Before(before) {
		c.pop(func(k *confirmation) bool {
			if k.at.Before(before) && k.seq > floor {
				k.at = before
			}
			return k.at.Before(before)
		})
	}
}

// pop drops the first key if gone returns true; otherwise it moves the key behind the others.
func (c *confirmed) pop(gone func(k *confirmation) bool) {
	k := c.order[0]
	c.order[0] = nil
	if c.order = c.order[1:]; gone(k) {
		delete(c.keys, k.key)
		return
	}
	k.queued = k.at
	c.order = append(c.order, k)
}

// doubt drops the numbers of rows that may not have been deleted, and keeps their keys. gens are the generations of
// their ranges at the start of the deletion: what was confirmed under a later one is another row.
func (c *confirmed) doubt(rows []row, gens *[ranges]uint32) {
	for i := range rows {
		if k := c.keys[rows[i].key]; k != nil && k.gen == gens[rows[i].part] {
			k.seq = 0
		}
	}
}

// doubtful returns the keys for which the index may be ahead of a server that has gone back: confirmed keys, whose
// numbers are dropped, and keys with buffered rows, which may be in a request. It also returns the time of the first
// confirmation.
func (d *desk) doubtful(now time.Time) (keys []string, since time.Time) {
	since = now
	for _, k := range d.confirmed.order {
		if keys = append(keys, k.key); k.at.Before(since) {
			since = k.at
		}
	}
	for key := range d.entries {
		if d.confirmed.keys[key] == nil {
			keys = append(keys, key)
		}
	}
	d.confirmed = confirmed{}
	return keys, since
}
