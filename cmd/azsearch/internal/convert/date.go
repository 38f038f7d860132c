package convert

import (
	"bytes"
	"net/http"
	"time"
)

// spellings are the accepted forms of a time: ISO 8601 and what programs often write. A time without an offset is
// UTC. Ambiguous forms such as 01/02/2024 are not among them.
var spellings = []string{
	"2006-01-02", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04",
	"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999-0700", "2006-01-02 15:04:05.999999999-0700",
	"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 UTC", "2006-01-02 15:04:05.999999999 -0700 MST",
	"2006-01-02 15:04:05.999999999-07", "2006-01-02T15:04Z07:00", "20060102T150405Z", http.TimeFormat,
}

const mostFraction = 7 // .NET keeps seven digits

// appendDate appends a time: unchanged if the service accepts its form, otherwise converted to UTC.
func appendDate(dst []byte, f *field, s []byte, at int) ([]byte, *Problem) {
	if len(s) < 100 {
		t, err := time.Parse(time.RFC3339Nano, string(s))
		// Go also accepts an hour of one digit, and a comma before the fraction.
		exact := err == nil && s[len("2006-01-02T15")] == ':' && bytes.IndexByte(s, ',') < 0
		if exact && t.Nanosecond()%100 == 0 && t.Year() > 0 && len(s) <= len("2006-01-02T15:04:05.+07:00")+mostFraction {
			return append(append(append(dst, '"'), s...), '"'), nil
		}
		for i := 0; err != nil && i < len(spellings); i++ {
			t, err = time.Parse(spellings[i], string(s))
		}
		if err == nil && t.Year() > 0 && t.UTC().Year() < 10_000 {
			return append(t.UTC().Truncate(100).AppendFormat(append(dst, '"'), time.RFC3339Nano), '"'), nil
		}
	}
	return dst, f.misfit(s, at)
}
