package search

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// Distance is the distance of a point from a field, to be compared with a number
// of kilometres or to order results by. Where the field is null no comparison matches.
type Distance struct {
	text     string
	problems []error
}

// GeoDistance returns the distance of point from the field, an
// Edm.GeographyPoint, along the surface of the earth. For path see Eq.
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

// Lt returns the filter that matches where the distance is less than the given
// number of kilometres, which is finite and not negative. The service compares
// distances for being equal in no filter.
func (d Distance) Lt(kilometres float64) Filter { return d.compare("lt", kilometres) }

// Le is Lt for less than or equal.
func (d Distance) Le(kilometres float64) Filter { return d.compare("le", kilometres) }

// Gt is Lt for greater than.
func (d Distance) Gt(kilometres float64) Filter { return d.compare("gt", kilometres) }

// Ge is Lt for greater than or equal.
func (d Distance) Ge(kilometres float64) Filter { return d.compare("ge", kilometres) }

// Asc returns the order of results by the distance, the nearest first, for OrderBy.
func (d Distance) Asc() string { return d.order("asc") }

// Desc is Asc with the farthest first.
func (d Distance) Desc() string { return d.order("desc") }

// order returns a clause, or a text with the problems of d, which orderBy refuses.
func (d Distance) order(direction string) string {
	if problems := d.wrong(); len(problems) > 0 {
		return "!" + errors.Join(problems...).Error()
	}
	return d.text + " " + direction
}

// wrong returns what is wrong with the arguments that d was made of.
func (d Distance) wrong() []error {
	if d.text == "" {
		return []error{errors.New("a distance was not made by GeoDistance")}
	}
	return slices.Clone(d.problems)
}

func (d Distance) compare(operator string, kilometres float64) Filter {
	problems := d.wrong()
	if !(kilometres >= 0) || math.IsInf(kilometres, 0) { // false for NaN, too
		problems = append(problems, fmt.Errorf("a distance is %v kilometres", kilometres))
	}
	if len(problems) > 0 {
		return invalid(problems...)
	}
	return comparison(d.text, operator, formatFloat(kilometres, 64))
}

// GeoIntersects returns the filter that matches where the field, an
// Edm.GeographyPoint, is inside of a polygon or on its edge. The polygon is
// given by its corners, at least three, in the order of a walk around it in any
// direction; the first need not be repeated at the end. It is what the walk goes
// around the short way, never the rest of the globe, and must not go around a
// pole. Edges should not cross each other. The service documents polygons that
// cross the 180th meridian for rectangles along the grid only: divide others.
// For path see Eq.
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

// ring returns the corners of a polygon as the service wants them: closed and
// counter-clockwise. Clockwise they would mean all but the polygon.
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
	// Twice the area, by the shoelace formula on longitudes that were unrolled:
	// each edge takes the short way around the globe.
	area, travelled := 0.0, 0.0
	for i, p := range corners {
		next := corners[(i+1)%len(corners)]
		east := math.Remainder(next.Longitude-p.Longitude, 360)
		area += travelled*(next.Latitude-corners[0].Latitude) - (travelled+east)*(p.Latitude-corners[0].Latitude)
		travelled += east
	}
	switch {
	case math.Abs(travelled) > 180: // a full turn; 0 but for rounding otherwise
		return nil, errors.New("it goes around a pole")
	case area == 0:
		return nil, errors.New("it encloses nothing: edges take the short way around the globe")
	case area < 0:
		slices.Reverse(corners[1:]) // begins where it did
	}
	return append(corners, corners[0]), nil
}
