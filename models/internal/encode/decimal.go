package encode

import "strconv"

// Integer approximations of logarithms, exact in the range that the two algorithms use.

func floorLog2Pow10(e int) int          { return e * 1741647 >> 19 }
func floorLog10(e int) int              { return e * 1262611 >> 22 }          // of 2^e
func floorLog10ThreeQuarters(e int) int { return (e*1262611 - 524031) >> 22 } // of 3/4 × 2^e

// appendDecimal appends n×10^power in the notation of encoding/json: with an exponent if it is less than 1e-6, or
// 1e21 or more.
func appendDecimal(dst []byte, n uint64, power int) []byte {
	var buffer [20]byte
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
	point := len(digits) + power // number of digits before the point
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
