package stored

import "time"

// ParseDateTime parses an ISO 8601 time with a mandatory offset to milliseconds since 1970 in UTC. It truncates
// digits beyond milliseconds. The year must be 1 to 9999, in UTC, too.
func ParseDateTime(s []byte) (ms int64, ok bool) {
	// 2006-01-02T15:04
	if len(s) < len("2006-01-02T15:04Z") || s[4] != '-' || s[7] != '-' || s[10] != 'T' && s[10] != 't' || s[13] != ':' {
		return 0, false
	}
	bad := false
	number := func(from, to int) int {
		n := 0
		for _, c := range s[from:to] {
			bad = bad || c < '0' || c > '9'
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute := number(11, 13), number(14, 16)
	var second, milli int
	rest := s[16:]
	if rest[0] == ':' {
		if len(s) < len("2006-01-02T15:04:05Z") {
			return 0, false
		}
		second = number(17, 19)
		rest = s[19:]
		if rest[0] == '.' {
			i := 1
			for i < len(rest) && '0' <= rest[i] && rest[i] <= '9' {
				i++
			}
			for d, scale := 1, 100; d < i && scale > 0; d, scale = d+1, scale/10 {
				milli += int(rest[d]-'0') * scale
			}
			if i == 1 || i == len(rest) {
				return 0, false
			}
			rest = rest[i:]
		}
	}
	offset := 0
	switch {
	case len(rest) == 1 && (rest[0] == 'Z' || rest[0] == 'z'):
	case len(rest) == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':':
		at := len(s) - 6
		h, m := number(at+1, at+3), number(at+4, at+6)
		if offset = h*60 + m; m > 59 || offset > 14*60 {
			return 0, false
		}
		if rest[0] == '-' {
			offset = -offset
		}
	default:
		return 0, false
	}
	if bad || year < 1 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	date := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if date.Day() != day { // such as February 30
		return 0, false
	}
	ms = date.UnixMilli() + int64(milli) - int64(offset)*60_000
	return ms, ms >= MinDateTime && ms <= MaxDateTime
}

// The first and the last instant of an Edm.DateTimeOffset.
var (
	MinDateTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	MaxDateTime = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
)

// AppendDateTime appends ms in the service's form: UTC, with a fraction only if it is not zero, without trailing
// zeros.
func AppendDateTime(dst []byte, ms int64) []byte {
	dst = time.UnixMilli(ms).UTC().AppendFormat(dst, "2006-01-02T15:04:05.999")
	return append(dst, 'Z')
}
