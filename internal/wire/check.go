package wire

// deepestText is the deepest nesting of objects and arrays in foreign JSON, the limit of encoding/json.
const deepestText = 10_000

// Compact appends src, which must be one JSON value, without the white space between its tokens. All other bytes stay
// unchanged, as in json.Compact: invalid UTF-8, U+2028, escapes and the digits of numbers. If src is not valid JSON,
// ok is false and dst is unchanged. It allocates only to grow dst, and a little for every 64 levels of nesting after
// the first 64.
func Compact(dst, src []byte) (out []byte, ok bool) {
	t := text{src: src, dst: dst, compact: true}
	if _, ok := t.check(); !ok {
		return dst, false
	}
	return append(t.dst, src[t.done:]...), true
}

// Check reports whether src is one JSON value, with optional white space around it. If not, at is the index of the
// first invalid byte, or len(src) if src ends too early. It equals the Offset of the json.SyntaxError, less one for
// an invalid byte.
func Check(src []byte) (at int, ok bool) {
	t := text{src: src}
	return t.check()
}

// text is JSON that is being checked.
type text struct {
	src []byte
	// The bytes before done are already in dst, or are white space.
	compact bool
	dst     []byte
	done    int

	nesting
}

// nesting describes the objects and arrays that enclose the next byte.
type nesting struct {
	depth int
	inner uint64   // one bit each for the innermost 64: 1 is an object, the lowest bit is the innermost
	outer []uint64 // the others, in groups of 64
}

// check scans the text value by value. at is the index where it stopped.
func (t *text) check() (at int, ok bool) {
	src, i := t.src, 0
	for {
		i = t.space(i)
		if i == len(src) {
			return i, false
		}
		switch c := src[i]; c { // start of a value
		case '"':
			i, ok = StringEnd(src, i+1)
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			i, ok = NumberEnd(src, i)
		case '{', '[':
			if !t.enter(c == '{') {
				return i, false
			}
			i = t.space(i + 1)
			if i < len(src) && src[i] == c+2 { // its closing bracket
				i, ok = i+1, true
				t.leave()
				break
			}
			if c == '{' {
				if i, ok = t.name(i); !ok {
					return i, false
				}
			}
			continue
		case 't':
			i, ok = WordEnd(src, i, "true")
		case 'f':
			i, ok = WordEnd(src, i, "false")
		case 'n':
			i, ok = WordEnd(src, i, "null")
		default:
			ok = false
		}
		if !ok {
			return i, false
		}
		for { // end of a value
			i = t.space(i)
			if t.depth == 0 {
				return i, i == len(src)
			}
			if i == len(src) {
				return i, false
			}
			object := t.inner&1 != 0
			c := src[i]
			if c == ',' {
				i++
				if object {
					if i, ok = t.name(t.space(i)); !ok {
						return i, false
					}
				}
				break
			}
			if object && c != '}' || !object && c != ']' {
				return i, false
			}
			i++
			t.leave()
		}
	}
}

// name returns the index after the name that begins at i and its colon.
func (t *text) name(i int) (end int, ok bool) {
	if i == len(t.src) || t.src[i] != '"' {
		return i, false
	}
	if i, ok = StringEnd(t.src, i+1); !ok {
		return i, false
	}
	i = t.space(i)
	if i == len(t.src) || t.src[i] != ':' {
		return i, false
	}
	return i + 1, true
}

// space returns the index after the white space that begins at i, if any.
func (t *text) space(i int) int {
	if i < len(t.src) && t.src[i] <= ' ' {
		return t.leaveOut(i)
	}
	return i
}

func (t *text) leaveOut(i int) int {
	start := i
	for i < len(t.src) && (t.src[i] == ' ' || t.src[i] == '\n' || t.src[i] == '\r' || t.src[i] == '\t') {
		i++
	}
	if t.compact {
		t.dst = append(t.dst, t.src[t.done:start]...)
		t.done = i
	}
	return i
}

// enter is called for each opening bracket. It returns false if the nesting is too deep.
func (n *nesting) enter(object bool) bool {
	if n.depth == deepestText {
		return false
	}
	if n.depth%64 == 0 && n.depth > 0 {
		n.outer = append(n.outer, n.inner)
	}
	n.depth++
	n.inner <<= 1
	if object {
		n.inner |= 1
	}
	return true
}

func (n *nesting) leave() {
	n.depth--
	n.inner >>= 1
	if n.depth%64 == 0 && n.depth > 0 {
		last := len(n.outer) - 1
		n.inner, n.outer = n.outer[last], n.outer[:last]
	}
}
