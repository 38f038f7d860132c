package retry

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns how long the service asks to wait, from the first valid one of the headers retry-after-ms and
// x-ms-retry-after-ms (milliseconds) and Retry-After (seconds, or an HTTP date of RFC 9110). A date is relative to the
// Date of the same reply, because both have the same clock, or to now without one. Invalid headers are ignored; without
// a valid one ok is false and wait is 0. Numbers may have a fraction, but no sign or exponent. wait is never negative:
// a date in the past gives 0, and a value too large for a Duration gives the longest one.
//
// Use the result as a lower bound only: wait as long as without it, or longer if it is longer, as the buffered sender
// and its breaker do. Otherwise all clients of a failing service that replies "Retry-After: 0", or with a date in the
// past, would retry without a delay.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} { // lookup is faster with a canonical name
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

// number parses a decimal count of units. ParseFloat alone would accept "inf" and stop a sender forever.
func number(s string, unit time.Duration) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	// Compare before the conversion: for 2^63 and above its result depends on the machine, and may be negative.
	wait := math.Round(n * float64(unit))
	if wait >= math.MaxInt64 {
		return math.MaxInt64, true
	}
	return time.Duration(wait), true
}

// RetryAfterError is an error with the delay that the service asked for. *search.Error is one.
type RetryAfterError interface {
	RetryAfter() (time.Duration, bool)
}
