package measure

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSpread(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   Spread
	}{
		"none":           {nil, Spread{}},
		"one":            {[]float64{3}, Spread{3, 3, 3}},
		"an odd number":  {[]float64{9, 1, 5}, Spread{5, 1, 9}},
		"an even number": {[]float64{9, 1, 5, 6}, Spread{5.5, 1, 9}},
		"equal values":   {[]float64{2, 2, 2}, Spread{2, 2, 2}},
	} {
		assert.Equal(t, c.want, SpreadOf(c.values), name)
	}
	values := []float64{3, 1, 2}
	SpreadOf(values)
	assert.Equal(t, []float64{3, 1, 2}, values, "the values stay as they are")
	assert.True(t, math.IsNaN(Ratio(1, 0)))
}
