package search

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// Distance is the distance between a field and a point, for a comparison in kilometres or for the order of results.
// If the field is null, no comparison matches.
type Distance struct {
	text     string
	problems []error
}

// GeoDistance returns the distance between point and the field, an Edm.GeographyPoint, along the surface of the
// earth. For path see Eq.
//
//	search.GeoDistance("Location", seattle).Le(10)                      // a Filter
//	OrderBy: []string{search.GeoDistance("Location", seattle).Asc()}    // the nearest first
func GeoDistance(path string, point models.GeographyPoint) Distance {
	var d Distance
	if err := checkPath(path); err != nil {
		d.problems = append(d.problems, err)
	}
	literal, err := pointOf(point)
	if err != nil {
		d.problems = append(d.problems, fmt.Errorf("distance from %s: %w", clip(path), err))
	}
	d.text = "geo.distance(" + path + ", " + literal.text + ")"
	return d
}

// Lt returns a filter that matches if the distance is less than the given kilometres, a finite number that is not
// negative. There is no Eq, because the service cannot test distances for equality.
func (d Distance) Lt(kilometres float64) Filter { return d.compare("lt", kilometres) }

// Le is Lt for less than or equal.
func (d Distance) Le(kilometres float64) Filter { return d.compare("le", kilometres) }

// Gt is Lt for greater than.
func (d Distance) Gt(kilometres float64) Filter { return d.compare("gt", kilometres) }

// Ge is Lt for greater than or equal.
func (d Distance) Ge(kilometres float64) Filter { return d.compare("ge", kilometres) }

// Asc returns a clause for OrderBy that sorts results by the distance, the nearest first.
func (d Distance) Asc() string { return d.order("asc") }

// Desc is Asc with the farthest first.
func (d Distance) Desc() string { return d.order("desc") }

// order returns a clause for OrderBy. If d has problems, it returns a text with them that orderBy refuses.
func (d Distance) order(direction string) string {
	if problems := d.wrong(); len(problems) > 0 {
		return "!" + errors.Join(problems...).Error()
	}
	return d.text + " " + direction
}

// wrong returns the problems with the arguments of d.
func (d Distance) wrong() []error {
	if d.text == "" {
		return []error{errors.New("a distance was not made by GeoDistance")}
	}
	return slices.Clone(d.problems)
}

func (d Distance) compare(operator string, kilometres float64) Filter {
	problems := d.wrong()
	if !(kilometres >= 0) || math.IsInf(kilometres, 0) { // the negation also catches NaN
		problems = append(problems, fmt.Errorf("a distance is %v kilometres", kilometres))
	}
	if len(problems) > 0 {
		return invalid(problems...)
	}
	return comparison(d.text, operator, formatFloat(kilometres, 64))
}

// GeoIntersects returns a filter that matches if the field, an Edm.GeographyPoint, is inside a polygon or on its
// edge. The polygon is a list of at least three corners, in order around it, clockwise or not. The first corner need
// not be repeated at the end. Each edge takes the short way around the globe; the polygon is the area that the edges
// enclose, never the rest of the globe. It must not contain a pole, and its edges should not cross. For polygons across
// the 180th meridian the service documents only rectangles along the grid: divide others. For path see Eq.
func GeoIntersects(path string, polygon ...models.GeographyPoint) Filter {
	var problems []error
	if err := checkPath(path); err != nil {
		problems = append(problems, err)
	}
	corners, err := ring(polygon)
	if err != nil {
		problems = append(problems, fmt.Errorf("polygon around %s: %w", clip(path), err))
	}
	if len(problems) > 0 {
		return invalid(problems...)
	}
	var b strings.Builder
	b.WriteString("geo.intersects(" + path + ", geography'POLYGON((")
	for i, p := range corners {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(position(p))
	}
	b.WriteString("))')")
	return Filter{&expression{kind: primaryExpression, text: b.String()}}
}

// ring returns the corners of a polygon in the form of the service: closed and counter-clockwise. Clockwise, the
// service would take all but the polygon.
func ring(polygon []models.GeographyPoint) ([]models.GeographyPoint, error) {
	for i, p := range polygon {
		if err := validPoint(p); err != nil {
			return nil, fmt.Errorf("corner %d: %w", i+1, err)
		}
	}
	corners := slices.Compact(slices.Clone(polygon))
	if n := len(corners); n > 1 && corners[0] == corners[n-1] {
		corners = corners[:n-1]
	}
	if len(corners) < 3 {
		return nil, fmt.Errorf("it has %d corners that differ from the next, not three or more", len(corners))
	}
	// Twice the area, by the shoelace formula, on unrolled longitudes: each edge takes the short way around the globe.
	area, travelled := 0.0, 0.0
	for i, p := range corners {
		next := corners[(i+1)%len(corners)]
		east := math.Remainder(next.Longitude-p.Longitude, 360)
		area += travelled*(next.Latitude-corners[0].Latitude) - (travelled+east)*(p.Latitude-corners[0].Latitude)
		travelled += east
	}
	switch {
	case math.Abs(travelled) > 180: // a full turn; otherwise 0, except for rounding
		return nil, errors.New("it goes around a pole")
	case area == 0:
		return nil, errors.New("it encloses nothing: edges take the short way around the globe")
	case area < 0:
		slices.Reverse(corners[1:]) // keeps the first corner first
	}
	return append(corners, corners[0]), nil
}
