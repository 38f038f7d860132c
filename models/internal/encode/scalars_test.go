package encode_test

import (
	"math"
	"strings"
	"time"
)

// specials are sequences that need attention when a string is scanned.
var specials = []string{
	`"`, `\`, "/", "<", ">", "&", "\x7f", "\u2028", "\u2029",
	"\u2027", "\u202a", "\u2020", "\u20a8", "\ufffd", "\ufffe", "\u0080", "\u07ff", "\u0800", "\uffff", "\U00010000", "\U0010ffff",
	"é", "世", "😀", "e\u0301",
	"\x80", "\xbf", "\xc0", "\xc1", "\xfe", "\xff", // never start a character
	"\xc3", "\xe2", "\xe2\x80", "\xf0\x9f\x98", // truncated characters
	"\xc0\xaf", "\xe0\x80\xaf", // overlong encodings
	"\xed\xa0\x80", "\xed\xbf\xbf", // surrogates
	"\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", // beyond the last character
	"\xe2\x28\xa8", "\xe2\x80\x28", // broken in the middle
	"\x00", "\x01", "\x07", "\b", "\t", "\n", "\v", "\f", "\r", "\x0e", "\x1b", "\x1f", " ",
}

// lengths are close to multiples of the word size.
var lengths = []int{0, 1, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128, 300}

const plain = `The quick brown fox_jumps-over.the:lazy;dog,0123456789 (and) [so] {on}!#$%'*+=?@^|~`

// text returns a string of such a length with some specials. A string that begins with "!" makes the methods of the
// palette misbehave.
func (c *choices) text() string {
	if c.oneIn(200) {
		return pick(c, []string{failWord, panicWord, nilWord})
	}
	n := pick(c, lengths)
	s := strings.Repeat(plain, 1+n/len(plain))[:n]
	for range c.n(4) {
		at := c.n(len(s) + 1)
		s = s[:at] + pick(c, specials) + s[at:]
	}
	if c.oneIn(20) {
		b := make([]byte, c.n(20))
		for i := range b {
			b[i] = c.byte()
		}
		s += string(b)
	}
	return s
}

// hardFloats are close to changes of notation.
var hardFloats = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.1, 0.5, 1.5, 100, 1e20, 1e21, 1e22, 1e-5, 1e-6, 1e-7, 1e-9, 1e-10, 1e-99, 1e-100, 1e99, 1e100,
	999999999999999868928, 1e21 - 131072, 9.999999999999999e-7, 1.0000000000000002e-6, 123456789.123456789,
	1 << 53, 1<<53 - 1, 1<<53 + 2, -(1 << 53), math.MaxInt64, math.MinInt64, math.MaxUint64,
	math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 2.2250738585072014e-308, 2.225073858507201e-308,
	math.MaxFloat32, math.SmallestNonzeroFloat32, 1.1754943508222875e-38, 16777216, 16777217,
	5e-324, 4.35, 0.000001, 0.0000001, 5e-7, 299792458, math.Pi, math.E,
}

func (c *choices) float64() float64 {
	if c.oneIn(100) {
		return pick(c, []float64{math.NaN(), math.Inf(1), math.Inf(-1)})
	}
	switch c.n(5) {
	case 0:
		return pick(c, hardFloats)
	case 1:
		return float64(int16(c.uint64()))
	case 2:
		return float64(int64(c.uint64())>>c.n(60)) / math.Pow10(c.n(20))
	case 3: // any exponent, few digits
		return math.Ldexp(float64(1+c.n(16)), c.n(2100)-1074)
	}
	return finite(math.Float64frombits(c.uint64()))
}

func (c *choices) float32() float32 {
	if c.oneIn(3) {
		return float32(finite(float64(math.Float32frombits(uint32(c.uint64())))))
	}
	return float32(c.float64())
}

// finite returns f, or usually another number if JSON cannot represent f; see float64 above.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 1
	}
	return f
}

func (c *choices) int64() int64 {
	switch c.n(4) {
	case 0:
		return int64(c.n(256))
	case 1:
		return pick(c, []int64{0, 1, -1, 7, 9, 10, 99, 100, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, 1 << 53, 1e18})
	}
	return int64(c.uint64()) >> c.n(64)
}

var zones = []*time.Location{
	time.UTC, time.Local, time.FixedZone("", 0), time.FixedZone("UTC", 0), time.FixedZone("Z", 3600),
	time.FixedZone("", 1), time.FixedZone("", -1), time.FixedZone("", 59), time.FixedZone("", -59), time.FixedZone("", 60),
	time.FixedZone("", 90*60), time.FixedZone("", -90*60), time.FixedZone("", -(4*3600 + 56*60 + 2)),
	time.FixedZone("", 24*3600-1), time.FixedZone("", 1-24*3600), time.FixedZone("", 24*3600-60), time.FixedZone("", 60-24*3600),
	time.FixedZone("", 14*3600), time.FixedZone("", -12*3600), time.FixedZone("", 10*3600), time.FixedZone("", -10*3600),
}

// oddZones have offsets of more than a day, which RFC 3339 cannot represent.
var oddZones = []*time.Location{
	time.FixedZone("", 24*3600), time.FixedZone("", -24*3600), time.FixedZone("", 25*3600), time.FixedZone("", -99*3600),
	time.FixedZone("", 99*3600+3599), time.FixedZone("", 100*3600), time.FixedZone("", -100*3600), time.FixedZone("", 1000*3600), time.FixedZone("", math.MaxInt32),
}

func (c *choices) time() time.Time {
	if c.oneIn(20) {
		return pick(c, []time.Time{{}, time.Time{}.In(zones[4]), time.Now(), time.Unix(0, 0), time.Unix(0, 0).UTC()})
	}
	year := 1 + c.n(9999)
	if c.oneIn(100) {
		year = pick(c, []int{-10000, -999, -1, 10000, 10001, 99999, 123456})
	} else if c.oneIn(10) {
		year = pick(c, []int{0, 1, 2, 9, 10, 99, 100, 999, 1000, 1582, 1969, 1970, 2024, 9998, 9999})
	}
	nano := pick(c, []int{0, 0, 1, 10, 999, 1000, 100_000, 123_000, 1_000_000, 120_000_000, 123_456_789, 500_000_000, 999_999_999})
	if c.oneIn(5) {
		nano = int(c.uint64() % 1e9)
	}
	zone := pick(c, zones)
	if c.oneIn(100) {
		zone = pick(c, oddZones)
	}
	return time.Date(year, time.Month(1+c.n(12)), 1+c.n(31), c.n(24), c.n(60), c.n(60), nano, zone)
}
