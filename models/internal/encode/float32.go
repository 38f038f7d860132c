package encode

import (
	"math"
	"math/bits"
	"strconv"
)

// appendFloat32 appends the shortest decimal that identifies f among all float32 values, in the notation of
// encoding/json.
//
// Vectors are most of the data that is sent to a search service, so this function dominates the time of encoding. It
// takes half the time of strconv, by the algorithm of Raffaello Giulietti, "The Schubfach way to render doubles"
// (2020), with the bounds for 32 bits. TestFloat32BitPatterns compares it with encoding/json, on request for all
// floats.
func appendFloat32(s *state, dst []byte, f float32) []byte {
	b := math.Float32bits(f)
	fraction, exponent := b&(1<<23-1), int(b>>23&0xff)
	if exponent == 0xff { // infinity or NaN
		s.fail()
		return dst
	}
	if f == evenBetween || f == -evenBetween {
		return strconv.AppendFloat(dst, float64(f), 'f', -1, 32)
	}
	if b>>31 != 0 {
		dst = append(dst, '-')
	}
	if fraction == 0 && exponent == 0 {
		return append(dst, '0')
	}
	digits, power := shortest32(fraction, exponent)
	return appendDecimal(dst, uint64(digits), power)
}

// evenBetween is the only power of two exactly between two shortest decimals, 0.00024414062 and 0.00024414063. Both
// are correct, so encoding/json decides.
const evenBetween = 1.0 / (1 << 12)

// shortest32 returns the decimal digits×10^power for the float with these bits, which is not zero.
func shortest32(fraction uint32, exponent int) (digits uint32, power int) {
	// The float is c×2^q.
	c, q := fraction, 1-150
	if exponent != 0 {
		c, q = 1<<23|fraction, exponent-150
		if q <= 0 && q > -24 && c&(1<<-q-1) == 0 {
			return c >> -q, 0 // a small integer
		}
	}
	// The decimals that round to this float lie between the midpoints to its neighbours. The neighbour below a power of
	// two is closer. All values are multiplied by four.
	closer := fraction == 0 && exponent > 1
	low, middle, high := 4*c-2, 4*c, 4*c+2
	k := floorLog10(q)
	if closer {
		low, k = 4*c-1, floorLog10ThreeQuarters(q)
	}
	// Divided by 10^k, the width of that interval is at least one and less than ten.
	shift := q + floorLog2Pow10(-k) + 1
	g := power64(-k)
	low, middle, high = scale32(g, low<<shift), scale32(g, middle<<shift), scale32(g, high<<shift)
	if c%2 != 0 { // exclude the ends, which round to the even neighbour
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
	if below == above { // both are inside: choose the nearer one
		half := 4*n + 2
		above = middle > half || middle == half && n%2 != 0
	}
	if above {
		n++
	}
	return n, k
}

// scale32 returns g×x/2^64, made odd if it is not exact.
func scale32(g uint64, x uint32) uint32 {
	high, low := bits.Mul64(g, uint64(x))
	y := uint32(high)
	if low>>32 > 1 {
		y |= 1
	}
	return y
}
