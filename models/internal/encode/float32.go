package encode

import (
	"math"
	"math/bits"
	"strconv"
)

// appendFloat32 appends the shortest decimal that stands for f and no other
// float32, in the notation of encoding/json.
//
// Vectors are most of what is sent to a search service, so this is most of what
// encoding them costs. It takes a third of the time of strconv, by the algorithm of
// Raffaello Giulietti, "The Schubfach way to render doubles" (2020), with the
// bounds for 32 bits. A test compares it with strconv for all floats there are.
func appendFloat32(s *state, dst []byte, f float32) []byte {
	b := math.Float32bits(f)
	fraction, exponent := b&(1<<23-1), int(b>>23&0xff)
	if exponent == 0xff { // an infinity, or not a number
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
	return appendDecimal(dst, digits, power)
}

// evenBetween is the one power of two that lies exactly between two shortest
// decimals, 0.00024414062 and 0.00024414063. Either would do; which one it is to be,
// encoding/json shall say.
const evenBetween = 1.0 / (1 << 12)

// shortest32 returns the decimal digits×10^power for the float with these bits,
// which is not zero.
func shortest32(fraction uint32, exponent int) (digits uint32, power int) {
	// The float is c×2^q.
	c, q := fraction, 1-150
	if exponent != 0 {
		c, q = 1<<23|fraction, exponent-150
		if q <= 0 && q > -24 && c&(1<<-q-1) == 0 {
			return c >> -q, 0 // a small integer
		}
	}
	// What is nearer to it than to any other float lies between the halves of the
	// way to its neighbours; the one below a power of two is closer. Everything is
	// counted in quarters.
	closer := fraction == 0 && exponent > 1
	low, middle, high := 4*c-2, 4*c, 4*c+2
	k := floorLog10(q)
	if closer {
		low, k = 4*c-1, floorLog10ThreeQuarters(q)
	}
	// Divided by 10^k that interval is at least one and less than ten wide.
	shift := q + floorLog2Pow10(-k) + 1
	g := powersOfTen32[-k-minPower32]
	low, middle, high = scale32(g, low<<shift), scale32(g, middle<<shift), scale32(g, high<<shift)
	if c%2 != 0 { // its ends do not belong to it: they are read as the neighbour, which is even
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
	if below == above { // both are in, so the nearer one
		half := 4*n + 2
		above = middle > half || middle == half && n%2 != 0
	}
	if above {
		n++
	}
	return n, k
}

// scale32 returns g×x/2^64, odd if that is not exact.
func scale32(g uint64, x uint32) uint32 {
	high, low := bits.Mul64(g, uint64(x))
	y := uint32(high)
	if low>>32 > 1 {
		y |= 1
	}
	return y
}

func floorLog2Pow10(e int) int          { return e * 1741647 >> 19 }
func floorLog10(e int) int              { return e * 1262611 >> 22 }          // of 2^e
func floorLog10ThreeQuarters(e int) int { return (e*1262611 - 524031) >> 22 } // of 3/4 × 2^e

// appendDecimal appends n×10^power as encoding/json does: with an exponent if it
// is less than 1e-6 or not less than 1e21. n is less than 10^10.
func appendDecimal(dst []byte, n uint32, power int) []byte {
	var buffer [10]byte
	start := len(buffer)
	for ; n >= 100; n /= 100 {
		start -= 2
		pair := n % 100 * 2
		buffer[start], buffer[start+1] = pairs[pair], pairs[pair+1]
	}
	if n >= 10 {
		start -= 2
		buffer[start], buffer[start+1] = pairs[2*n], pairs[2*n+1]
	} else {
		start--
		buffer[start] = '0' + byte(n)
	}
	end := len(buffer)
	for buffer[end-1] == '0' {
		end--
		power++
	}
	digits := buffer[start:end]
	point := len(digits) + power // how many digits are before it
	switch {
	case point > 21 || point < -5:
		return appendExponent(dst, digits, point-1)
	case point <= 0:
		dst = append(dst, "0.00000"[:2-point]...)
		return append(dst, digits...)
	case power >= 0:
		dst = append(dst, digits...)
		return append(dst, "00000000000000000000"[:power]...)
	}
	dst = append(dst, digits[:point]...)
	dst = append(dst, '.')
	return append(dst, digits[point:]...)
}

func appendExponent(dst, digits []byte, exponent int) []byte {
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	dst = append(dst, 'e')
	if exponent > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(exponent), 10)
}

const pairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"
