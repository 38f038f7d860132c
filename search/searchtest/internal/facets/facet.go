package facets

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Error is returned for an invalid or unsupported facet expression.
type Error struct {
	// Message is the service's text before "\r\nParameter name: facet"; the caller adds that.
	Message string

	// Unsupported is true for a preview feature that the emulator does not have.
	Unsupported bool
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func refuse(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

// defaultCount is the default maximum number of buckets.
const defaultCount = 10

// Options are the fields and settings for compiling expressions.
type Options struct {
	// Fields are the fields of the index by name.
	Fields map[string]*stored.Field

	// Normalize returns the normalizer of a string field, nil if it has none. Values are counted in normalized form.
	// A nil Normalize means that no field has one.
	Normalize func(f *stored.Field) func(text string) string

	// Metrics is true if the api-version of the request has metrics.
	Metrics bool
}

// Facet is a compiled facet expression. It is safe for concurrent use.
type Facet struct {
	// Name is the path of the field as written: the name of the member in @search.facets.
	Name string

	path      []*stored.Field
	field     *stored.Field // the last field of path
	normalize func(string) string

	kind   facetKind
	count  int // maximum number of buckets; 0 for all
	order  bucketOrder
	bounds []Value // ascending

	interval int64    // for numbers
	unit     timeUnit // for times
	offset   int64    // of unit boundaries from UTC, in milliseconds

	metric  Metric
	missing *float64 // value for documents without one; nil for none
}

type facetKind uint8

const (
	byValue facetKind = iota
	byRange
	byInterval
	byMetric
)

type bucketOrder uint8

const (
	countDescending bucketOrder = iota
	countAscending
	valueAscending
	valueDescending
)

var bucketOrders = map[string]bucketOrder{
	"count": countDescending, "-count": countAscending, "value": valueAscending, "-value": valueDescending,
}

// Compile parses a facet expression, a field and its parameters:
//
//	field[,count:n][,sort:count|-count|value|-value]
//	field,values:a|b|c
//	field,interval:n
//	field,interval:minute|hour|day|week|month|quarter|year[,timeoffset:±hh:mm]
//	field,metric:sum|avg|min|max[,default:x]
//	field,metric:cardinality[,precisionThreshold:n]
//
// Its error is an [*Error].
func Compile(expression string, o *Options) (*Facet, error) {
	if i := strings.IndexAny(expression, ">;("); i >= 0 {
		return nil, &Error{Message: fmt.Sprintf("Hierarchical facets are not supported: found '%c' in facet specification '%s'.", expression[i], expression), Unsupported: true}
	}
	name, rest, _ := strings.Cut(expression, ",")
	f := &Facet{Name: strings.TrimSpace(name), count: defaultCount}
	if err := f.resolve(o); err != nil {
		return nil, err
	}
	given := make(map[string]bool)
	for rest != "" {
		var parameter string
		parameter, rest, _ = strings.Cut(rest, ",")
		key, value, found := strings.Cut(parameter, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found || value == "" {
			return nil, refuse("Invalid parameter '%s' in facet specification '%s'. Parameters must be of the form name:value.", strings.TrimSpace(parameter), expression)
		}
		if given[key] {
			return nil, refuse("The parameter '%s' is given more than once in facet specification '%s'.", key, expression)
		}
		given[key] = true
		if err := f.set(key, value, o.Metrics); err != nil {
			return nil, err
		}
	}
	return f, f.check(given)
}

// resolve finds the field, and checks its type.
func (f *Facet) resolve(o *Options) error {
	fields := o.Fields
	for name := range strings.SplitSeq(f.Name, "/") {
		field, ok := fields[name]
		if !ok {
			return refuse("Unknown field '%s' in facet specification.", f.Name)
		}
		f.path, f.field, fields = append(f.path, field), field, field.ByName
	}
	if !f.field.Facetable {
		return refuse("Only facetable fields can be used in facet specifications. Field '%s' is not marked as 'facetable'.", f.Name)
	}
	switch f.field.Type {
	case stored.String:
		if o.Normalize != nil {
			f.normalize = o.Normalize(f.field)
		}
	case stored.Boolean, stored.Int32, stored.Int64, stored.Double, stored.DateTimeOffset:
	default:
		return refuse("Fields of type '%s' cannot be used in facet specifications. Field '%s' is of that type.", f.field.TypeName(), f.Name)
	}
	return nil
}

// set sets one parameter.
func (f *Facet) set(key, value string, metrics bool) (err error) {
	switch key {
	case "count":
		f.count, err = strconv.Atoi(value)
		if err != nil || f.count < 0 || f.count > math.MaxInt32 {
			return f.invalid(key, value, "a number that is not negative")
		}
	case "sort":
		order, ok := bucketOrders[value]
		if !ok {
			return f.invalid(key, value, "one of 'count', '-count', 'value' and '-value'")
		}
		f.order = order
	case "values":
		f.kind = byRange
		return f.setBounds(value)
	case "interval":
		f.kind = byInterval
		return f.setInterval(value)
	case "timeoffset":
		return f.setOffset(value)
	case "metric", "default", "precisionThreshold":
		if metrics {
			return f.setMetric(key, value)
		}
		fallthrough
	case "includeTermFilter", "excludeTermFilter":
		return &Error{Message: fmt.Sprintf("The facet parameter '%s' of preview versions is not supported.", key), Unsupported: true}
	default:
		return refuse("Unknown parameter '%s' in facet specification for field '%s'.", key, f.Name)
	}
	return nil
}

// check returns an error for an invalid combination of parameters.
func (f *Facet) check(given map[string]bool) error {
	for _, pair := range [][2]string{{"interval", "values"}, {"count", "values"}, {"count", "interval"}, {"sort", "values"}, {"sort", "interval"}} {
		if given[pair[0]] && given[pair[1]] {
			return refuse("The parameters '%s' and '%s' cannot be combined in a facet specification. Field: '%s'.", pair[0], pair[1], f.Name)
		}
	}
	if given["timeoffset"] && (!given["interval"] || f.field.Type != stored.DateTimeOffset) {
		return refuse("The parameter 'timeoffset' can only be combined with 'interval', and only for fields of type 'Edm.DateTimeOffset'. Field: '%s'.", f.Name)
	}
	return f.checkMetric(given)
}

func (f *Facet) invalid(key, value, want string) error {
	return refuse("Invalid value '%s' of the parameter '%s' in facet specification for field '%s' of type '%s'. It must be %s.", value, key, f.Name, f.field.TypeName(), want)
}

// ranges reports whether the field supports the parameters values and interval.
func (f *Facet) ranges() bool {
	return f.field.Type != stored.String && f.field.Type != stored.Boolean
}

func (f *Facet) setBounds(list string) error {
	if !f.ranges() {
		return refuse("The facet parameter 'values' is only supported for fields of numbers and times. Field '%s' is of type '%s'.", f.Name, f.field.TypeName())
	}
	for text := range strings.SplitSeq(list, "|") {
		v, ok := parseBound(f.field.Type, strings.TrimSpace(text))
		if !ok {
			return f.invalid("values", list, "values of that type with '|' between them")
		}
		if n := len(f.bounds); n > 0 && f.bounds[n-1].compare(v) >= 0 {
			return f.invalid("values", list, "in ascending order")
		}
		f.bounds = append(f.bounds, v)
	}
	return nil
}

func parseBound(t stored.Type, text string) (v Value, ok bool) {
	v.Type = t
	var err error
	switch t {
	case stored.Double:
		v.Double, err = strconv.ParseFloat(text, 64)
		return v, err == nil && !math.IsNaN(v.Double) && !math.IsInf(v.Double, 0)
	case stored.DateTimeOffset:
		v.Integer, ok = stored.ParseDateTime([]byte(text))
		return v, ok
	}
	v.Integer, err = strconv.ParseInt(text, 10, 64)
	return v, err == nil
}

func (f *Facet) setInterval(text string) error {
	switch {
	case !f.ranges():
		return refuse("The facet parameter 'interval' is only supported for fields of numbers and times. Field '%s' is of type '%s'.", f.Name, f.field.TypeName())
	case f.field.Type == stored.DateTimeOffset:
		unit, ok := timeUnits[text]
		if !ok {
			return f.invalid("interval", text, "one of 'minute', 'hour', 'day', 'week', 'month', 'quarter' and 'year'")
		}
		f.unit = unit
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n <= 0 {
			return f.invalid("interval", text, "a whole number greater than zero")
		}
		f.interval = n
	}
	return nil
}

// setOffset parses ±hh:mm, ±hhmm or ±hh.
func (f *Facet) setOffset(text string) error {
	digits := strings.Replace(text[1:], ":", "", 1)
	n, err := strconv.ParseUint(digits, 10, 16)
	hours, minutes := n, uint64(0)
	if len(digits) == 4 {
		hours, minutes = n/100, n%100
	}
	plain := len(text) == 3 || len(text) == 5 && !strings.Contains(text, ":") || len(text) == 6 && text[3] == ':'
	if err != nil || !plain || text[0] != '+' && text[0] != '-' || hours > 14 || minutes > 59 {
		return f.invalid("timeoffset", text, "of the form '+hh:mm', '+hhmm' or '+hh', or the same with '-'")
	}
	f.offset = int64(hours*60+minutes) * 60_000
	if text[0] == '-' {
		f.offset = -f.offset
	}
	return nil
}
