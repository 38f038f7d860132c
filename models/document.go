package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// ErrNoField is in the chain of a DocumentError if the field is absent or null.
var ErrNoField = errors.New("field is absent or null")

// DocumentError means that a field of a Document does not have the requested type.
type DocumentError struct {
	// Field is the name of the field.
	Field string
	// Want is the requested type, in the service's notation: "Edm.Int64".
	Want DataType
	// Err is ErrNoField or describes the actual value.
	Err error
}

func (e *DocumentError) Error() string {
	return fmt.Sprintf("field %q as %s: %v", e.Field, e.Want, e.Err)
}

// Unwrap returns Err.
func (e *DocumentError) Unwrap() error { return e.Err }

// Document is a document whose fields are unknown at compile time, or for which a type is not worthwhile. It is a
// plain map: a missing member is not sent, and a nil one is sent as null. Values can be anything that encoding/json
// encodes, and times and GeographyPoints.
//
// json.Unmarshal decodes numbers as json.Number, so that 64-bit integers keep all digits; Int64 and its siblings
// convert them to Go types. These methods accept the values of the service and the Go values that a program stored in
// the map.
type Document map[string]any

// UnmarshalJSON implements json.Unmarshaler. Numbers become json.Number, objects map[string]any, arrays []any. The
// former content is discarded. null makes a nil Document.
func (d *Document) UnmarshalJSON(b []byte) error {
	var m map[string]any
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	*d = m
	return nil
}

// Has reports whether the field is present and not null.
func (d Document) Has(field string) bool { return d[field] != nil }

// String returns the value of an Edm.String field.
func (d Document) String(field string) (string, error) {
	if s, ok := d[field].(string); ok {
		return s, nil
	}
	return "", d.mismatch(field, DataTypeString)
}

// Bool returns the value of an Edm.Boolean field.
func (d Document) Bool(field string) (bool, error) {
	if b, ok := d[field].(bool); ok {
		return b, nil
	}
	return false, d.mismatch(field, DataTypeBoolean)
}

// Int64 returns the value of an Edm.Int64 or Edm.Int32 field, exactly. A number that is not a 64-bit integer is an
// error, and so is a float64 of 2⁵³ or more, which may stand for several integers. The notation does not matter: 5,
// 5.0 and 0.5e1 are equal.
func (d Document) Int64(field string) (int64, error) {
	n, err := toInt64(d[field])
	if err != nil {
		return 0, d.failed(field, DataTypeInt64, err)
	}
	return n, nil
}

// Float64 returns the value of an Edm.Double field. The service writes NaN and the infinities as the strings "NaN",
// "INF" and "-INF".
func (d Document) Float64(field string) (float64, error) {
	f, err := toFloat64(d[field])
	if err != nil {
		return 0, d.failed(field, DataTypeDouble, err)
	}
	return f, nil
}

// Time returns the value of an Edm.DateTimeOffset field.
func (d Document) Time(field string) (time.Time, error) {
	switch v := d[field].(type) {
	case time.Time:
		return v, nil
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return time.Time{}, d.failed(field, DataTypeDateTimeOffset, err)
		}
		return t, nil
	}
	return time.Time{}, d.mismatch(field, DataTypeDateTimeOffset)
}

// GeographyPoint returns the value of an Edm.GeographyPoint field.
func (d Document) GeographyPoint(field string) (GeographyPoint, error) {
	switch v := d[field].(type) {
	case GeographyPoint:
		return v, nil
	case *GeographyPoint:
		if v != nil {
			return *v, nil
		}
	case map[string]any:
		b, err := json.Marshal(v)
		if err != nil {
			return GeographyPoint{}, d.failed(field, DataTypeGeographyPoint, err)
		}
		var p GeographyPoint
		if err := json.Unmarshal(b, &p); err != nil {
			return GeographyPoint{}, d.failed(field, DataTypeGeographyPoint, err)
		}
		return p, nil
	}
	return GeographyPoint{}, d.mismatch(field, DataTypeGeographyPoint)
}

// Object returns the value of an Edm.ComplexType field. It shares the map with the document.
func (d Document) Object(field string) (Document, error) {
	if o, ok := toObject(d[field]); ok {
		return o, nil
	}
	return nil, d.mismatch(field, DataTypeComplex)
}

// Strings returns the value of a Collection(Edm.String) field.
func (d Document) Strings(field string) ([]string, error) {
	if s, ok := d[field].([]string); ok {
		return s, nil
	}
	return collection(d, field, DataTypeString, func(v any) (string, error) {
		if s, ok := v.(string); ok {
			return s, nil
		}
		return "", held(v)
	})
}

// Bools returns the value of a Collection(Edm.Boolean) field.
func (d Document) Bools(field string) ([]bool, error) {
	if b, ok := d[field].([]bool); ok {
		return b, nil
	}
	return collection(d, field, DataTypeBoolean, func(v any) (bool, error) {
		if b, ok := v.(bool); ok {
			return b, nil
		}
		return false, held(v)
	})
}

// Int64s returns the value of a Collection(Edm.Int64) or Collection(Edm.Int32) field.
func (d Document) Int64s(field string) ([]int64, error) {
	if n, ok := d[field].([]int64); ok {
		return n, nil
	}
	return collection(d, field, DataTypeInt64, toInt64)
}

