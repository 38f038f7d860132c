package retry

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns how long the service asks to wait, from the headers
// retry-after-ms and x-ms-retry-after-ms (milliseconds) and Retry-After
// (seconds or an HTTP date), in that order: the precise forms first, as the
// Azure SDKs read them. ok is false if there is none that can be understood. A
// date in the past is zero, and an absurdly large number the longest Duration.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	for _, name := range []string{"retry-after-ms", "x-ms-retry-after-ms"} {
		if wait, ok := number(h.Get(name), time.Millisecond); ok {
			return wait, true
		}
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if wait, ok := number(value, time.Second); ok {
		return wait, true
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(date.Sub(now), 0), true
	}
	return 0, false
}

// number reads a non-negative count of units, with a fraction at the most.
func number(s string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if math.IsNaN(n) || n < 0 || err != nil && !math.IsInf(n, 1) {
		return 0, false
	}
	if n >= float64(math.MaxInt64)/float64(unit) {
		return math.MaxInt64, true
	}
	return time.Duration(n * float64(unit)), true
}

// Hinted is implemented by an error that knows how long the service asked to
// wait. *search.Error is one.
type Hinted interface {
	RetryAfter() (time.Duration, bool)
}
