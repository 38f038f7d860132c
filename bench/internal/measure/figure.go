package measure

import (
	"fmt"
	"math"
)

// Known returns nil for what is not a number.
func Known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Figure writes what is known, and a dash for what is not.
func Figure(v *float64, decimals int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", decimals, *v)
}

// Megabytes writes a number of bytes, and a dash for 0, which is not known.
func Megabytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", float64(n)/1e6)
}
