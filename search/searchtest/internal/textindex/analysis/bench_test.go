package analysis

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hotelText is about 1 kB of typical field text.
var hotelText = strings.Repeat(`Best hotel in town if you like luxury hotels. They have an amazing infinity pool, a spa, and a really helpful concierge.
The location is perfect: right downtown, close to all the tourist attractions. We highly recommend this hotel's 24-hour room service (from $12.50). `, 4)[:1024]

func BenchmarkAnalyze(b *testing.B) {
	c, err := New(Definition{})
	require.NoError(b, err)
	for _, name := range []string{"standard.lucene", "en.lucene", "fr.lucene", "simple", "whitespace"} {
		b.Run(name, func(b *testing.B) {
			a, err := c.Analyzer(name)
			require.NoError(b, err)
			b.ReportAllocs()
			b.SetBytes(int64(len(hotelText)))
			tokens := 0
			for b.Loop() {
				tokens += len(a.Analyze(hotelText))
			}
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
	b.Run("standard.lucene Russian", func(b *testing.B) {
		a, err := c.Analyzer("standard.lucene")
		require.NoError(b, err)
		text := strings.Repeat("Лучший отель в городе для любителей роскоши. ", 12)
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			a.Analyze(text)
		}
	})
}
