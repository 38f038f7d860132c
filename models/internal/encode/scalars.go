package encode

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"
)

var (
	timeType        = reflect.TypeFor[time.Time]()
	timePointerType = reflect.TypeFor[*time.Time]()
	numberType      = reflect.TypeFor[json.Number]()
)

func writeBool(_ *state, dst []byte, v reflect.Value) []byte {
	return strconv.AppendBool(dst, v.Bool())
}

func writeInt(_ *state, dst []byte, v reflect.Value) []byte {
	return strconv.AppendInt(dst, v.Int(), 10)
}

func writeUint(_ *state, dst []byte, v reflect.Value) []byte {
	return strconv.AppendUint(dst, v.Uint(), 10)
}

func writeFloat32(s *state, dst []byte, v reflect.Value) []byte {
	return appendFloat32(s, dst, float32(v.Float()))
}

func writeFloat64(s *state, dst []byte, v reflect.Value) []byte {
	return appendFloat64(s, dst, v.Float())
}

func writeString(_ *state, dst []byte, v reflect.Value) []byte {
	return appendString(dst, v.String())
}

// writeTime writes what MarshalJSON of a time does, which is an error for years
// and offsets that RFC 3339 does not know.
func writeTime(s *state, dst []byte, v reflect.Value) []byte {
	t, ok := reflect.TypeAssert[time.Time](v)
	if !ok {
		s.fail()
		return dst
	}
	return appendTime(s, dst, t)
}

func appendTime(s *state, dst []byte, t time.Time) []byte {
	out, err := t.AppendText(append(dst, '"'))
	if err != nil {
		s.fail()
		return dst
	}
	return append(out, '"')
}

func appendFloat64(s *state, dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if !(abs <= math.MaxFloat64) {
		s.fail()
		return dst
	}
	if abs < 1e9 {
		if n := uint64(abs*millionths + 0.5); float64(n)/millionths == abs {
			return appendMillionths(dst, n, math.Signbit(f))
		}
	}
	if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return shorten(strconv.AppendFloat(dst, f, 'e', -1, 64))
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

const millionths = 1e6

// appendMillionths appends n/1e6. Prices, ratings and coordinates seldom have
// more than six decimals, and this takes a fraction of the time of finding the
// shortest decimal for any float: with at most 15 digits there is only one that
// the float can come from, so it is the shortest.
func appendMillionths(dst []byte, n uint64, negative bool) []byte {
	if negative {
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, n/millionths, 10)
	rest := n % millionths
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := uint64(millionths / 10); rest > 0; unit /= 10 {
		dst = append(dst, '0'+byte(rest/unit))
		rest %= unit
	}
	return dst
}

// shorten writes e-7 instead of e-07.
func shorten(b []byte) []byte {
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1]
		return b[:n-1]
	}
	return b
}

func writeNumber(s *state, dst []byte, v reflect.Value) []byte {
	return appendNumber(s, dst, v.String())
}

// appendNumber writes a json.Number as it is, the empty one as 0.
func appendNumber(s *state, dst []byte, number string) []byte {
	if number == "" {
		return append(dst, '0')
	}
	start := len(dst)
	dst = append(dst, number...)
	if c := number[0]; c != '-' && (c < '0' || c > '9') || number[len(number)-1] <= ' ' || !json.Valid(dst[start:]) {
		s.fail()
	}
	return dst
}
