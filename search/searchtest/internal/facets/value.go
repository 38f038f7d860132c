package facets

import (
	"cmp"
	"encoding/binary"
	"math"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Value is a value of a facetable field, or a bound of a range.
type Value struct {
	Type    stored.Type // of the field or of its elements
	Text    string      // Edm.String
	Integer int64       // Edm.Int32, Edm.Int64; Edm.Boolean: 0 or 1; Edm.DateTimeOffset: milliseconds since 1970
	Double  float64     // Edm.Double
}

// compare orders values of the same type: strings by their bytes, false before true, NaN after all numbers.
func (v Value) compare(w Value) int {
	switch v.Type {
	case stored.String:
		return strings.Compare(v.Text, w.Text)
	case stored.Double:
		if math.IsNaN(v.Double) || math.IsNaN(w.Double) {
			return -cmp.Compare(v.Double, w.Double) // cmp.Compare orders NaN first
		}
		return cmp.Compare(v.Double, w.Double)
	}
	return cmp.Compare(v.Integer, w.Integer)
}

// AppendBound appends a time in the form that the service uses only for the bounds of ranges.
func AppendBound(dst []byte, ms int64) []byte {
	return time.UnixMilli(ms).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000-0700")
}

// decodeInteger decodes a stored Boolean, integer or time, distinguished by size.
func decodeInteger(value []byte) int64 {
	switch len(value) {
	case 1:
		return int64(value[0])
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(value)))
	}
	return int64(binary.LittleEndian.Uint64(value))
}

// timeUnit is a unit for intervals of times.
type timeUnit uint8

const (
	minute timeUnit = iota
	hour
	day
	week
	month
	quarter
	year
)

var timeUnits = map[string]timeUnit{
	"minute": minute, "hour": hour, "day": day, "week": week, "month": month, "quarter": quarter, "year": year,
}

const (
	msPerMinute = 60_000
	msPerHour   = 60 * msPerMinute
	msPerDay    = 24 * msPerHour
)

// start returns the start of the unit that contains ms. offset moves the start of days and longer units. Weeks begin
// on Monday.
func (u timeUnit) start(ms, offset int64) int64 {
	switch u {
	case minute:
		return floor(ms, msPerMinute)
	case hour:
		return floor(ms, msPerHour)
	}
	local := floor(ms+offset, msPerDay)
	switch u {
	case day:
		return local - offset
	case week: // 1970 began on a Thursday
		return floor(local+3*msPerDay, 7*msPerDay) - 3*msPerDay - offset
	}
	y, m, _ := time.UnixMilli(local).UTC().Date()
	switch u {
	case quarter:
		m -= (m - 1) % 3
	case year:
		m = time.January
	}
	return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - offset
}

// floor returns the largest multiple of unit not greater than n.
func floor(n, unit int64) int64 {
	rest := n % unit
	if rest < 0 {
		rest += unit
	}
	if n < math.MinInt64+rest {
		return math.MinInt64 // the multiple is out of range
	}
	return n - rest
}
