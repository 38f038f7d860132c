package textindex

// postings are the documents that hold one term in one field, in the order of
// their ordinals, as two runs of bytes:
//
//	docs       for each document the distance to the ordinal before, shifted left
//	           by one; the lowest bit is set when the term is there once, else
//	           the number of times follows
//	positions  for each document the first position, then the distances
//
// All numbers are unsigned varints. Both only ever grow at their ends, so a new
// document costs no more than its own terms; a document that is deleted stays
// until the index is compacted.
type postings struct {
	docs      []byte
	positions []byte
	next      uint32 // one more than the last ordinal
	count     uint32 // documents, deleted ones included

	// While a document is being added: how often the term was seen in it so far,
	// and where last.
	frequency uint32
	last      uint32
}

// see notes one occurrence of the term in the document that is being added.
func (p *postings) see(position uint32) {
	p.positions = appendVarint(p.positions, position-p.last)
	p.frequency++
	p.last = position
}

// close ends the document that is being added.
func (p *postings) close(ordinal uint32) {
	distance := uint64(ordinal-p.next) << 1
	if p.frequency == 1 {
		p.docs = appendVarint64(p.docs, distance|1)
	} else {
		p.docs = appendVarint64(p.docs, distance)
		p.docs = appendVarint(p.docs, p.frequency)
	}
	p.next = ordinal + 1
	p.count++
	p.frequency, p.last = 0, 0
}

// live is the number of documents that are not in dead.
func (p *postings) live(dead bitset) int {
	if dead == nil {
		return int(p.count)
	}
	n := 0
	for c := p.cursor(); c.advance(); {
		if !dead.has(c.ordinal) {
			n++
		}
	}
	return n
}

// renumber gives the documents the ordinals in ordinals and drops those that
// have none.
func (p *postings) renumber(ordinals []uint32) postings {
	var out postings
	var buffer []uint32
	for c := p.cursor(); c.advance(); {
		to := ordinals[c.ordinal]
		if to == none {
			continue
		}
		buffer = c.read(buffer[:0])
		for _, position := range buffer {
			out.see(position)
		}
		out.close(to)
	}
	return out
}

// cursor walks over postings from the first document to the last.
type cursor struct {
	docs      []byte
	positions []byte
	ordinal   uint32
	frequency uint32
	next      uint32
	unread    uint32 // positions of documents before this one that were not read
	done      bool
}

func (p *postings) cursor() cursor {
	return cursor{docs: p.docs, positions: p.positions}
}

// advance goes to the next document; false says that there is none.
func (c *cursor) advance() bool {
	c.unread += c.frequency
	c.frequency = 0
	if len(c.docs) == 0 {
		c.done = true
		return false
	}
	v, n := varint(c.docs)
	c.docs = c.docs[n:]
	c.ordinal = c.next + uint32(v>>1)
	c.next = c.ordinal + 1
	c.frequency = 1
	if v&1 == 0 {
		v, n = varint(c.docs)
		c.docs = c.docs[n:]
		c.frequency = uint32(v)
	}
	return true
}

// seek goes to the first document at or after ordinal.
func (c *cursor) seek(ordinal uint32) bool {
	for c.ordinal < ordinal {
		if !c.advance() {
			return false
		}
	}
	return !c.done
}

// read appends the positions in the present document. It may be called once for
// each.
func (c *cursor) read(dst []uint32) []uint32 {
	for ; c.unread > 0; c.unread-- {
		c.positions = c.positions[skipVarint(c.positions):]
	}
	position := uint32(0)
	for ; c.frequency > 0; c.frequency-- {
		v, n := varint(c.positions)
		c.positions = c.positions[n:]
		position += uint32(v)
		dst = append(dst, position)
	}
	return dst
}

func appendVarint(dst []byte, v uint32) []byte { return appendVarint64(dst, uint64(v)) }

func appendVarint64(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// varint reads a number and says how many bytes it took. Most take one, which is
// all that the compiler has to put in place of a call.
func varint(b []byte) (uint64, int) {
	if b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return longVarint(b)
}

func longVarint(b []byte) (uint64, int) {
	v, shift := uint64(0), 0
	for i, c := range b {
		v |= uint64(c&0x7F) << shift
		if c < 0x80 {
			return v, i + 1
		}
		shift += 7
	}
	panic("textindex: postings end within a number")
}

func skipVarint(b []byte) int {
	n := 0
	for b[n] >= 0x80 {
		n++
	}
	return n + 1
}
