package search

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Facet is an aggregation: it counts the documents that match a query by the values of a facetable field.
// FacetByValue, FacetByRange, FacetByInterval and FacetByPeriod make one, and RawFacet makes one from an expression.
// The counts are in models.SearchDocumentsResult.Facets under the name of the field.
type Facet struct {
	expression string
	err        error
}

// String returns the expression in the syntax of the service.
func (f Facet) String() string { return f.expression }

// Err returns all problems with the arguments of f, joined, or nil.
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
	// Count is the largest number of values, the first ones by Sort. Defaults to 10; a negative value means all.
	Count int
	// Sort is the order of the values. Defaults to FacetSortCountDescending.
	Sort FacetSort
}

// FacetByValue counts the documents for each value of a field. For path see Eq.
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
		err = fmt.Errorf("%s is not an order of a facet", clip(string(opts.Sort)))
	}
	return facet(path, settings, err)
}

// FacetBoundary is the type of the boundaries of FacetByRange.
type FacetBoundary interface {
	int | int32 | int64 | float64 | time.Time
}

// FacetByRange counts the documents in ranges of a field: below the first boundary, from each boundary up to but not
// including the next, and from the last one on. The boundaries must ascend. For path see Eq.
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

// FacetByInterval counts the documents in intervals of a numeric field, each of the given width, at least 1.
// Intervals without documents are omitted. For path see Eq.
func FacetByInterval(path string, width int) Facet {
	var err error
	if width < 1 {
		err = fmt.Errorf("%d is not the width of an interval", width)
	}
	return facet(path, []string{"interval:" + strconv.Itoa(width)}, err)
}

// FacetPeriod is a unit of the calendar.
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

// FacetByPeriod counts the documents in periods of a time field. Periods without documents are omitted. offset is how
// far the calendar is ahead of UTC, in whole minutes, less than a day. For path see Eq.
func FacetByPeriod(path string, period FacetPeriod, offset time.Duration) Facet {
	var errs []error
	switch period {
	case FacetPeriodMinute, FacetPeriodHour, FacetPeriodDay, FacetPeriodWeek, FacetPeriodMonth, FacetPeriodQuarter, FacetPeriodYear:
	default:
		errs = append(errs, fmt.Errorf("%s is not a period", clip(string(period))))
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

// RawFacet returns a facet from its expression: a field, and settings separated by commas,
// "rating,count:5,sort:-value". Use it for settings without a function in this package. Do not insert text from
// elsewhere.
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

// ascends reports whether a is less than b. Times are compared in milliseconds, as they are written.
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
