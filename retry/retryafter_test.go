package retry_test

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/retry"
)

// now has a fraction of a second, which HTTP dates lack.
var now = time.Date(2026, time.July, 29, 12, 0, 0, 250_000_000, time.UTC)

const (
	ms      = "retry-after-ms"
	xMS     = "x-ms-retry-after-ms"
	seconds = "Retry-After"
)

func header(pairs ...string) http.Header {
	h := make(http.Header)
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestRetryAfterReadsEveryForm(t *testing.T) {
	for _, c := range []struct {
		name string
		h    http.Header
		want time.Duration
	}{
		{"milliseconds", header(ms, "1500"), 1500 * time.Millisecond},
		{"Microsoft's milliseconds", header(xMS, "1500"), 1500 * time.Millisecond},
		{"seconds", header(seconds, "120"), 2 * time.Minute},
		{"zero seconds", header(seconds, "0"), 0},
		{"zero milliseconds", header(ms, "0"), 0},
		{"a fraction of seconds", header(seconds, "0.5"), 500 * time.Millisecond},
		{"a fraction of milliseconds", header(ms, "2.25"), 2250 * time.Microsecond},
		{"a fraction that float64 arithmetic makes 8.199999999", header(seconds, "8.2"), 8200 * time.Millisecond},
		{"a fraction without its zero", header(seconds, ".5"), 500 * time.Millisecond},
		{"a fraction below a nanosecond", header(ms, "0.0000004"), 0},
		{"leading zeros", header(seconds, "007"), 7 * time.Second},
		{"space around the number", header(seconds, " \t7 "), 7 * time.Second},
		{"space around milliseconds", header(xMS, " 7\t"), 7 * time.Millisecond},
		{"a date", header(seconds, "Wed, 29 Jul 2026 12:00:30 GMT"), 29750 * time.Millisecond},
		{"space around a date", header(seconds, "  Wed, 29 Jul 2026 12:00:30 GMT "), 29750 * time.Millisecond},
		{"a date in the form of RFC 850", header(seconds, "Wednesday, 29-Jul-26 12:00:30 GMT"), 29750 * time.Millisecond},
		{"a date in the form of C", header(seconds, "Wed Jul 29 12:00:30 2026"), 29750 * time.Millisecond},
		{"this second, which has begun", header(seconds, "Wed, 29 Jul 2026 12:00:00 GMT"), 0},
		{"a date long past", header(seconds, "Mon, 01 Jan 1601 00:00:00 GMT"), 0},
		{"a date past all durations", header(seconds, "Fri, 31 Dec 9999 23:59:59 GMT"), longest},
		{"the first of two", header(seconds, "1", seconds, "2"), time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			wait, ok := retry.RetryAfter(c.h, now)
			assert.True(t, ok)
			assert.Equal(t, c.want, wait)
		})
	}
}

func TestRetryAfterPrefersThePreciseForms(t *testing.T) {
	for _, c := range []struct {
		name string
		h    http.Header
		want time.Duration
	}{
		{"of all three, retry-after-ms", header(seconds, "1", xMS, "2", ms, "3"), 3 * time.Millisecond},
		{"of two, x-ms-retry-after-ms", header(seconds, "1", xMS, "2"), 2 * time.Millisecond},
		{"zero is an answer", header(seconds, "1", ms, "0"), 0},
		{"invalid values are skipped", header(seconds, "1", xMS, "soon", ms, "-3"), time.Second},
		{"one bad, one good", header(xMS, "2", ms, ""), 2 * time.Millisecond},
		{"a date is not a number of milliseconds", header(ms, "Wed, 29 Jul 2026 12:00:30 GMT", seconds, "4"), 4 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			wait, ok := retry.RetryAfter(c.h, now)
			assert.True(t, ok)
			assert.Equal(t, c.want, wait)
		})
	}
}

func TestRetryAfterPassesOverWhatItCannotUnderstand(t *testing.T) {
	none := []string{
		"", " ", "soon", "-1", "-0", "+1", "-0.5", "1e3", "1E9", "0x10", "0x1p4", "1_000", "1,5", "1;2", "5, 10", "1 2", "1.2.3", ".", "..",
		"inf", "Inf", "+Inf", "infinity", "-inf", "NaN", "nan", "10s", "PT10S", "٣", "\x00", "tomorrow",
		"Wed, 29 Jul 2026 12:00:30 CEST", "2026-07-29T12:00:30Z", "Wed, 32 Jul 2026 12:00:30 GMT",
	}
	for _, value := range none {
		for _, name := range []string{ms, xMS, seconds} {
			wait, ok := retry.RetryAfter(header(name, value), now)
			assert.False(t, ok, "%s: %q", name, value)
			assert.Zero(t, wait, "%s: %q", name, value)
		}
	}
	for _, h := range []http.Header{nil, {}, header("Content-Type", "7")} {
		wait, ok := retry.RetryAfter(h, now)
		assert.False(t, ok)
		assert.Zero(t, wait)
	}
}

