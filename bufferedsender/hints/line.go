package hints

import "slices"

// chunkSize is how many keys are copied at the most when a line grows.
const chunkSize = 1024

// line is keys in an order. It only ever writes behind what there is, so that a snapshot can share its memory.
type line struct {
	chunks [][]string // none is empty; all but the last are full
	head   int        // keys of the first chunk that were taken
	size   int
}

func (l *line) push(key string) {
	l.size++
	if n := len(l.chunks); n > 0 && len(l.chunks[n-1]) < chunkSize {
		l.chunks[n-1] = append(l.chunks[n-1], key)
		return
	}
	var chunk []string
	if len(l.chunks) > 0 { // the first may stay the only one
		chunk = make([]string, 0, chunkSize)
	}
	l.chunks = append(l.chunks, append(chunk, key))
}

// pop takes the n oldest keys, of at least n.
func (l *line) pop(n int) []string {
	keys := make([]string, 0, n)
	l.size -= n
	for len(keys) < n {
		first := l.chunks[0][l.head:]
		first = first[:min(len(first), n-len(keys))]
		keys = append(keys, first...)
		if l.head += len(first); l.head == len(l.chunks[0]) {
			l.chunks[0] = nil // which gives the keys back
			l.chunks, l.head = l.chunks[1:], 0
		}
	}
	if l.size == 0 {
		*l = line{}
	}
	return keys
}

// snapshot returns the keys, which stay as they are whatever becomes of the line.
func (l *line) snapshot() [][]string {
	all := slices.Clone(l.chunks)
	if len(all) > 0 {
		all[0] = all[0][l.head:]
	}
	return all
}
