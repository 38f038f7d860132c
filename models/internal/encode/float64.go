package encode

import (
	"math"
	"math/bits"
)

// appendFloat64 appends the shortest decimal that identifies f among all float64 values, in the notation of
// encoding/json. If two are equally short, it appends the nearer.
func appendFloat64(s *state, dst []byte, f float64) []byte {
	b := math.Float64bits(f)
	fraction, exponent := b&(1<<52-1), int(b>>52&0x7ff)
	switch {
	case exponent == 0x7ff && (fraction != 0 || !s.document): // NaN, or an infinity outside of a document
		s.fail()
		return dst
	case f > math.MaxFloat64:
		return append(dst, `"INF"`...)
	case f < -math.MaxFloat64:
		return append(dst, `"-INF"`...)
	}
	if b>>63 != 0 {
		dst = append(dst, '-')
		f = -f
	}
	if f < 1e9 {
		if n := uint64(f*millionths + 0.5); float64(n)/millionths == f {
			return appendMillionths(dst, n)
		}
	}
	digits, power := shortest64(fraction, exponent)
	return appendDecimal(dst, digits, power)
}

// shortest64 is shortest32 with twice the bits.
func shortest64(fraction uint64, exponent int) (digits uint64, power int) {
	c, q := fraction, 1-1075
	if exponent != 0 {
		c, q = 1<<52|fraction, exponent-1075
		if q <= 0 && q > -53 && c&(1<<-q-1) == 0 {
			return c >> -q, 0
		}
	}
	closer := fraction == 0 && exponent > 1
	low, middle, high := 4*c-2, 4*c, 4*c+2
	k := floorLog10(q)
	if closer {
		low, k = 4*c-1, floorLog10ThreeQuarters(q)
	}
	shift := q + floorLog2Pow10(-k) + 1
	g := &powersOfTen[-k-minPower]
	low, middle, high = scale64(g, low<<shift), scale64(g, middle<<shift), scale64(g, high<<shift)
	if c%2 != 0 {
		low++
		high--
	}
	n := middle / 4
	if tens := n / 10; n >= 10 {
		below, above := low <= 40*tens, 40*tens+40 <= high
		if below != above {
			if above {
				tens++
			}
			return tens, k + 1
		}
	}
	below, above := low <= 4*n, 4*n+4 <= high
	if below == above {
		half := 4*n + 2
		above = middle > half || middle == half && n%2 != 0
	}
	if above {
		n++
	}
	return n, k
}

// scale64 returns g×x/2^128, made odd if it is not exact.
func scale64(g *[2]uint64, x uint64) uint64 {
	upper, _ := bits.Mul64(g[1], x)
	high, low := bits.Mul64(g[0], x)
	low, carry := bits.Add64(low, upper, 0)
	high += carry
	if low > 1 {
		high |= 1
	}
	return high
}