func TestRetryAfterBeyondTheLongestDurationIsTheLongest(t *testing.T) {
	for _, value := range []string{
		"9223372036854775807", "9223372036854775808", "18446744073709551616", "99999999999999999999999",
		"1" + strings.Repeat("0", 400), strings.Repeat("9", 5000) + ".9",
	} {
		for _, name := range []string{ms, xMS, seconds} {
			wait, ok := retry.RetryAfter(header(name, value), now)
			assert.True(t, ok)
			assert.Equal(t, longest, wait, "%s: %.40s", name, value)
		}
	}
}

// Around 2^63 nanoseconds a float64 is rounded by up to half a microsecond, which must not give a negative wait.
func TestRetryAfterRoundsNothingIntoAnOverflow(t *testing.T) {
	for name, unit := range map[string]time.Duration{ms: time.Millisecond, xMS: time.Millisecond, seconds: time.Second} {
		n := float64(math.MaxInt64) / float64(unit)
		for range 10 {
			n = math.Nextafter(n, math.Inf(1))
		}
		for range 20 {
			value := strconv.FormatFloat(n, 'f', -1, 64)
			wait, ok := retry.RetryAfter(header(name, value), now)
			require.True(t, ok)
			require.GreaterOrEqual(t, wait, longest-longest/1_000_000_000, "%s: %s", name, value)
			n = math.Nextafter(n, 0)
		}
	}
}

func TestRetryAfterOfAWholeNumberIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<22).Draw(t, "n")
		text := strings.Repeat(" ", rapid.IntRange(0, 2).Draw(t, "spaces")) + strconv.Itoa(n)
		for name, unit := range map[string]time.Duration{ms: time.Millisecond, xMS: time.Millisecond, seconds: time.Second} {
			if wait, ok := retry.RetryAfter(header(name, text), now); !ok || wait != time.Duration(n)*unit {
				t.Fatalf("%s: %q is %v, %v", name, text, wait, ok)
			}
		}
	})
}

func TestRetryAfterOfADateIsTheTimeUntilThen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ahead := time.Duration(rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, "seconds")) * time.Second
		date := now.Truncate(time.Second).Add(ahead)
		for _, layout := range []string{http.TimeFormat, time.ANSIC, strings.Replace(time.RFC850, "MST", "GMT", 1)} {
			wait, ok := retry.RetryAfter(header(seconds, date.Format(layout)), now)
			if want := max(date.Sub(now), 0); !ok || wait != want {
				t.Fatalf("%s is %v, %v instead of %v", date.Format(layout), wait, ok, want)
			}
		}
	})
}

func FuzzRetryAfterIsNeverNegative(f *testing.F) {
	for _, value := range []string{
		"", "0", "5", "-5", "1.5", "inf", "NaN", "1e3", " 7 ", "9223372036854775807", "9223372036.854775", "Wed, 29 Jul 2026 12:00:30 GMT",
		"Wednesday, 29-Jul-26 12:00:30 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT",
	} {
		f.Add(value, "", "", now.Unix())
		f.Add("", value, "soon", int64(0))
		f.Add("-1", "x", value, int64(math.MaxInt32))
	}
	f.Fuzz(func(t *testing.T, a, b, c string, unix int64) {
		at := time.Unix(unix, 0)
		wait, ok := retry.RetryAfter(header(ms, a, xMS, b, seconds, c), at)
		if wait < 0 || !ok && wait != 0 {
			t.Fatalf("%q, %q, %q at %v: %v, %v", a, b, c, at, wait, ok)
		}
		// The first valid header takes precedence over all later ones.
		for i, alone := range []http.Header{header(ms, a), header(xMS, b), header(seconds, c)} {
			first, understood := retry.RetryAfter(alone, at)
			if !understood {
				continue
			}
			if !ok || first != wait {
				t.Fatalf("%q, %q, %q at %v: %v, %v, but header %d says %v", a, b, c, at, wait, ok, i, first)
			}
			return
		}
		if ok {
			t.Fatalf("%q, %q, %q at %v: %v out of nowhere", a, b, c, at, wait)
		}
	})
}

// hinted is an error with a wait, like *search.Error.
type hinted struct{ replyError }

func (h hinted) RetryAfter() (time.Duration, bool) { return 7 * time.Second, true }

func TestAnErrorCanBeBothAReplyAndAHint(t *testing.T) {
	err := fmt.Errorf("index hotels: %w", hinted{503})
	decision, status := retry.ForError(err)
	assert.Equal(t, holdUnsure, decision)
	assert.Equal(t, 503, status)
	var h retry.RetryAfterError
	require.ErrorAs(t, err, &h)
	wait, ok := h.RetryAfter()
	assert.True(t, ok)
	assert.Equal(t, 7*time.Second, wait)
}
