package search

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// ScoringParameterValue is a parameter of a scoring profile and its value.
// ScoringParameter and ScoringPoint make one.
type ScoringParameterValue struct {
	text string
	err  error
}

// ScoringParameter returns the values of a parameter, the tags of a tag function
// for example. Values that hold commas or quotes are quoted.
func ScoringParameter(name string, values ...string) ScoringParameterValue {
	errs := []error{checkParameterName(name)}
	if len(values) == 0 {
		errs = append(errs, fmt.Errorf("the parameter %s has no value", clip(name)))
	}
	quoted := make([]string, len(values))
	for i, value := range values {
		if err := validText(value); err != nil {
			errs = append(errs, fmt.Errorf("value %d of the parameter %s %w", i, clip(name), err))
		}
		quoted[i] = value
		if value == "" || strings.ContainsFunc(value, unsafeInParameter) {
			quoted[i] = quoteString(value)
		}
	}
	return ScoringParameterValue{text: name + "-" + strings.Join(quoted, ","), err: errors.Join(errs...)}
}

// ScoringPoint returns the value of a parameter that is a point, that of a
// distance function.
func ScoringPoint(name string, point models.GeographyPoint) ScoringParameterValue {
	degrees := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return ScoringParameterValue{
		text: name + "-" + degrees(point.Longitude) + "," + degrees(point.Latitude),
		err:  errors.Join(checkParameterName(name), validPoint(point)),
	}
}

// String returns the parameter as the service reads it: "tags-a,b".
func (p ScoringParameterValue) String() string { return p.text }

// Err returns what is wrong with the arguments that p was made of, all of it, or
// nil.
func (p ScoringParameterValue) Err() error {
	if p.text == "" && p.err == nil {
		return errors.New("the parameter is empty: see ScoringParameter")
	}
	return p.err
}

// checkParameterName refuses names that the service would read another end of.
func checkParameterName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of the parameter is empty")
	case strings.ContainsAny(name, "-"):
		return fmt.Errorf("the name of the parameter %s holds a dash, which ends it", clip(name))
	}
	return validText(name)
}

// unsafeInParameter reports whether a value with r in it must be quoted. Quotes
// do no harm, so that everything unusual gets them.
func unsafeInParameter(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		return false
	}
	return true
}
