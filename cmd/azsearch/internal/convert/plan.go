// Package convert is for commands that make documents of records: it writes JSON that fits the definition of an index,
// or says which field of the record does not.
//
// The types are those of the definition, never guessed from values. Text that spells a value of the type of its field
// is that value: "5" in an Edm.Int32, 5 in an Edm.String, "2024-01-31" in an Edm.DateTimeOffset. Nothing is rounded,
// cut off or left out silently.
package convert

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// Options say how records become documents.
type Options struct {
	Map          map[string]string // column → field; "" leaves the column out
	Split        map[string]string // field → what separates its values
	Key          string            // column that the key is encoded from; "": the key field
	Action       models.ActionType // of records that do not say
	ActionColumn string            // column with the action of each record; "": @search.action
	DropUnknown  bool              // leave out columns without a field
}

// actionMember is the column that REST bodies have the action in.
const actionMember = "@search.action"

// Plan is the conversion for a definition and options. It does not change, so any number of converters share one.
type Plan struct {
	Options
	KeyField string

	top     object
	targets map[string]target
	objects int
}

// target is the use of a column.
type target struct {
	field  int // of the document, or none
	drop   bool
	key    bool // the key is encoded from it
	action bool
}

const none = -1

// object is the fields of a document, or of a complex field.
type object struct {
	id     int
	fields []field
	byName map[string]int
}

type field struct {
	name       string
	open       []byte // the name in JSON, with its colon
	typ        models.DataType
	kind       kind
	collection bool
	separator  string
	dimensions int
	isKey      bool
	object     *object // of a complex field
}

// kind is a group of types whose values are spelled alike.
type kind uint8

const (
	text kind = iota
	boolean
	integer
	double
	date
	point
	complexValue
)

// NewPlan returns the plan for an index, or an error that names all that is wrong with the options.
func NewPlan(index *models.SearchIndex, o Options) (*Plan, error) {
	key, ok := index.KeyField()
	if !ok {
		return nil, fmt.Errorf("index %q has no key field", index.Name)
	}
	if o.Action == "" {
		o.Action = models.ActionTypeUpload
	}
	p := &Plan{Options: o, KeyField: key.Name, targets: map[string]target{}}
	if err := p.object(&p.top, index.Fields); err != nil {
		return nil, err
	}
	for name, i := range p.top.byName {
		p.targets[name] = target{field: i}
	}
	p.targets[actionMember] = target{field: none, action: true}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(o.Split)) {
		i, ok := p.top.byName[name]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("-split %s: %w", name, p.unknown(name, index.Name)))
		case !p.top.fields[i].collection:
			errs = append(errs, fmt.Errorf("-split %s: the field is %s, not a collection", name, p.top.fields[i].typ))
		default:
			p.top.fields[i].separator = o.Split[name]
		}
	}
	mapped := map[string]string{}
	for _, column := range slices.Sorted(maps.Keys(o.Map)) {
		name := o.Map[column]
		if name == "" {
			p.targets[column] = target{field: none, drop: true}
			continue
		}
		i, ok := p.top.byName[name]
		if !ok {
			errs = append(errs, fmt.Errorf("-map %s=%s: %w", column, name, p.unknown(name, index.Name)))
			continue
		}
		if other := mapped[name]; other != "" {
			errs = append(errs, fmt.Errorf("-map: columns %s and %s both become field %s", other, column, name))
		}
		mapped[name] = column
		p.targets[column] = target{field: i}
	}
	if o.Key != "" {
		t, ok := p.targets[o.Key]
		if !ok || t.field >= 0 && p.top.fields[t.field].isKey {
			t.field = none
		}
		t.key, t.drop = true, false
		for column, other := range p.targets { // the key that is made replaces one that is there
			if other.field >= 0 && p.top.fields[other.field].isKey {
				p.targets[column] = target{field: none, drop: true}
			}
		}
		p.targets[o.Key] = t
	}
	if o.ActionColumn != "" {
		p.targets[o.ActionColumn] = target{field: none, action: true}
	}
	return p, errors.Join(errs...)
}

func (p *Plan) object(o *object, fields []models.SearchField) error {
	o.id, o.byName = p.objects, map[string]int{}
	p.objects++
	for i, f := range fields {
		to := field{name: f.Name, open: fmt.Appendf(nil, "%q:", f.Name), typ: f.Type, isKey: f.Key != nil && *f.Key}
		if f.Dimensions != nil {
			to.dimensions = *f.Dimensions
		}
		element, ok := f.Type.Element()
		if to.collection = ok; !ok {
			element = f.Type
		}
		switch element {
		case models.DataTypeString:
			to.kind = text
		case models.DataTypeBoolean:
			to.kind = boolean
		case models.DataTypeInt32, models.DataTypeInt64, models.DataTypeInt16, models.DataTypeSByte, models.DataTypeByte:
			to.kind = integer
		case models.DataTypeDouble, models.DataTypeSingle, models.DataTypeHalf:
			to.kind = double
		case models.DataTypeDateTimeOffset:
			to.kind = date
		case models.DataTypeGeographyPoint:
			to.kind = point
		case models.DataTypeComplex:
			to.kind, to.object = complexValue, &object{}
			if err := p.object(to.object, f.Fields); err != nil {
				return err
			}
		default:
			return fmt.Errorf("field %q: type %s is not known to this version", f.Name, f.Type)
		}
		o.fields = append(o.fields, to)
		o.byName[f.Name] = i
	}
	return nil
}

func (p *Plan) unknown(name, index string) error {
	for other := range p.top.byName {
		if strings.EqualFold(other, name) {
			return fmt.Errorf("index %s has no field %q, but %q", index, name, other)
		}
	}
	return fmt.Errorf("index %s has no field %q", index, name)
}

// target returns what a column is for. Names with an @ are of the service, such as @search.score.
func (p *Plan) target(name []byte) (target, bool) {
	if t, ok := p.targets[string(name)]; ok {
		return t, true
	}
	if p.DropUnknown || len(name) > 0 && name[0] == '@' {
		return target{field: none, drop: true}, true
	}
	return target{}, false
}

// Problem says why a record cannot become a document.
type Problem struct {
	Kind    string `json:"kind"`
	Column  string `json:"column,omitempty"`
	Field   string `json:"field,omitempty"`
	At      int    `json:"-"` // in the record, in bytes
	Message string `json:"message"`
}

// The kinds.
const (
	KindSyntax  = "syntax"  // not JSON, an open quote
	KindUTF8    = "utf8"    // not UTF-8
	KindColumns = "columns" // too few or too many cells
	KindUnknown = "unknown" // no such field
	KindValue   = "value"   // does not fit the type of the field
	KindTwice   = "twice"   // a field has two values
	KindKey     = "key"     // missing or illegal
	KindAction  = "action"
)

func (p *Problem) Error() string {
	switch {
	case p.Field != "":
		return fmt.Sprintf("field %s: %s", p.Field, p.Message)
	case p.Column != "":
		return fmt.Sprintf("column %s: %s", p.Column, p.Message)
	}
	return p.Message
}
