package infer

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/csvtext"
	"github.com/go-azsearch/azsearch/models/keys"
)

// mostKeys is the maximum number of values kept per field to find duplicates. Later values are compared only with
// these.
const mostKeys = 20_000_000

func cell(c csvtext.Cell) any {
	if len(c.Text) == 0 && !c.Quoted {
		return nil
	}
	return spelled(c.Text)
}

// spelled is the text of a cell, which can stand for any type.
type spelled string

// shape accumulates the members of objects.
type shape struct {
	names  []string
	values map[string]*value
	seen   int64
}

// value counts the values of a field by the types that can hold them.
type value struct {
	as                                           string // name of the field
	count                                        int64  // values other than null
	text, number, whole32, whole64, flag, moment int64  // values of that type
	special                                      int64  // NaN and infinities, which Edm.Double holds
	points, objects, lists                       int64
	inner                                        shape  // of objects, in lists or not
	element                                      *value // of lists
	length                                       int    // of all lists; -1 if they differ, -2 before the first
	legal                                        bool   // every value is a valid, distinct key so far
	distinct                                     map[uint64]struct{}
	evidence                                     [classes]evidence
}

func (s *shape) at(name string) *value {
	if s.values == nil {
		s.values = map[string]*value{}
	}
	v := s.values[name]
	if v == nil {
		v = &value{legal: true, length: -2, distinct: map[uint64]struct{}{}}
		s.values[name] = v
		s.names = append(s.names, name)
	}
	return v
}

func (s *shape) order(names []string) {
	for _, name := range names {
		s.at(name)
	}
}

// orderOf adds the names in the order of the first record.
func (s *shape) orderOf(text []byte) {
	if s.seen > 0 {
		return
	}
	d := json.NewDecoder(bytes.NewReader(text))
	_, _ = d.Token()
	for d.More() {
		token, err := d.Token()
		name, ok := token.(string)
		var skipped json.RawMessage
		if err != nil || !ok || d.Decode(&skipped) != nil {
			return
		}
		if !strings.HasPrefix(name, "@") {
			s.at(name)
		}
	}
}

func (s *shape) learn(members map[string]any, i *inference) {
	s.seen++
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !strings.HasPrefix(name, "@") {
			s.at(name).learn(members[name], i)
		}
	}
}

var date = regexp.MustCompile(`^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$`)

func (v *value) learn(x any, i *inference) {
	if x == nil {
		return
	}
	v.count++
	switch x := x.(type) {
	case bool:
		v.flag++
		v.legal = false
		v.saw(flag, strconv.FormatBool(x), i)
	case json.Number:
		v.numeric(x.String(), i)
		v.key(x.String(), i)
	case string:
		if v.infinite(x, i) {
			break
		}
		v.text++
		if len(x) < 40 && date.MatchString(x) {
			v.moment++
			v.saw(moment, x, i)
		} else {
			v.saw(text, x, i)
		}
		v.key(x, i)
	case spelled:
		v.spelled(string(x), i)
		v.key(string(x), i)
	case []any:
		v.lists++
		v.legal = false
		if v.element == nil {
			v.element, v.length = &value{length: -2}, len(x)
		}
		if v.length != len(x) {
			v.length = -1
		}
		for _, e := range x {
			v.element.learn(e, i)
		}
	case map[string]any:
		v.legal = false
		if x["type"] == "Point" && x["coordinates"] != nil {
			v.points++
			v.saw(point, "a point", i)
			return
		}
		v.objects++
		v.inner.learn(x, i)
	}
}

// infinite counts a value that files have among numbers, and reports whether s is one.
func (v *value) infinite(s string, i *inference) bool {
	if s != "NaN" && s != "INF" && s != "-INF" {
		return false
	}
	v.special++
	v.legal = false
	v.saw(special, s, i)
	return true
}

// numeric counts a number.
func (v *value) numeric(s string, i *inference) {
	v.number++
	switch n, err := strconv.ParseInt(s, 10, 64); {
	case errors.Is(err, strconv.ErrRange):
		v.saw(huge, s, i)
	case err != nil:
		v.saw(number, s, i)
	case n != int64(int32(n)):
		v.whole64++
		v.saw(whole64, s, i)
	default:
		v.whole64++
		v.whole32++
		v.saw(whole32, s, i)
	}
}

// spelled counts text that may be of any type. Digits with leading zeros are a code, not a number.
func (v *value) spelled(s string, i *inference) {
	if v.infinite(s, i) {
		return
	}
	digits := strings.TrimPrefix(s, "-")
	switch _, err := strconv.ParseFloat(s, 64); {
	case err == nil && strings.Trim(s, "0123456789.-+eE") == "" && (len(digits) < 2 || digits[0] != '0' || digits[1] == '.'):
		v.numeric(s, i)
	case strings.EqualFold(s, "true"), strings.EqualFold(s, "false"):
		v.flag++
		v.saw(flag, s, i)
	case date.MatchString(s):
		v.text++
		v.moment++
		v.saw(moment, s, i)
	default:
		v.text++
		v.saw(text, s, i)
	}
}

func (v *value) key(s string, i *inference) {
	if v.distinct == nil || !v.legal {
		return
	}
	h := maphash.String(i.seed, s)
	_, twice := v.distinct[h]
	if twice || keys.Validate(s) != nil {
		v.legal, v.distinct = false, nil
	} else if len(v.distinct) < mostKeys {
		v.distinct[h] = struct{}{}
	}
}
