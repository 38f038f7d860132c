// Package infer implements azsearch infer: it reads files completely, and derives an index definition that fits
// their records.
package infer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/shell"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/csvtext"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

// mostKeys is the maximum number of values kept per field to find duplicates. Later values are compared only with
// these.
const mostKeys = 20_000_000

// Files returns the definition of an index with the given name for the records of files. notes are lines for the
// user, for example on fields that were left out. It ends with ctx.
func Files(ctx context.Context, names []string, o source.Options, index string) (_ models.SearchIndex, notes []string, err error) {
	i := &inference{seed: maphash.MakeSeed()}
	for _, name := range names {
		if err := i.file(ctx, name, o); err != nil {
			return models.SearchIndex{}, nil, err
		}
	}
	if i.records == 0 {
		return models.SearchIndex{}, nil, errors.New("the files have no records to infer fields from")
	}
	if i.broken > 0 {
		i.notes = append(i.notes, fmt.Sprintf("%s cannot be read, the first at %s; a load rejects what cannot be read", amount.Of(i.broken, "record"), i.firstBroken))
	}
	definition := models.SearchIndex{Name: index, Fields: i.top.fields(&i.notes, "")}
	name := i.key()
	key := -1
	if v := i.top.values[name]; v != nil {
		key = slices.IndexFunc(definition.Fields, func(f models.SearchField) bool { return f.Name == v.as })
	}
	if key < 0 {
		i.notes = append(i.notes, "no field has a valid, distinct key in each record: \"id\" was added; load with -key COLUMN to derive keys from a column")
		definition.Fields = slices.Insert(definition.Fields, 0, models.SearchField{Name: "id", Type: models.DataTypeString})
		key = 0
	}
	f := &definition.Fields[key]
	f.Type, f.Key, f.Filterable, f.Sortable, f.Searchable, f.Facetable = models.DataTypeString, new(true), new(true), new(true), nil, nil
	for n := range definition.Fields {
		if f := &definition.Fields[n]; f.Type.IsVector() && definition.VectorSearch == nil {
			definition.VectorSearch = &models.VectorSearch{
				Profiles:   []models.VectorSearchProfile{{Name: "vectors", Algorithm: "hnsw"}},
				Algorithms: []models.VectorSearchAlgorithm{{Name: "hnsw", Kind: "hnsw"}},
			}
		}
	}
	return definition, i.notes, nil
}

// inference accumulates the shape of the records read so far.
type inference struct {
	top     shape
	records int64
	broken  int64
	notes   []string
	seed    maphash.Seed

	name        string // the file that is read
	line        int64  // of the record, from 1; for Parquet the row
	firstBroken string
}

func (i *inference) file(ctx context.Context, name string, o source.Options) error {
	f, err := source.Open(ctx, name, o)
	if err != nil {
		return err
	}
	defer f.Close()
	i.name = f.Name
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := f.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		from, at := 0, b.Start
		for _, end := range b.Ends {
			text, here := b.Data[from:end], at
			from = end
			if at = at.Behind(text); f.Kind == source.Parquet {
				at.Line = here.Line + 1
			}
			if f.Kind == source.JSON {
				value, skipped := jsontext.Trim(text)
				text, here = value, here.Behind(text[:skipped])
			}
			i.line = here.Line + 1
			if len(bytes.TrimSpace(text)) > 0 {
				i.record(f, text)
			}
		}
		b.Free()
	}
}

// record adds a record to the shape. It counts a broken one, which a load would reject.
func (i *inference) record(f *source.File, text []byte) {
	members := map[string]any{}
	if f.Kind == source.CSV {
		cells, _, err := f.Format.Cells(nil, nil, text)
		if err != nil || len(cells) != len(f.Columns) || csvtext.Repeats(cells, f.Columns) {
			i.unreadable()
			return
		}
		i.top.order(f.Columns)
		for n, c := range cells {
			members[f.Columns[n]] = cell(c)
		}
	} else {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if d.Decode(&members) != nil {
			i.unreadable()
			return
		}
		i.top.orderOf(text)
	}
	i.records++
	i.top.learn(members, i)
}

func (i *inference) unreadable() {
	if i.broken++; i.broken == 1 {
		i.firstBroken = i.place()
	}
}

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

