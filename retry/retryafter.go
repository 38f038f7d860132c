package retry

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns how long the service asks to wait, from the headers
// retry-after-ms and x-ms-retry-after-ms (milliseconds) and Retry-After
// (seconds, or an HTTP date of RFC 9110, counted from the Date of the same reply,
// whose clock it is of, or from now if there is none), in that order: the precise
// forms first, as the Azure SDKs read them. A header that cannot be
// understood is passed over; ok is false, and wait zero, if there is no other.
// Numbers may have a fraction, but neither sign nor exponent. wait is never
// negative: a date in the past is zero, and what is too large for a Duration
// is the longest one.
//
// Take it for a floor, never for a ceiling: wait as long as you would without
// it, or longer if it says so, as the buffered sender and its breaker do. A
// service in trouble that answers "Retry-After: 0", or with a date that is past
// when it is sent, would otherwise be asked again without a pause,
// by everybody.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} { // a canonical name is looked up faster
		if wait, ok := number(h.Get(name), time.Millisecond); ok {
			return wait, true
		}
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0, false
	}
	if wait, ok := number(value, time.Second); ok {
		return wait, true
	}
	if date, err := http.ParseTime(value); err == nil {
		if said, err := http.ParseTime(h.Get("Date")); err == nil {
			now = said
		}
		return max(date.Sub(now), 0), true
	}
	return 0, false
}

// number reads a decimal count of units. ParseFloat alone would take "inf" and
// stop a sender for ever.
func number(s string, unit time.Duration) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	// Compared before the conversion, whose result differs from machine to
	// machine, and is negative on some, for 2^63 and above.
	wait := math.Round(n * float64(unit))
	if wait >= math.MaxInt64 {
		return math.MaxInt64, true
	}
	return time.Duration(wait), true
}

// RetryAfterError is implemented by an error that knows how long the service asked to
// wait. *search.Error is one.
type RetryAfterError interface {
	RetryAfter() (time.Duration, bool)
}
