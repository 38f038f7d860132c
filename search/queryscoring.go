package search

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// ScoringParameterValue is a parameter of a scoring profile with its value. ScoringParameter and ScoringPoint make
// one.
type ScoringParameterValue struct {
	text string
	err  error
}

// ScoringParameter returns a parameter with its values, for example for the tags of a tag function. Values with
// commas or quotes are quoted.
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

// ScoringPoint returns a parameter with a point, for a distance function.
func ScoringPoint(name string, point models.GeographyPoint) ScoringParameterValue {
	degrees := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return ScoringParameterValue{
		text: name + "-" + degrees(point.Longitude) + "," + degrees(point.Latitude),
		err:  errors.Join(checkParameterName(name), validPoint(point)),
	}
}

// String returns the parameter in the syntax of the service: "tags-a,b".
func (p ScoringParameterValue) String() string { return p.text }

// Err returns all problems with the arguments of p, joined, or nil.
func (p ScoringParameterValue) Err() error {
	if p.text == "" && p.err == nil {
		return errors.New("the parameter is empty: see ScoringParameter")
	}
	return p.err
}

// checkParameterName refuses an empty name, and a name with a dash, because the service ends the name at the dash.
func checkParameterName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of the parameter is empty")
	case strings.ContainsAny(name, "-"):
		return fmt.Errorf("the name of the parameter %s holds a dash, which ends it", clip(name))
	}
	return validText(name)
}

// unsafeInParameter reports whether a value with r in it must be quoted. Quotes are harmless, so all unusual
// characters require them.
func unsafeInParameter(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		return false
	}
	return true
}