// fields returns the fields of a shape.
func (s *shape) fields(notes *[]string, path string) (fields []models.SearchField) {
	taken := map[string]bool{}
	for _, name := range s.names {
		if legalName.MatchString(name) {
			s.values[name].as, taken[name] = name, true
		}
	}
	for _, name := range s.names {
		if v := s.values[name]; v.as == "" {
			v.as = legal(name, taken)
			taken[v.as] = true
		}
		f := s.values[name].field(name, notes, path)
		if f.Name != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

var legalName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,127}$`)

// legal makes a name of a field that is not taken from the name of a column.
func legal(column string, taken map[string]bool) string {
	base := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9_]+`).ReplaceAllString(column, "_"), "_")
	if !legalName.MatchString(base[:min(len(base), 1)]) {
		base = "f" + base
	}
	base = base[:min(len(base), 120)]
	name := base
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	return name
}

func (v *value) field(name string, notes *[]string, path string) models.SearchField {
	note := func(format string, args ...any) {
		*notes = append(*notes, fmt.Sprintf("%s%s: ", path, name)+fmt.Sprintf(format, args...))
	}
	f := models.SearchField{Name: v.as}
	switch {
	case name == f.Name:
	case path == "":
		note("not a valid field name; load with -map %s", shell.Word(name+"="+f.Name))
	default:
		note("not a valid field name; rename it to %s with -jq", f.Name)
	}
	f.Type = v.scalar()
	switch {
	case v.count == 0:
		note("no record has a value; the type is Edm.String")
	case v.lists > 0 && v.lists < v.count, v.objects > 0 && v.objects < v.count:
		note("lists, objects and single values are mixed; the field was left out")
		return models.SearchField{}
	case v.objects > 0 && len(v.inner.names) > 0:
		f.Type, f.Fields = models.DataTypeComplex, v.inner.fields(notes, path+name+"/")
	case v.lists > 0 && v.element.objects > 0 && len(v.element.inner.names) > 0:
		f.Type, f.Fields = models.Collection(models.DataTypeComplex), v.element.inner.fields(notes, path+name+"/")
	case v.objects > 0, v.lists > 0 && v.element.objects > 0:
		note("objects without members; the field was left out")
		return models.SearchField{}
	case v.lists > 0 && v.element.lists > 0:
		note("lists of lists cannot be indexed; the field was left out")
		return models.SearchField{}
	case v.lists > 0 && v.length >= 32 && v.element.number == v.element.count && path == "":
		f.Type, f.Dimensions, f.VectorSearchProfile, f.Searchable = models.Collection(models.DataTypeSingle), new(v.length), "vectors", new(true)
	case v.lists > 0:
		f.Type = models.Collection(v.element.scalar())
		if why := v.element.widened(); why != "" {
			note("a collection of %s", why)
		}
	default:
		if why := v.widened(); why != "" {
			note("%s", why)
		}
	}
	return f
}

// scalar returns the narrowest type that holds every value.
func (v *value) scalar() models.DataType {
	switch v.count {
	case 0:
		return models.DataTypeString
	case v.whole32:
		return models.DataTypeInt32
	case v.whole64:
		return models.DataTypeInt64
	case v.number, v.number + v.special:
		return models.DataTypeDouble
	case v.flag:
		return models.DataTypeBoolean
	case v.moment:
		return models.DataTypeDateTimeOffset
	case v.points:
		return models.DataTypeGeographyPoint
	}
	return models.DataTypeString
}

// key returns the name of the key field, "" if there is none. It prefers a field named id or key, then one whose
// name ends so, then a string field. A field named id or key wins over another field whose values are distinct only
// by chance, even if its own values are not valid keys, because load -key can encode them.
func (i *inference) key() (best string) {
	rank, named := len(keyReasons), ""
	for _, name := range i.top.names {
		v := i.top.values[name]
		r := 3
		switch lower := strings.ToLower(name); {
		case lower == "id" || lower == "key":
			r = 0
		case strings.HasSuffix(lower, "id"), strings.HasSuffix(lower, "key"):
			r = 1
		case v.text == v.count:
			r = 2
		}
		if v.legal && v.count == i.records && r < rank && v.moment == 0 && v.number == v.whole64 {
			best, rank = name, r
		} else if r == 0 && v.count == i.records {
			named = name
		}
	}
	if rank > 1 && named != "" {
		i.notes = append(i.notes, fmt.Sprintf("some values of %q are not valid keys, or not distinct: load with -key %s, which derives valid keys from them", named, shell.Word(named)))
		return named
	}
	if best != "" {
		i.notes = append(i.notes, fmt.Sprintf("the key is %q: %s (its values are distinct, valid keys in %s)", best, keyReasons[rank], amount.Of(i.records, "record")))
	}
	return best
}

// keyReasons says by rank why a field was chosen as the key.
var keyReasons = []string{"its name says so", "its name ends like that of a key", "no name says so, and it is text", "no name says so, and no text field is possible"}
