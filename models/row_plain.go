package models

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/wire"
)

var plains sync.Pool

// plain writes JSON in a canonical form: the output of encoding/json for the same value in maps, without empty
// values. Stored digests depend on each byte of it. It builds no maps, because backups and comparisons compute the
// digest of every document of an index, several times.
type plain struct {
	src     []byte // valid JSON
	out     []byte
	members []plainMember // of the objects that enclose the current value
	sorted  []byte
}

// plainMember is a member of an object in out, including its name and a trailing comma.
type plainMember struct {
	name       []byte
	start, end int // equal for an empty value
}

// value appends the value that begins at i, and returns its end. An empty value is not appended.
func (p *plain) value(i int) (end int, something bool) {
	switch p.src[i] {
	case '{':
		return p.object(i, nil)
	case '[':
		return p.list(i)
	case '"':
		end, _ = wire.StringEnd(p.src, i+1)
		p.text(p.src[i:end])
		return end, true
	case 't':
		p.out = append(p.out, "true"...)
		return i + 4, true
	case 'f':
		p.out = append(p.out, "false"...)
		return i + 5, true
	case 'n':
		return i + 4, false
	}
	end, _ = wire.NumberEnd(p.src, i)
	p.number(p.src[i:end])
	return end, true
}

// list appends a list. Its elements keep their positions.
func (p *plain) list(i int) (end int, something bool) {
	start := len(p.out)
	p.out = append(p.out, '[')
	for i = wire.Space(p.src, i+1); p.src[i] != ']'; {
		if i, something = p.value(i); !something {
			p.out = append(p.out, "null"...)
		}
		p.out = append(p.out, ',')
		if i = wire.Space(p.src, i); p.src[i] == ',' {
			i = wire.Space(p.src, i+1)
		}
	}
	if len(p.out) == start+1 {
		p.out = p.out[:start]
		return i + 1, false
	}
	p.out[len(p.out)-1] = ']'
	return i + 1, true
}

// object appends an object with only the given members, or all.
func (p *plain) object(i int, only []string) (end int, something bool) {
	start, first := len(p.out), len(p.members)
	p.out = append(p.out, '{')
	point := false
	for i = wire.Space(p.src, i+1); p.src[i] != '}'; {
		quoted := i
		i, _ = wire.StringEnd(p.src, i+1)
		m := plainMember{name: unquoted(p.src[quoted:i]), start: len(p.out)}
		kept := len(only) == 0 || slices.Contains(only, string(m.name))
		p.string(p.src[quoted:i])
		p.out = append(p.out, ':')
		value := len(p.out)
		i, something = p.value(wire.Space(p.src, wire.Space(p.src, i)+1))
		if string(m.name) == "type" {
			point = kept && string(p.out[value:]) == `"Point"`
		}
		p.out = append(p.out, ',')
		if !something || !kept || bytes.HasPrefix(m.name, []byte("@")) {
			p.out = p.out[:m.start]
		}
		m.end = len(p.out)
		p.members = append(p.members, m)
		if i = wire.Space(p.src, i); p.src[i] == ',' {
			i = wire.Space(p.src, i+1)
		}
	}
	p.sort(p.members[first:], start+1, point)
	p.members = p.members[:first]
	if len(p.out) == start+1 {
		p.out = p.out[:start]
		return i + 1, false
	}
	p.out[len(p.out)-1] = '}'
	return i + 1, true
}

// sort orders the members of an object, which begin at start, by name. If names are equal, the last one counts. The
// crs of a point is dropped.
func (p *plain) sort(members []plainMember, start int, point bool) {
	slices.SortStableFunc(members, func(a, b plainMember) int { return bytes.Compare(a.name, b.name) })
	p.sorted = p.sorted[:0]
	for i, m := range members {
		if i+1 < len(members) && bytes.Equal(members[i+1].name, m.name) || point && string(m.name) == "crs" {
			continue
		}
		p.sorted = append(p.sorted, p.out[m.start:m.end]...)
	}
	p.out = append(p.out[:start], p.sorted...)
}

// text appends a string. A time is normalized first.
func (p *plain) text(quoted []byte) {
	if len(quoted) > 20 && (quoted[5] == '-' || bytes.IndexByte(quoted, '\\') >= 0) {
		s, _ := wire.Unquote(quoted)
		if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
			p.out = append(p.out, '"')
			p.out = t.UTC().Truncate(time.Millisecond).AppendFormat(p.out, time.RFC3339Nano)
			p.out = append(p.out, '"')
			return
		}
	}
	p.string(quoted)
}

// string appends a string in the notation of encoding/json.
func (p *plain) string(quoted []byte) {
	ascii, i := true, 0
	for i+8 <= len(quoted) && unchanged(binary.LittleEndian.Uint64(quoted[i:])) {
		i += 8
	}
	for _, c := range quoted[i:] {
		if c == '\\' || c == '<' || c == '>' || c == '&' {
			p.escape(quoted)
			return
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii && (!utf8.Valid(quoted) || bytes.Contains(quoted, []byte("\u2028")) || bytes.Contains(quoted, []byte("\u2029"))) {
		p.escape(quoted)
		return
	}
	p.out = append(p.out, quoted...)
}

// unchanged reports whether none of eight bytes is a backslash, an angle bracket, an ampersand, or not ASCII. It may
// return false for others as well.
func unchanged(w uint64) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	slash, angle, and := w^ones*'\\', (w|ones*2)^ones*'>', w^ones*'&'
	return ((slash-ones)&^slash|(angle-ones)&^angle|(and-ones)&^and|w)&highs == 0
}

func (p *plain) escape(quoted []byte) {
	s, _ := wire.Unquote(quoted)
	text, _ := json.Marshal(s) // a string always encodes
	p.out = append(p.out, text...)
}

// unquoted returns the decoded name.
func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted) {
		return quoted[1 : len(quoted)-1]
	}
	s, _ := wire.Unquote(quoted)
	return []byte(s)
}

// number appends a number as a float64, or unchanged if float64 would change it.
func (p *plain) number(n []byte) {
	if isSmallInteger(n) {
		p.out = append(p.out, n...)
		return
	}
	f, err := strconv.ParseFloat(string(n), 64)
	switch {
	case err != nil, isLargeInteger(string(n), f):
		p.out = append(p.out, n...)
	case f == 0:
		p.out = append(p.out, '0') // also for -0
	default:
		p.out = strconv.AppendFloat(p.out, f, 'g', -1, 64)
	}
}

// isSmallInteger reports whether a number has only digits, at most six, and so is already in the notation of a
// float64.
func isSmallInteger(n []byte) bool {
	for _, c := range n {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(n) <= 6
}

// isLargeInteger reports whether a number is an integer that float64 would change. An integer that is the decimal
// notation of a float64, with zeros after its significant digits, is not.
func isLargeInteger(n string, f float64) bool {
	_, err := strconv.ParseInt(n, 10, 64)
	return err == nil && strconv.FormatFloat(f, 'f', -1, 64) != n
}
