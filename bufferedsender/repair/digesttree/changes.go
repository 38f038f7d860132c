package digesttree

import (
	"bytes"
	"slices"

	"github.com/go-azsearch/azsearch/internal/journal"
)

// maxBuckets bounds the number of buckets that changes are sorted into. A bucket of 128 MiB of changes should fit the
// cache of a processor.
const maxBuckets = 256

// changes are records of keys by segment. They are copied sequentially into buckets of neighbouring segments, and
// sorted there by segment. Random access to millions of records in memory would cost more than the rest of a fold.
type changes struct {
	records int
	buckets [][]byte // hash and record, in call order
	shift   int      // a segment shifted right is its bucket
	shape   shape
	told    []bool // segments with a record or a built mark; their digest may differ from the base's

	bucket int       // the bucket that at describes; -1: none
	at     [][]int   // by segment of that bucket, offsets of its records
	last   []toldKey // result of the last call of of
	slots  []uint32  // hash table of last: index plus one, or 0
}

// toldKey is the last change of a key.
type toldKey struct {
	key            []byte // aliases a bucket
	hash           uint64
	version        int64
	deleted, there bool // there: the base has the key
}

const hashSize = 8 // before each record in a bucket

// newChanges copies the records of the segments in only, or of all segments if only is nil.
func newChanges(frames [][]byte, s shape, only []bool) changes {
	n := min(s.segments(), maxBuckets)
	c := changes{buckets: make([][]byte, n), shape: s, bucket: -1, told: make([]bool, s.segments())}
	for n<<c.shift < s.segments() {
		c.shift++
	}
	c.at = make([][]int, 1<<c.shift)
	room := 0        // capacity of each bucket in use; many stay empty if few keys change often
	if only == nil { // hashes spread keys evenly
		for _, frame := range frames {
			room += len(frame)
		}
		room = room / n * 5 / 4
	}
	for _, frame := range frames {
		size := journal.HeaderSize
		for rest := frame[size:]; len(rest) > 0; rest = rest[size:] {
			var key []byte
			if key, _, _, size = keyRecord(rest); size == 0 { // only the last record of a key counts: see of
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

// enter finds the records of each segment of a bucket, in call order.
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

// of returns the last change of each key of a segment, and prepares find. The result is valid until the next call.
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

// find returns the change of a key of the current segment, and its slot in the hash table, or the free slot.
func (c *changes) find(hash uint64, key []byte) (slot int, _ *toldKey) {
	// The highest bits select the segment; the lowest are as random as all others.
	for slot = int(hash) & (len(c.slots) - 1); c.slots[slot] != 0; slot = (slot + 1) & (len(c.slots) - 1) { //nolint:gosec // the sign does not matter
		if t := &c.last[c.slots[slot]-1]; t.hash == hash && bytes.Equal(t.key, key) {
			return slot, t
		}
	}
	return slot, nil
}
