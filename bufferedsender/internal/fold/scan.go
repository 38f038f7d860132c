package fold

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// maxDepth is the most levels of nested objects and arrays. Indexes nest at most ten complex types, so no valid
// document reaches it.
const maxDepth = 64

// kind is the kind of a value, as needed for folding.
type kind uint8

const (
	null kind = iota
	scalar
	array
	object
)

// member is one member of an object. Members are numerous, so they are small and have no pointers.
type member struct {
	// Offsets in the text of the name's opening quote, of the value, and of the byte after it.
	start, value, end int32

	// next is the index of the member after this one and everything inside it; i+1 if nothing is inside.
	next int32

	// pair is, in a, 1 + the index of the member with the same name in b; in b it is only nonzero. 0 means none.
	pair int32

	// odd is 1 + the index of its name in scanner.odd, or 0 if the name is unescaped in the text.
	odd int32

	kind kind
	// annotation is true if the name contains an "@": it belongs to OData and is not a field.
	annotation bool
	// hollow is true if this object contains, at any depth but not in arrays, an empty object or an annotation.
	hollow bool
}

// scanner reads compact JSON once, from left to right, and lists the members of objects, each followed by those inside
// it. It validates everything and accepts what encoding/json accepts, except white space between tokens (encoded
// actions have none) and nesting beyond maxDepth.
//
// The methods return false at the first invalid byte.
type scanner struct {
	text    []byte
	pos     int
	members []member
	odd     []string // unescaped names that have escapes
}

// action reads an action after the first skip bytes of text.
func (s *scanner) action(text []byte, skip int) bool {
	if len(text) > math.MaxInt32 {
		return false
	}
	s.text, s.pos, s.members, s.odd = text, skip, s.members[:0], s.odd[:0]
	switch s.peek() {
	case '}':
		s.pos++
	case ',':
		s.pos++
		if _, ok := s.object(1); !ok {
			return false
		}
	default:
		return false
	}
	return s.pos == len(text)
}

// peek returns the next byte, or 0 at the end of the text. A NUL in the text is not valid JSON either.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// object reads the members of a non-empty object and its closing brace. The opening brace has been read; depth counts
// this object.
func (s *scanner) object(depth int) (hollow, ok bool) {
	for {
		start := s.pos
		annotation, odd, ok := s.name()
		if !ok || s.peek() != ':' {
			return false, false
		}
		s.pos++
		value, i := s.pos, len(s.members)
		s.members = append(s.members, member{})
		kind, inside, ok := s.member(depth)
		if !ok {
			return false, false
		}
		next := len(s.members)
		// Assign each field: assigning a whole member would copy it, and the copy would wait for earlier stores.
		m := &s.members[i]
		m.start, m.value, m.end, m.next, m.odd = int32(start), int32(value), int32(s.pos), int32(next), odd
		m.kind, m.annotation, m.hollow = kind, annotation, inside
		hollow = hollow || inside || annotation || kind == object && next == i+1
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return hollow, true
		default:
			return false, false
		}
	}
}

// member reads the value of a member of an object at that depth.
func (s *scanner) member(depth int) (k kind, hollow, ok bool) {
	switch c := s.peek(); c {
	case '{':
		s.pos++
		if s.peek() == '}' {
			s.pos++
			return object, false, depth < maxDepth
		}
		if depth >= maxDepth {
			return object, false, false
		}
		hollow, ok = s.object(depth + 1)
		return object, hollow, ok
	case '[':
		return array, false, s.skip(depth)
	case 'n':
		return null, false, s.take(wire.WordEnd(s.text, s.pos, "null"))
	default:
		return scalar, false, s.skip(depth)
	}
}

// skip reads any value. depth is the number of enclosing objects and arrays.
func (s *scanner) skip(depth int) bool {
	switch c := s.peek(); c {
	case '"':
		return s.take(wire.StringEnd(s.text, s.pos+1))
	case '{', '[':
		return depth < maxDepth && s.skipInside(c, depth+1)
	case 't':
		return s.take(wire.WordEnd(s.text, s.pos, "true"))
	case 'f':
		return s.take(wire.WordEnd(s.text, s.pos, "false"))
	case 'n':
		return s.take(wire.WordEnd(s.text, s.pos, "null"))
	default:
		return s.pos < len(s.text) && s.take(wire.NumberEnd(s.text, s.pos))
	}
}

// skipInside reads an object or an array that opens with c.
func (s *scanner) skipInside(c byte, depth int) bool {
	s.pos++
	closing := c + 2 // ']' and '}' come two code points after their partners
	if s.peek() == closing {
		s.pos++
		return true
	}
	for {
		if c == '{' {
			if s.peek() != '"' {
				return false
			}
			if !s.take(wire.StringEnd(s.text, s.pos+1)) || s.peek() != ':' {
				return false
			}
			s.pos++
		}
		if !s.skip(depth) {
			return false
		}
		switch s.peek() {
		case ',':
			s.pos++
		case closing:
			s.pos++
			return true
		default:
			return false
		}
	}
}

// take moves to end and returns ok, whether the token before end is valid.
func (s *scanner) take(end int, ok bool) bool {
	s.pos = end
	return ok
}

// name reads the name of a member.
func (s *scanner) name() (annotation bool, odd int32, ok bool) {
	start := s.pos
	if s.peek() != '"' {
		return false, 0, false
	}
	if !s.take(wire.StringEnd(s.text, start+1)) {
		return false, 0, false
	}
	if annotation, plain := plainName(s.text[start+1 : s.pos-1]); plain {
		return annotation, 0, true
	}
	// Field names of an index do not need this, and encoders do not escape ASCII, so speed does not matter here.
	var name string
	if err := json.Unmarshal(s.text[start:s.pos], &name); err != nil {
		return false, 0, false
	}
	s.odd = append(s.odd, name)
	return strings.Contains(name, "@"), int32(len(s.odd)), true
}

// nameOf returns the unescaped name of m.
func (s *scanner) nameOf(m *member) []byte {
	if m.odd > 0 {
		return []byte(s.odd[m.odd-1])
	}
	return s.text[m.start+1 : m.value-2]
}

// plainName reports whether the text of a name is the name itself, valid UTF-8 without escapes, and whether it contains
// an "@".
func plainName(name []byte) (annotation, plain bool) {
	high := false
	for _, c := range name {
		switch {
		case c == '\\':
			return false, false
		case c == '@':
			annotation = true
		case c >= utf8.RuneSelf:
			high = true
		}
	}
	return annotation, !high || utf8.Valid(name)
}
