package digesttree

import (
	"bytes"
	"slices"

	"github.com/go-azsearch/azsearch/internal/journal"
)

// maxBuckets bounds into how many parts changes are put before they are sorted: a part of 128 MiB is to be in the
// cache of a processor.
const maxBuckets = 256

// changes are records of keys by segment. They are copied twice in the order of memory, once into buckets of
// neighbouring segments and once from there, because millions that are read one by one, each where it was told, cost
// more than all else of a fold.
type changes struct {
	records int
	buckets [][]byte // of each record its hash and itself, in the order in which they were told
	shift   int      // from a segment to its bucket
	shape   shape
	told    []bool // by segment, whether it has a record, or was built: its digest may be another one than in the base

	bucket int       // the one that at is about; -1: none
	at     [][]int   // by segment of the bucket, where its records are there
	last   []toldKey // of the segment that of was asked for
	slots  []uint32  // a table of last by hash: the place and one more, or 0
}

// toldKey is what was told last of a key.
type toldKey struct {
	key            []byte // a part of a bucket
	hash           uint64
	version        int64
	deleted, there bool // there: the base has it
}

const hashSize = 8 // in front of a record in a bucket

// newChanges copies the records of keys: of those in only, or of all if that is nil.
func newChanges(frames [][]byte, s shape, only []bool) changes {
	n := min(s.segments(), maxBuckets)
	c := changes{buckets: make([][]byte, n), shape: s, bucket: -1, told: make([]bool, s.segments())}
	for n<<c.shift < s.segments() {
		c.shift++
	}
	c.at = make([][]int, 1<<c.shift)
	room := 0        // of a bucket that has anything: where few keys change often most have nothing
	if only == nil { // hashes spread them evenly
		for _, frame := range frames {
			room += len(frame)
		}
		room = room / n * 5 / 4
	}
	for _, frame := range frames {
		size := journal.HeaderSize
		for rest := frame[size:]; len(rest) > 0; rest = rest[size:] {
			var key []byte
			if key, _, _, size = keyRecord(rest); size == 0 { // what was told of the key is read by of
				var r record
				if r, size = next(rest); r.kind == kindBuilt && r.time != 0 && uint64(r.segment) < uint64(len(c.told)) {
					c.told[r.segment] = true
				}
				continue // the size is not 0: the frame is well formed
			}
			hash := hashOf(key)
			segment := s.segment(hash)
			if only == nil || only[segment] {
				b := &c.buckets[segment>>c.shift]
				if *b == nil {
					*b = make([]byte, 0, room)
				}
				*b = append(le.AppendUint64(*b, hash), rest[:size]...)
				c.told[segment] = true
				c.records++
			}
		}
	}
	return c
}

// enter finds where the records of each segment of a bucket are, in the order in which they were told.
func (c *changes) enter(bucket int) {
	c.bucket = bucket
	for i := range c.at {
		c.at[i] = c.at[i][:0]
	}
	b := c.buckets[bucket]
	for at := 0; at < len(b); {
		i := c.shape.segment(le.Uint64(b[at:])) - bucket<<c.shift
		c.at[i] = append(c.at[i], at)
		_, _, _, size := keyRecord(b[at+hashSize:]) // newChanges has checked the record
		at += hashSize + size
	}
}

// of finds what was told last of each key of a segment, for find. It is valid until the next call.
func (c *changes) of(segment int) []toldKey {
	c.last = c.last[:0]
	bucket := segment >> c.shift
	if bucket != c.bucket {
		c.enter(bucket)
	}
	b, all := c.buckets[bucket], c.at[segment-bucket<<c.shift]
	n := 4
	for n < 2*len(all) {
		n *= 2
	}
	c.slots = slices.Grow(c.slots[:0], n)[:n]
	clear(c.slots)
	for _, at := range all {
		key, version, deleted, _ := keyRecord(b[at+hashSize:])
		hash := le.Uint64(b[at:])
		slot, known := c.find(hash, key)
		if known == nil {
			c.last = append(c.last, toldKey{key: key, hash: hash, version: version, deleted: deleted})
			c.slots[slot] = uint32(len(c.last)) //nolint:gosec // records of a segment
			continue
		}
		known.version, known.deleted = version, deleted
	}
	return c.last
}

// find returns what was told of a key of the segment, and where it is in the table, or would be.
func (c *changes) find(hash uint64, key []byte) (slot int, _ *toldKey) {
	// The highest bits are the segment, and the lowest are as good as all others.
	for slot = int(hash) & (len(c.slots) - 1); c.slots[slot] != 0; slot = (slot + 1) & (len(c.slots) - 1) { //nolint:gosec // whatever its sign
		if t := &c.last[c.slots[slot]-1]; t.hash == hash && bytes.Equal(t.key, key) {
			return slot, t
		}
	}
	return slot, nil
}
