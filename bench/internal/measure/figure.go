package measure

import (
	"fmt"
	"math"
)

// Known returns nil for NaN and infinity.
func Known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Figure formats a value, a dash for nil.
func Figure(v *float64, decimals int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", decimals, *v)
}

// Megabytes formats bytes in megabytes, a dash for 0 (unknown).
func Megabytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", float64(n)/1e6)
}
