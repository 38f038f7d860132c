package outbox

import "time"

// Bounds of what is remembered of confirmed rows.
const (
	confirmedFor = 5 * time.Minute
	maxConfirmed = 100_000
)

// confirmed are the keys of which rows were confirmed lately, with the highest number of each. Rows below that number
// are not sent, and the index may be ahead of a server that has gone back. It does no I/O and takes the time as an
// argument; the desk owns it.
type confirmed struct {
	keys  map[string]*confirmation
	order []*confirmation // by queued, as far as at has not moved since
}

// confirmation is the last one of a key.
type confirmation struct {
	key        string
	seq        int64  // 0: the number is in doubt
	gen        uint32 // of the hold of its range: later ones may read the row again
	at, queued time.Time
}

// add notes that a row, and what is before it for its key, is confirmed.
func (c *confirmed) add(r *row, gen uint32, now time.Time) {
	if c.keys == nil {
		c.keys = make(map[string]*confirmation)
	}
	k := c.keys[r.key]
	if k == nil {
		k = &confirmation{key: r.key, queued: now}
		c.keys[r.key], c.order = k, append(c.order, k)
	}
	if k.gen != gen || r.seq > k.seq { // a row that came late, and was loaded, has a lower number
		k.seq = r.seq
	}
	k.gen, k.at = gen, now
	for len(c.keys) > maxConfirmed {
		c.pop(func(k *confirmation) bool { return k.queued.Equal(k.at) })
	}
}

// above returns the number of the confirmed row that a row of the same hold has come behind, 0 if there is none.
func (c *confirmed) above(r *row, gen uint32) int64 {
	if k := c.keys[r.key]; k != nil && k.gen == gen && k.seq > r.seq {
		return k.seq
	}
	return 0
}

// prune drops what was confirmed before a time and is not above the floor: a row that comes below it comes no more.
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

// pop drops the first key if it has gone, or has it wait behind the others.
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

// doubt drops the numbers of rows that may not have been deleted, and keeps their keys.
func (c *confirmed) doubt(rows []row) {
	for i := range rows {
		if k := c.keys[rows[i].key]; k != nil {
			k.seq = 0
		}
	}
}

// doubtful returns the keys of which the index may be ahead of a server that has gone back, and the time of the first
// confirmation: those that were confirmed, whose numbers are dropped, and those in hand, which may be in a request.
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
