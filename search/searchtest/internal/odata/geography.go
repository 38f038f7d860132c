package odata

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// earthRadius is the mean radius of the earth in kilometers.
const earthRadius = 6371.0087714

// point is a position in degrees.
type point struct {
	lon, lat float64
}

// decodePoint decodes a stored Edm.GeographyPoint.
func decodePoint(value []byte) point {
	return point{
		lon: math.Float64frombits(binary.LittleEndian.Uint64(value)),
		lat: math.Float64frombits(binary.LittleEndian.Uint64(value[8:])),
	}
}

// distance returns the great-circle distance in kilometers, by the haversine formula.
func (p point) distance(q point) float64 {
	const degree = math.Pi / 180
	sinLat := math.Sin((q.lat - p.lat) * degree / 2)
	sinLon := math.Sin((q.lon - p.lon) * degree / 2)
	h := sinLat*sinLat + math.Cos(p.lat*degree)*math.Cos(q.lat*degree)*sinLon*sinLon
	return 2 * earthRadius * math.Asin(min(1, math.Sqrt(h)))
}

// Distance returns the great-circle distance between two points in kilometers.
func Distance(lonA, latA, lonB, latB float64) float64 {
	return point{lonA, latA}.distance(point{lonB, latB})
}

// polygon is an area including its edges. Edges are straight lines in longitude and latitude.
type polygon struct {
	ring     []point // closed: the last point equals the first
	min, max point
	rest     bool // clockwise: everything except the inside, as in the service

	// acrossDateLine is true for a rectangle along the grid that is wider than 180°. It means the other part, across
	// ±180°.
	acrossDateLine bool
}

func newPolygon(ring []point) *polygon {
	g := &polygon{ring: ring, min: ring[0], max: ring[0]}
	alongGrid := len(ring) == 5
	area, wide := 0.0, false // twice the area, negative for a clockwise ring
	for i, p := range ring {
		g.min = point{min(g.min.lon, p.lon), min(g.min.lat, p.lat)}
		g.max = point{max(g.max.lon, p.lon), max(g.max.lat, p.lat)}
		if i == 0 {
			continue
		}
		before := ring[i-1]
		if p.lon != before.lon && p.lat != before.lat {
			alongGrid = false
		}
		area += (before.lon-ring[0].lon)*(p.lat-ring[0].lat) - (p.lon-ring[0].lon)*(before.lat-ring[0].lat)
		wide = wide || math.Abs(p.lon-before.lon) > 180
	}
	g.acrossDateLine = alongGrid && g.max.lon-g.min.lon > 180
	g.rest = area < 0 && !wide
	return g
}

// contains reports whether p is in the area or on an edge.
func (g *polygon) contains(p point) bool {
	inside, edge := g.locate(p)
	return edge || inside != g.rest
}

// locate reports whether the ring encloses p, and whether p is on an edge.
func (g *polygon) locate(p point) (inside, edge bool) {
	if p.lat < g.min.lat || p.lat > g.max.lat {
		return false, false
	}
	if g.acrossDateLine {
		return p.lon >= g.max.lon || p.lon <= g.min.lon, false
	}
	if p.lon < g.min.lon || p.lon > g.max.lon {
		return false, false
	}
	for i := 1; i < len(g.ring); i++ {
		a, b := g.ring[i-1], g.ring[i]
		// Side of the edge on which p is; 0 on the line.
		side := (b.lon-a.lon)*(p.lat-a.lat) - (b.lat-a.lat)*(p.lon-a.lon)
		if side == 0 && min(a.lon, b.lon) <= p.lon && p.lon <= max(a.lon, b.lon) &&
			min(a.lat, b.lat) <= p.lat && p.lat <= max(a.lat, b.lat) {
			return false, true
		}
		// A ray to the east crosses the edge. The southern end of the edge counts, the northern end does not.
		if (a.lat <= p.lat) != (b.lat <= p.lat) && (side > 0) == (b.lat > a.lat) {
			inside = !inside
		}
	}
	return inside, false
}

// parseGeography parses POINT(…) or POLYGON((…)). It returns the reason if it fails.
func (v *literal) parseGeography(text string) (why string) {
	if srid, rest, found := strings.Cut(text, ";"); found {
		if !strings.EqualFold(strings.ReplaceAll(srid, " ", ""), "SRID=4326") {
			return "Only SRID=4326 is supported."
		}
		text = rest
	}
	open := strings.IndexByte(text, '(')
	if open < 0 {
		return "Expecting token type LeftParen."
	}
	shape := strings.ToUpper(strings.TrimSpace(text[:open]))
	body, ok := inParentheses(text[open:])
	if !ok {
		return "Expecting token type RightParen."
	}
	switch shape {
	case "POINT":
		v.kind, v.typeName = literalPoint, "Edm.GeographyPoint"
		v.point, why = parsePoint(body)
		return why
	case "POLYGON":
		v.kind, v.typeName = literalPolygon, "Edm.GeographyPolygon"
		if body, ok = inParentheses(body); !ok || strings.ContainsAny(body, "()") {
			return "A polygon must have one ring."
		}
		var ring []point
		for text := range strings.SplitSeq(body, ",") {
			p, why := parsePoint(text)
			if why != "" {
				return why
			}
			ring = append(ring, p)
		}
		if len(ring) < 4 || ring[0] != ring[len(ring)-1] {
			return "A polygon must have at least four points, and the last must equal the first."
		}
		v.polygon = newPolygon(ring)
		return ""
	}
	return "Only POINT and POLYGON are supported."
}

// inParentheses removes the parentheses around text.
func inParentheses(text string) (string, bool) {
	text, opened := strings.CutPrefix(strings.TrimSpace(text), "(")
	text, closed := strings.CutSuffix(text, ")")
	return text, opened && closed
}

func parsePoint(text string) (p point, why string) {
	parts := strings.Fields(text)
	if len(parts) != 2 {
		return p, "A point must have a longitude and a latitude."
	}
	lon, err1 := strconv.ParseFloat(parts[0], 64)
	lat, err2 := strconv.ParseFloat(parts[1], 64)
	switch {
	case err1 != nil || err2 != nil || strings.ContainsAny(text, "xX_pPnN"):
		return p, "A longitude or latitude is not a number."
	case lat < -90 || lat > 90:
		return p, "Latitude must be between -90 and 90 degrees."
	case lon < -180 || lon > 180:
		return p, "Longitude must be between -180 and 180 degrees."
	}
	return point{lon, lat}, ""
}
