package encode

import (
	"encoding/json"
	"reflect"
	"strconv"
	"time"
)

var (
	timeType        = reflect.TypeFor[time.Time]()
	timePointerType = reflect.TypeFor[*time.Time]()
	numberType      = reflect.TypeFor[json.Number]()
	rawType         = reflect.TypeFor[json.RawMessage]()
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

func writeString(s *state, dst []byte, v reflect.Value) []byte {
	return appendString(s, dst, v.String())
}

// writeTime writes a time like its MarshalJSON, which fails for years and offsets that RFC 3339 does not allow.
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

const millionths = 1e6

// appendMillionths appends n/1e6. Prices, ratings and coordinates seldom have more than six decimals, and this is
// much faster than finding the shortest decimal of any float. With at most 15 digits, the decimal is unique for the
// float, so it is the shortest.
func appendMillionths(dst []byte, n uint64) []byte {
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

func writeNumber(s *state, dst []byte, v reflect.Value) []byte {
	return appendNumber(s, dst, v.String())
}

// appendNumber writes a json.Number unchanged, or 0 for the empty one.
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
