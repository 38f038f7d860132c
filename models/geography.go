package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrNotAPoint is in the error chain for JSON that is not a point on the globe.
var ErrNotAPoint = errors.New("not a GeoJSON point in EPSG:4326")

// GeographyPoint is a point on the globe, the value of an Edm.GeographyPoint. Its
// JSON is GeoJSON, the longitude first:
//
//	{"type":"Point","coordinates":[-122.131577,47.678581]}
type GeographyPoint struct {
	// Longitude is in degrees, -180 to 180, east being positive.
	Longitude float64
	// Latitude is in degrees, -90 to 90, north being positive.
	Latitude float64
}

// String returns the point in the notation of filters: POINT(-122.131577 47.678581).
func (p GeographyPoint) String() string {
	return fmt.Sprintf("POINT(%s %s)", degrees(p.Longitude), degrees(p.Latitude))
}

func degrees(f float64) string {
	b, err := json.Marshal(f)
	if err != nil {
		return fmt.Sprint(f)
	}
	return string(b)
}

// MarshalJSON implements json.Marshaler. The error wraps ErrNotAPoint if a
// coordinate is out of range or not a number.
func (p GeographyPoint) MarshalJSON() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return json.Marshal(geoJSON{Type: "Point", Coordinates: []*float64{&p.Longitude, &p.Latitude}})
}

// UnmarshalJSON implements json.Unmarshaler. It decodes GeoJSON points, with the coordinate system of the service or
// without one. null leaves the point unchanged: use a *GeographyPoint for a field that may be null. The error wraps
// ErrNotAPoint for any other shape or coordinate system, a third coordinate, and coordinates out of range.
func (p *GeographyPoint) UnmarshalJSON(b []byte) error {
	var g *geoJSON
	if err := json.Unmarshal(b, &g); err != nil {
		return fmt.Errorf("%w: %w", ErrNotAPoint, err)
	}
	if g == nil {
		return nil
	}
	switch {
	case g.Type != "Point":
		return fmt.Errorf("%w: its type is %q", ErrNotAPoint, g.Type)
	case len(g.Coordinates) != 2:
		return fmt.Errorf("%w: it has %d coordinates", ErrNotAPoint, len(g.Coordinates))
	case g.CRS != nil && (g.CRS.Type != "name" || !isWGS84(g.CRS.Properties.Name)):
		return fmt.Errorf("%w: its coordinate system is %q", ErrNotAPoint, g.CRS.Properties.Name)
	}
	if g.Coordinates[0] == nil || g.Coordinates[1] == nil {
		return fmt.Errorf("%w: a coordinate is null", ErrNotAPoint)
	}
	q := GeographyPoint{Longitude: *g.Coordinates[0], Latitude: *g.Coordinates[1]}
	if err := q.check(); err != nil {
		return err
	}
	*p = q
	return nil
}

func (p GeographyPoint) check() error {
	if !(math.Abs(p.Longitude) <= 180) || !(math.Abs(p.Latitude) <= 90) { // the negations also catch NaN
		return fmt.Errorf("%w: longitude %v, latitude %v", ErrNotAPoint, p.Longitude, p.Latitude)
	}
	return nil
}

type geoJSON struct {
	Type        string     `json:"type"`
	Coordinates []*float64 `json:"coordinates"`
	CRS         *struct {
		Type       string `json:"type"`
		Properties struct {
			Name string `json:"name"`
		} `json:"properties"`
	} `json:"crs,omitempty"`
}

// isWGS84 accepts the service's name EPSG:4326, and its long form.
func isWGS84(name string) bool {
	return strings.EqualFold(name, "EPSG:4326") || strings.EqualFold(name, "urn:ogc:def:crs:EPSG::4326")
}
