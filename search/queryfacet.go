package search

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Facet says how the documents that match a query are to be counted by the
// values of a facetable field. FacetByValue, FacetByRange, FacetByInterval and
// FacetByPeriod make one, RawFacet makes one of an expression that is there
// already. The counts are in models.SearchDocumentsResult.Facets by the name of
// the field.
type Facet struct {
	expression string
	err        error
}

// String returns the expression as the service reads it.
func (f Facet) String() string { return f.expression }

// Err returns what is wrong with the arguments that f was made of, all of it, or
// nil.
func (f Facet) Err() error {
	if f.expression == "" && f.err == nil {
		return errors.New("the facet is empty: see FacetByValue")
	}
	return f.err
}

// FacetSort is an order of the buckets of a facet.
type FacetSort string

// The orders of buckets. The service defaults to FacetSortCountDescending.
const (
	FacetSortCountDescending FacetSort = "count"
	FacetSortCountAscending  FacetSort = "-count"
	FacetSortValueAscending  FacetSort = "value"
	FacetSortValueDescending FacetSort = "-value"
)

// FacetByValueOptions are the options of FacetByValue. nil and the zero value
// are ready to use.
type FacetByValueOptions struct {
	// Count is how many values there should be at most, the first by Sort. Defaults
	// to 10; negative asks for all.
	Count int
	// Sort is the order of the values. Defaults to FacetSortCountDescending.
	Sort FacetSort
}

// FacetByValue counts the documents by each value of a field. For the path of
// the field see Eq.
func FacetByValue(path string, opts *FacetByValueOptions) Facet {
	if opts == nil {
		opts = &FacetByValueOptions{}
	}
	var (
		settings []string
		err      error
	)
	switch {
	case opts.Count > 0:
		settings = append(settings, "count:"+strconv.Itoa(opts.Count))
	case opts.Count < 0:
		settings = append(settings, "count:0")
	}
	switch opts.Sort {
	case "":
	case FacetSortCountDescending, FacetSortCountAscending, FacetSortValueAscending, FacetSortValueDescending:
		settings = append(settings, "sort:"+string(opts.Sort))
	default:
		err = fmt.Errorf("%s is no order of a facet", clip(string(opts.Sort)))
	}
	return facet(path, settings, err)
}

// FacetBoundary is where a range of FacetByRange begins or ends.
type FacetBoundary interface {
	int | int32 | int64 | float64 | time.Time
}

// FacetByRange counts the documents by ranges of a field: those below the first
// boundary, those from each boundary to the next, which is not part of the
// range, and those from the last one on. The boundaries ascend. For the path of
// the field see Eq.
func FacetByRange[B FacetBoundary](path string, boundaries ...B) Facet {
	if len(boundaries) == 0 {
		return facet(path, nil, errors.New("it has no boundaries"))
	}
	var errs []error
	texts := make([]string, len(boundaries))
	for i, boundary := range boundaries {
		literal, err := literalOf(boundary)
		if f, ok := any(boundary).(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			err = fmt.Errorf("boundary %d is %v", i, f)
		}
		if err != nil {
			errs = append(errs, err)
		}
		texts[i] = literal.text
		if i > 0 && !ascends(boundaries[i-1], boundary) {
			errs = append(errs, fmt.Errorf("boundary %d, %s, is not above %s", i, texts[i], texts[i-1]))
		}
	}
	return facet(path, []string{"values:" + strings.Join(texts, "|")}, errors.Join(errs...))
}

// FacetByInterval counts the documents by intervals of a number, each as wide as
// width, which is from 1 on, and those without documents left out. For the path
// of the field see Eq.
func FacetByInterval(path string, width int) Facet {
	var err error
	if width < 1 {
		err = fmt.Errorf("%d is not the width of an interval", width)
	}
	return facet(path, []string{"interval:" + strconv.Itoa(width)}, err)
}

// FacetPeriod is a part of the calendar.
type FacetPeriod string

// The periods of FacetByPeriod.
const (
	FacetPeriodMinute  FacetPeriod = "minute"
	FacetPeriodHour    FacetPeriod = "hour"
	FacetPeriodDay     FacetPeriod = "day"
	FacetPeriodWeek    FacetPeriod = "week"
	FacetPeriodMonth   FacetPeriod = "month"
	FacetPeriodQuarter FacetPeriod = "quarter"
	FacetPeriodYear    FacetPeriod = "year"
)

// FacetByPeriod counts the documents by periods of a time, those without
// documents left out. offset is how far the calendar is ahead of UTC, in whole
// minutes, less than a day. For the path of the field see Eq.
func FacetByPeriod(path string, period FacetPeriod, offset time.Duration) Facet {
	var errs []error
	switch period {
	case FacetPeriodMinute, FacetPeriodHour, FacetPeriodDay, FacetPeriodWeek, FacetPeriodMonth, FacetPeriodQuarter, FacetPeriodYear:
	default:
		errs = append(errs, fmt.Errorf("%s is no period", clip(string(period))))
	}
	settings := []string{"interval:" + string(period)}
	if offset != 0 {
		if offset%time.Minute != 0 || offset.Abs() >= 24*time.Hour {
			errs = append(errs, fmt.Errorf("the offset %v is not whole minutes of less than a day", offset))
		}
		sign, minutes := "+", int(offset.Minutes())
		if minutes < 0 {
			sign, minutes = "-", -minutes
		}
		settings = append(settings, fmt.Sprintf("timeoffset:%s%02d:%02d", sign, minutes/60, minutes%60))
	}
	return facet(path, settings, errors.Join(errs...))
}

// RawFacet returns the facet that an expression says: a field, and settings
// behind commas, "rating,count:5,sort:-value". It is for what this package has no
// function for; what others typed does not belong into it.
func RawFacet(expression string) Facet {
	err := validText(expression)
	if strings.TrimSpace(expression) == "" {
		err = errors.New("the expression is empty")
	}
	return Facet{expression: expression, err: err}
}

func facet(path string, settings []string, err error) Facet {
	return Facet{
		expression: strings.Join(append([]string{path}, settings...), ","),
		err:        errors.Join(checkPath(path), err),
	}
}

// ascends reports whether b is above a, of times by the milliseconds that are
// written.
func ascends[B FacetBoundary](a, b B) bool {
	switch a := any(a).(type) {
	case int:
		return a < any(b).(int)
	case int32:
		return a < any(b).(int32)
	case int64:
		return a < any(b).(int64)
	case float64:
		return a < any(b).(float64)
	case time.Time:
		return a.UnixMilli() < any(b).(time.Time).UnixMilli()
	}
	return false
}
