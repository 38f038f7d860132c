package textindex

// postings are the documents that have a term in a field, ordered by ordinal, in two byte slices:
//
//	docs       for each document the distance to the previous ordinal, shifted left
//	           by one; the lowest bit is set if the term occurs once, otherwise
//	           the number of occurrences follows
//	positions  for each document the first position, then the distances
//
// All numbers are unsigned varints. Both slices only grow at the end, so a new document costs only its own terms. A
// deleted document stays until the index is compacted.
type postings struct {
	docs      []byte
	positions []byte
	next      uint32 // last ordinal plus one
	count     uint32 // documents, including deleted ones

	// For the document being added: number of occurrences so far, and the last position.
	frequency uint32
	last      uint32
}

// see adds one occurrence of the term in the document being added.
func (p *postings) see(position uint32) {
	p.positions = appendVarint(p.positions, position-p.last)
	p.frequency++
	p.last = position
}

// close completes the document being added.
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

// live returns the number of documents that are not in dead.
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

// renumber returns the postings with new ordinals, without documents whose new ordinal is none.
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

// cursor iterates over postings from the first document to the last.
type cursor struct {
	docs      []byte
	positions []byte
	ordinal   uint32
	frequency uint32
	next      uint32
	unread    uint32 // positions of earlier documents that were not read
	done      bool
}

func (p *postings) cursor() cursor {
	return cursor{docs: p.docs, positions: p.positions}
}

// advance moves to the next document, and returns false at the end.
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

// seek moves to the first document at or after ordinal, and returns false at the end.
func (c *cursor) seek(ordinal uint32) bool {
	for c.ordinal < ordinal {
		if !c.advance() {
			return false
		}
	}
	return !c.done
}

// read appends the positions in the current document. Call it at most once per document.
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

// varint returns a number and its size in bytes. Most numbers have one byte; only that case is inlined.
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
