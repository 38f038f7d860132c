package fold

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// maxDepth is how many objects and arrays may be inside each other. Indexes nest
// at most ten complex types, so no document that the service takes comes near.
const maxDepth = 64

// kind is what a value is, as far as folding cares.
type kind uint8

const (
	null kind = iota
	scalar
	array
	object
)

// member is one member of an object. There are many of them, so they are small
// and without pointers.
type member struct {
	// Where in the text its quote stands, its value, and what comes after it.
	start, value, end int32

	// next is the place of the member after this one and after all that is
	// inside this one; i+1 if nothing is.
	next int32

	// pair is, in a, the place of the member of the same name in b plus one; in b
	// it only has to be other than 0. 0 means that there is none.
	pair int32

	// odd is the place of its name in scanner.odd plus one, or 0 for a name that
	// stands in the text as it is.
	odd int32

	kind kind
	// annotation means that there is an "@" in the name: it belongs to OData and
	// is no field.
	annotation bool
	// hollow means that somewhere in this object, itself not counted and arrays
	// left out, there is an empty object or an annotation.
	hollow bool
}

// scanner reads compact JSON from left to right, once, and lists the members of
// objects with those inside them right behind. It checks all that it reads and
// accepts what encoding/json accepts, but for white space between tokens (there
// is none in an encoded action) and for nesting beyond maxDepth.
//
// The methods return false at the first byte that is not as it should be.
type scanner struct {
	text    []byte
	pos     int
	members []member
	odd     []string // names with escapes, unescaped
}

// action reads an action that begins with the first skip bytes of text.
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

// peek returns the next byte, 0 at the end of the text. A NUL in the text is no
// JSON either.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// object reads the members of an object that has at least one, and its closing
// brace. The opening brace has been read; depth counts this object.
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
		// Field by field: a whole member would be copied, and the copy wait for
		// the stores before it.
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

// skip reads any value. depth is how many objects and arrays it is in.
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

// skipInside reads an object or an array, which opens with c.
func (s *scanner) skipInside(c byte, depth int) bool {
	s.pos++
	closing := c + 2 // ']' and '}' come two places after their partners
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

// take goes on at end, if what ends there is as it should be.
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
	// No field of an index has such a name, and no encoder escapes letters, so
	// this may take its time.
	var name string
	if err := json.Unmarshal(s.text[start:s.pos], &name); err != nil {
		return false, 0, false
	}
	s.odd = append(s.odd, name)
	return strings.Contains(name, "@"), int32(len(s.odd)), true
}

// nameOf returns what the name of m stands for.
func (s *scanner) nameOf(m *member) []byte {
	if m.odd > 0 {
		return []byte(s.odd[m.odd-1])
	}
	return s.text[m.start+1 : m.value-2]
}

// plainName reports whether what stands between the quotes of a name is the name
// itself: no escapes in it, and valid UTF-8; and whether there is an "@" in it.
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