// Float64s returns the value of a Collection(Edm.Double) field.
func (d Document) Float64s(field string) ([]float64, error) {
	if f, ok := d[field].([]float64); ok {
		return f, nil
	}
	return collection(d, field, DataTypeDouble, toFloat64)
}

// Vector returns the value of a Collection(Edm.Single) field.
func (d Document) Vector(field string) ([]float32, error) {
	if f, ok := d[field].([]float32); ok {
		return f, nil
	}
	return collection(d, field, DataTypeSingle, func(v any) (float32, error) {
		f, err := toFloat64(v)
		if err == nil && math.Abs(f) > math.MaxFloat32 {
			return 0, fmt.Errorf("%v is out of range", f)
		}
		return float32(f), err
	})
}

// Times returns the value of a Collection(Edm.DateTimeOffset) field.
func (d Document) Times(field string) ([]time.Time, error) {
	if t, ok := d[field].([]time.Time); ok {
		return t, nil
	}
	return collection(d, field, DataTypeDateTimeOffset, func(v any) (time.Time, error) {
		t, err := Document{field: v}.Time(field)
		return t, cause(err)
	})
}

// GeographyPoints returns the value of a Collection(Edm.GeographyPoint) field.
func (d Document) GeographyPoints(field string) ([]GeographyPoint, error) {
	if p, ok := d[field].([]GeographyPoint); ok {
		return p, nil
	}
	return collection(d, field, DataTypeGeographyPoint, func(v any) (GeographyPoint, error) {
		p, err := Document{field: v}.GeographyPoint(field)
		return p, cause(err)
	})
}

// Objects returns the value of a Collection(Edm.ComplexType) field.
func (d Document) Objects(field string) ([]Document, error) {
	switch v := d[field].(type) {
	case []Document:
		return v, nil
	case []map[string]any:
		out := make([]Document, len(v))
		for i, m := range v {
			out[i] = m
		}
		return out, nil
	}
	return collection(d, field, DataTypeComplex, func(v any) (Document, error) {
		if o, ok := toObject(v); ok {
			return o, nil
		}
		return nil, held(v)
	})
}

// collection converts a list element by element.
func collection[E any](d Document, field string, element DataType, convert func(any) (E, error)) ([]E, error) {
	list, ok := d[field].([]any)
	if !ok {
		return nil, d.mismatch(field, Collection(element))
	}
	out := make([]E, len(list))
	for i, v := range list {
		var err error
		if out[i], err = convert(v); err != nil {
			return nil, d.failed(field, Collection(element), fmt.Errorf("element %d: %w", i, err))
		}
	}
	return out, nil
}

func (d Document) mismatch(field string, want DataType) error {
	return d.failed(field, want, held(d[field]))
}

func (d Document) failed(field string, want DataType, err error) error {
	return &DocumentError{Field: field, Want: want, Err: err}
}

// cause returns the Err of a DocumentError about an element.
func cause(err error) error {
	if de := (*DocumentError)(nil); errors.As(err, &de) {
		return de.Err
	}
	return err
}

// held describes the kind of value v.
func held(v any) error {
	switch v.(type) {
	case nil, *GeographyPoint: // only a nil pointer reaches this case
		return ErrNoField
	case string:
		return errors.New("it holds a string")
	case bool:
		return errors.New("it holds a boolean")
	case json.Number:
		return errors.New("it holds a number")
	case []any:
		return errors.New("it holds a list")
	case map[string]any, Document:
		return errors.New("it holds an object")
	}
	return fmt.Errorf("it holds a %T", v)
}

func toObject(v any) (Document, bool) {
	switch o := v.(type) {
	case Document:
		return o, o != nil
	case map[string]any:
		return o, o != nil
	}
	return nil, false
}

func toInt64(v any) (int64, error) {
	switch n := v.(type) {
	case json.Number:
		return integer(string(n))
	case int:
		return int64(n), nil
	case int8:
		return int64(n), nil
	case int16:
		return int64(n), nil
	case int32:
		return int64(n), nil
	case int64:
		return n, nil
	case uint:
		return toInt64(uint64(n))
	case uint8:
		return int64(n), nil
	case uint16:
		return int64(n), nil
	case uint32:
		return int64(n), nil
	case uint64:
		if n > math.MaxInt64 {
			return 0, fmt.Errorf("%d is out of range", n)
		}
		return int64(n), nil
	case float64:
		const exact = 1 << 53 // from here on a float64 may stand for several integers
		if n != math.Trunc(n) || !(math.Abs(n) < exact) {
			return 0, fmt.Errorf("%v is not exactly an integer", n)
		}
		return int64(n), nil
	}
	return 0, held(v)
}

func toFloat64(v any) (float64, error) {
	switch n := v.(type) {
	case json.Number:
		return n.Float64()
	case float64:
		return n, nil
	case float32:
		// Parse the digits with which the float32 is written.
		return strconv.ParseFloat(strconv.FormatFloat(float64(n), 'g', -1, 32), 64)
	case string:
		if f, is := special[n]; is {
			return f, nil
		}
		return 0, held(v)
	}
	i, err := toInt64(v)
	return float64(i), err
}
