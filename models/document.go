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

// ErrNoField is in the chain of a DocumentError about a field that is absent or
// null.
var ErrNoField = errors.New("the field is absent or null")

// DocumentError says that a field of a Document could not be read as the type
// that was asked for.
type DocumentError struct {
	// Field is the name of the field.
	Field string
	// Want is the type that was asked for, in the service's words: "Edm.Int64".
	Want DataType
	// Err is ErrNoField, or says what the field holds.
	Err error
}

func (e *DocumentError) Error() string {
	return fmt.Sprintf("field %q as %s: %v", e.Field, e.Want, e.Err)
}

// Unwrap returns Err.
func (e *DocumentError) Unwrap() error { return e.Err }

// Document is a document whose fields are not known when the program is
// written, or which is not worth a type. It is a plain map: a missing member is
// not sent, a nil one is sent as null, and what encoding/json can write can be a
// value, times and GeographyPoints included.
//
// json.Unmarshal reads numbers as json.Number, so that 64-bit integers keep all
// their digits; Int64 and its siblings return them as Go types. They read what
// the service writes and also what a program put into the map.
type Document map[string]any

// UnmarshalJSON implements json.Unmarshaler. Numbers become json.Number, objects
// map[string]any, arrays []any. The former content is gone. null makes a nil
// Document.
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

// Has reports whether the document has the field and it is not null.
func (d Document) Has(field string) bool { return d[field] != nil }

// String returns a field that holds an Edm.String.
func (d Document) String(field string) (string, error) {
	if s, ok := d[field].(string); ok {
		return s, nil
	}
	return "", d.mismatch(field, DataTypeString)
}

// Bool returns a field that holds an Edm.Boolean.
func (d Document) Bool(field string) (bool, error) {
	if b, ok := d[field].(bool); ok {
		return b, nil
	}
	return false, d.mismatch(field, DataTypeBoolean)
}

// Int64 returns a field that holds an Edm.Int64 or Edm.Int32, exactly: a number
// that is not an integer of 64 bits is an error, and so is a float64 from 2⁵³ on,
// which may stand for several. How an integer is written does not matter: 5, 5.0
// and 0.5e1 are the same.
func (d Document) Int64(field string) (int64, error) {
	n, err := toInt64(d[field])
	if err != nil {
		return 0, d.failed(field, DataTypeInt64, err)
	}
	return n, nil
}

// Float64 returns a field that holds an Edm.Double. The strings "NaN", "INF" and
// "-INF" are those numbers, as the service writes them.
func (d Document) Float64(field string) (float64, error) {
	f, err := toFloat64(d[field])
	if err != nil {
		return 0, d.failed(field, DataTypeDouble, err)
	}
	return f, nil
}

// Time returns a field that holds an Edm.DateTimeOffset.
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

// GeographyPoint returns a field that holds an Edm.GeographyPoint.
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

// Object returns a field that holds an Edm.ComplexType. It shares the map with
// the document.
func (d Document) Object(field string) (Document, error) {
	if o, ok := toObject(d[field]); ok {
		return o, nil
	}
	return nil, d.mismatch(field, DataTypeComplex)
}

// Strings returns a field that holds a Collection(Edm.String).
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

// Bools returns a field that holds a Collection(Edm.Boolean).
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

// Int64s returns a field that holds a Collection(Edm.Int64) or
// Collection(Edm.Int32).
func (d Document) Int64s(field string) ([]int64, error) {
	if n, ok := d[field].([]int64); ok {
		return n, nil
	}
	return collection(d, field, DataTypeInt64, toInt64)
}

// Float64s returns a field that holds a Collection(Edm.Double).
func (d Document) Float64s(field string) ([]float64, error) {
	if f, ok := d[field].([]float64); ok {
		return f, nil
	}
	return collection(d, field, DataTypeDouble, toFloat64)
}

// Vector returns a field that holds a Collection(Edm.Single).
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

// Times returns a field that holds a Collection(Edm.DateTimeOffset).
func (d Document) Times(field string) ([]time.Time, error) {
	if t, ok := d[field].([]time.Time); ok {
		return t, nil
	}
	return collection(d, field, DataTypeDateTimeOffset, func(v any) (time.Time, error) {
		t, err := Document{field: v}.Time(field)
		return t, cause(err)
	})
}

// GeographyPoints returns a field that holds a Collection(Edm.GeographyPoint).
func (d Document) GeographyPoints(field string) ([]GeographyPoint, error) {
	if p, ok := d[field].([]GeographyPoint); ok {
		return p, nil
	}
	return collection(d, field, DataTypeGeographyPoint, func(v any) (GeographyPoint, error) {
		p, err := Document{field: v}.GeographyPoint(field)
		return p, cause(err)
	})
}

// Objects returns a field that holds a Collection(Edm.ComplexType).
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

// cause returns what a DocumentError is about, for one of an element.
func cause(err error) error {
	if de := (*DocumentError)(nil); errors.As(err, &de) {
		return de.Err
	}
	return err
}

// held says what kind of value v is.
func held(v any) error {
	switch v.(type) {
	case nil, *GeographyPoint: // only a nil pointer gets here
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
		// The value with the digits that the float32 is written with.
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
