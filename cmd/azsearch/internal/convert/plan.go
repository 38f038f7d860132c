// Package convert turns records into documents: it writes JSON that fits the definition of an index, or reports
// which field of a record does not fit.
//
// Types come from the definition and are never guessed from values. Text that spells a value of the field's type
// becomes that value: "5" in an Edm.Int32, 5 in an Edm.String, "2024-01-31" in an Edm.DateTimeOffset. A value that
// does not fit is a Problem; it is never rounded, truncated or dropped silently.
package convert

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// Options are the rules for converting records to documents.
type Options struct {
	Map          map[string]string // column → field; "" leaves the column out
	Split        map[string]string // field → separator of its elements
	Key          string            // column to encode the key from; "": the key field has the key
	Action       models.ActionType // of records without an action; "" is upload
	ActionColumn string            // column with the action of each record; "": @search.action
	DropUnknown  bool              // leave out columns without a field
}

// actionMember is the column with the action, named as in REST bodies.
const actionMember = "@search.action"

// Plan is the conversion for a definition and options. It is immutable, so converters can share it.
type Plan struct {
	Options
	KeyField string

	top     object
	targets map[string]target
	objects int
}

// KeyColumn returns the column that becomes the key.
func (p *Plan) KeyColumn() string {
	if p.Key != "" {
		return p.Key
	}
	for column, field := range p.Map {
		if field == p.KeyField {
			return column
		}
	}
	return p.KeyField
}

// target is the use of a column.
type target struct {
	field  int // index in the document's fields, or none
	drop   bool
	key    bool // the key is encoded from the column
	action bool
}

const none = -1

// object has the fields of a document, or of a complex field.
type object struct {
	id     int
	fields []field
	byName map[string]int
}

type field struct {
	name       string
	open       []byte // the name as JSON, with a colon
	typ        models.DataType
	kind       kind
	collection bool
	separator  string
	dimensions int
	isKey      bool
	object     *object // fields of a complex field
}

// kind is a group of types whose values are written alike.
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

// NewPlan returns the plan for an index, or an error with all invalid options.
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
			errs = append(errs, fmt.Errorf("-map: columns %s and %s are both for field %s", other, column, name))
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
		for column, other := range p.targets { // a column for the key field is dropped: the encoded key replaces it
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
			return fmt.Errorf("field %q: this version does not support type %s", f.Name, f.Type)
		}
		o.fields = append(o.fields, to)
		o.byName[f.Name] = i
	}
	return nil
}

func (p *Plan) unknown(name, index string) error {
	for other := range p.top.byName {
		if strings.EqualFold(other, name) {
			return fmt.Errorf("index %s has no field %q; it has %q", index, name, other)
		}
	}
	return fmt.Errorf("index %s has no field %q", index, name)
}

// target returns the use of a column, false if it has no field. Names that begin with @, such as @search.score,
// belong to the service and are dropped.
func (p *Plan) target(name []byte) (target, bool) {
	if t, ok := p.targets[string(name)]; ok {
		return t, true
	}
	if p.DropUnknown || len(name) > 0 && name[0] == '@' {
		return target{field: none, drop: true}, true
	}
	return target{}, false
}

// Problem is the reason why a record cannot become a document.
type Problem struct {
	Kind    string `json:"kind"`
	Column  string `json:"column,omitempty"`
	Field   string `json:"field,omitempty"`
	At      int    `json:"-"` // offset in the record in bytes
	Message string `json:"message"`
}

// The kinds of problems.
const (
	KindSyntax  = "syntax"  // not JSON, or a quote that is not closed
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
