package odata

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDistancesAreThoseOfTheGreatCircle(t *testing.T) {
	rows := []struct {
		from, to point
		km       float64
	}{
		{point{0, 0}, point{0, 0}, 0},
		{point{0, 0}, point{90, 0}, earthRadius * math.Pi / 2},
		{point{0, 90}, point{0, -90}, earthRadius * math.Pi},
		{point{179.5, 0}, point{-179.5, 0}, earthRadius * math.Pi / 180},
		{point{2.3522, 48.8566}, point{-0.1276, 51.5072}, 343.5},    // Paris, London
		{point{-122.3321, 47.6062}, point{-74.006, 40.7128}, 3866.}, // Seattle, New York
	}
	for _, row := range rows {
		assert.InDelta(t, row.km, row.from.distance(row.to), max(1e-9, row.km*1e-3), row)
		assert.InDelta(t, row.from.distance(row.to), row.to.distance(row.from), 1e-9)
	}
}

func TestPolygonsContainTheirEdgesAndCorners(t *testing.T) {
	rows := []struct {
		polygon string
		inside  []point
		outside []point
	}{
		{
			"(0 0, 4 0, 4 4, 0 4, 0 0)",
			[]point{{2, 2}, {0, 0}, {4, 4}, {4, 0}, {0, 2}, {2, 4}, {4, 1}},
			[]point{{-0.001, 2}, {4.001, 2}, {2, 4.001}, {2, -0.001}, {180, 2}, {-180, 0}},
		},
		{
			"(0 0, 0 4, 4 4, 4 0, 0 0)", // clockwise: all but the square
			[]point{{5, 2}, {2, 5}, {180, 2}, {0, 0}, {4, 4}, {0, 2}},
			[]point{{2, 2}, {0.001, 3.999}},
		},
		{
			"(0 0, 2 1, 4 0, 4 -4, 0 -4, 0 0)", // clockwise, not convex
			[]point{{1, 1}, {2, 1}, {2, -4}, {-1, -1}},
			[]point{{2, 0}, {1, -3}},
		},
		{
			"(0 0, 4 0, 4 4, 2 1, 0 4, 0 0)", // a notch from above
			[]point{{1, 1}, {3, 1}, {2, 1}, {2, 0.5}, {0, 4}},
			[]point{{2, 2}, {1.5, 3.9}, {2, 4}},
		},
		{
			"(179 65, 179 66, -179 66, -179 65, 179 65)", // the documentation's, across ±180°
			[]point{{179.5, 65.5}, {-179.5, 65.5}, {180, 65}, {-180, 66}, {179, 65}, {-179, 66}},
			[]point{{0, 65.5}, {178.9, 65.5}, {-178.9, 65.5}, {180, 64.9}},
		},
		{
			"(-120 0, 120 10, 100 20, -120 0)", // not a rectangle: does not cross ±180°
			[]point{{0, 5.1}},
			[]point{{180, 5}},
		},
		{
			"(0 0, 1 0, 0 0, 0 0)", // a line
			[]point{{0.5, 0}},
			[]point{{0.5, 0.1}},
		},
	}
	for _, row := range rows {
		for in, points := range map[bool][]point{true: row.inside, false: row.outside} {
			for _, p := range points {
				filter := "geo.intersects(Location, geography'POLYGON(" + row.polygon + ")')"
				assert.Equal(t, in, passes(t, filter, document{"Location": p}), "%v in %s", p, row.polygon)
			}
		}
	}
}

func TestConvexPolygonsAgreeWithHalfPlanes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Points on a circle, in order, form a convex polygon; integers keep the arithmetic exact on its edges.
		n := rapid.IntRange(3, 8).Draw(t, "corners")
		start := rapid.Float64Range(0, 2).Draw(t, "start")
		var ring []point
		for i := range n {
			angle := start + 2*math.Pi*float64(i)/float64(n)
			ring = append(ring, point{math.Round(50 * math.Cos(angle)), math.Round(50 * math.Sin(angle))})
		}
		ring = append(ring, ring[0])
		p := point{float64(rapid.IntRange(-60, 60).Draw(t, "lon")), float64(rapid.IntRange(-60, 60).Draw(t, "lat"))}
		want := true
		for i := 1; i < len(ring); i++ {
			a, b := ring[i-1], ring[i]
			want = want && (b.lon-a.lon)*(p.lat-a.lat)-(b.lat-a.lat)*(p.lon-a.lon) >= 0
		}
		g := newPolygon(ring)
		require.Equal(t, want, g.contains(p), "%v in %v", p, ring)
		_, edge := g.locate(p)
		slices.Reverse(ring)
		require.Equal(t, !want || edge, newPolygon(ring).contains(p), "%v in %v", p, ring)
	})
}

func TestGeographyIsReadAsWellKnownText(t *testing.T) {
	for _, text := range []string{
		"geo.distance(Location, geography'POINT(2 1)') lt 1",
		"geo.distance(geography'Point ( 2  1 )', Location) lt 1",
		"1 ge geo.distance(Location, GEOGRAPHY'SRID=4326;POINT(2.0 1e0)')",
		"geo.intersects(geography'POLYGON((0 0,3 0,3 3,0 0))', Location)",
		"geo.intersects(Location, geography'POLYGON ((0 0 , 3 0, 3 3, 0 0))') eq true",
	} {
		assert.True(t, passes(t, text, document{"Location": point{2, 1.001}}), text)
	}
	for _, shape := range []string{
		"POINT()", "POINT(1 2 3)", "POINT(1,2)", "POINT(x 2)", "POINT(nan 2)", "POINT(0x1p1 2)", "POINT(181 0)", "POINT 1 2", "POINT(1 2", "POINT EMPTY",
		"LINESTRING(1 2, 3 4)", "SRID=3857;POINT(1 2)", "",
		"POLYGON(0 0, 1 0, 1 1, 0 0)", "POLYGON((0 0, 1 0, 0 0))", "POLYGON((0 0, 1 0, 1 1, 0 1))", "POLYGON((0 0, 1 0, 1 1, 0 0), (0 0, 1 0, 1 1, 0 0))",
	} {
		for _, call := range []string{"geo.distance(Location, geography'" + shape + "') lt 1", "geo.intersects(Location, geography'" + shape + "')"} {
			_, err := CompileFilter(call, hotel)
			assert.ErrorContains(t, err, "Unrecognized 'Edm.Geography' literal", call)
		}
	}
}
