package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FacetValue is a value in a facet: a string, a number, a boolean or a time. Numbers keep all their digits. The zero
// FacetValue means no value. == compares FacetValues by their notation.
type FacetValue struct {
	kind facetKind
	text string // as in JSON; a string is decoded
}

type facetKind byte

const (
	facetNothing facetKind = iota
	facetString
	facetNumber
	facetBool
)

// IsZero reports whether there is no value.
func (v FacetValue) IsZero() bool { return v.kind == facetNothing }

// String returns the value as text: a number in the notation of the service, "" for no value.
func (v FacetValue) String() string { return v.text }

// Text returns the value of an Edm.String. It also accepts a time, because JSON has strings for both.
func (v FacetValue) Text() (string, error) {
	if v.kind != facetString {
		return "", v.mismatch(DataTypeString, nil)
	}
	return v.text, nil
}

// Bool returns the value of an Edm.Boolean.
func (v FacetValue) Bool() (bool, error) {
	if v.kind != facetBool {
		return false, v.mismatch(DataTypeBoolean, nil)
	}
	return v.text == "true", nil
}

// Int64 returns the value of an Edm.Int64 or Edm.Int32, exactly. The notation does not matter: 5 and 5.0 are equal.
func (v FacetValue) Int64() (int64, error) {
	if v.kind != facetNumber {
		return 0, v.mismatch(DataTypeInt64, nil)
	}
	n, err := integer(v.text)
	if err != nil {
		return 0, v.mismatch(DataTypeInt64, err)
	}
	return n, nil
}

// Float64 returns the value of an Edm.Double. It accepts the strings "NaN", "INF" and "-INF".
func (v FacetValue) Float64() (float64, error) {
	var held any
	switch v.kind {
	case facetNumber:
		held = json.Number(v.text)
	case facetString:
		held = v.text
	default:
		return 0, v.mismatch(DataTypeDouble, nil)
	}
	f, err := toFloat64(held)
	if err != nil {
		return 0, v.mismatch(DataTypeDouble, err)
	}
	return f, nil
}

// Time returns the value of an Edm.DateTimeOffset, in UTC if its offset is 0. The service writes the values of a
// facet in RFC 3339, but the ends of ranges with an offset without a colon.
func (v FacetValue) Time() (time.Time, error) {
	if v.kind != facetString {
		return time.Time{}, v.mismatch(DataTypeDateTimeOffset, nil)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700"} {
		if t, err := time.Parse(layout, v.text); err == nil {
			if _, offset := t.Zone(); offset == 0 {
				t = t.UTC()
			}
			return t, nil
		}
	}
	return time.Time{}, v.mismatch(DataTypeDateTimeOffset, errors.New("it is not a time"))
}

// MarshalJSON implements json.Marshaler.
func (v FacetValue) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case facetNothing:
		return []byte("null"), nil
	case facetString:
		return appendString(nil, v.text), nil
	}
	return []byte(v.text), nil
}

// UnmarshalJSON implements json.Unmarshaler. null means no value.
func (v *FacetValue) UnmarshalJSON(b []byte) error {
	var kind facetKind
	text := strings.TrimSpace(string(b))
	switch {
	case text == "null":
		*v = FacetValue{}
		return nil
	case text == "true" || text == "false":
		kind = facetBool
	case strings.HasPrefix(text, `"`):
		kind = facetString
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	default:
		kind = facetNumber
		var n json.Number
		if err := json.Unmarshal(b, &n); err != nil {
			return fmt.Errorf("a value of a facet cannot be %s", jsonKind([]byte(text)))
		}
	}
	*v = FacetValue{kind: kind, text: text}
	return nil
}

func (v FacetValue) mismatch(want DataType, err error) error {
	held := v.text
	switch v.kind {
	case facetNothing:
		held = "no value"
	case facetString:
		held = strconv.Quote(held)
	}
	if err != nil {
		return fmt.Errorf("%s is not an %s: %w", held, want, err)
	}
	return fmt.Errorf("%s is not an %s", held, want)
}
