package stored

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTimesReadBackToTheMillisecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(MinDateTime, MaxDateTime).Draw(t, "ms")
		offset := rapid.IntRange(-14*60, 14*60).Draw(t, "offset")
		zone := time.FixedZone("", offset*60)
		text := time.UnixMilli(ms).In(zone).Format("2006-01-02T15:04:05.999Z07:00")
		if y := time.UnixMilli(ms).In(zone).Year(); y < 1 || y > 9999 {
			return
		}
		back, ok := ParseDateTime([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, ms, back, text)
		out := string(AppendDateTime(nil, ms))
		again, ok := ParseDateTime([]byte(out))
		require.True(t, ok, out)
		require.Equal(t, ms, again)
	})
}

func FuzzParseDateTime(f *testing.F) {
	for _, s := range []string{"2024-02-29T12:34:56.789+05:30", "0001-01-01T00:00:00Z", "2010-01-01T00:00Z", "9999-12-31T23:59:59.9999999-00:00", "2010-01-01t00:00:00z", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ms, ok := ParseDateTime([]byte(s))
		if !ok {
			return
		}
		// Accepted input must parse to the same time with package time.
		text := strings.ToUpper(s)
		if text[16] != ':' {
			text = text[:16] + ":00" + text[16:]
		}
		want, err := time.Parse("2006-01-02T15:04:05.999999999Z07:00", text)
		if err != nil && !strings.Contains(err.Error(), "out of range") {
			t.Fatalf("%q was accepted: %v", s, err)
		}
		if err == nil && want.UnixMilli() != ms {
			t.Fatalf("%q: %d, want %d", s, ms, want.UnixMilli())
		}
	})
}
