package encode

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPowersOfTen(t *testing.T) {
	for i, p := range powersOfTen {
		both := new(big.Int).Lsh(new(big.Int).SetUint64(p[0]), 64)
		require.Equal(t, power(minPower+i, 128), both.Or(both, new(big.Int).SetUint64(p[1])), minPower+i)
		require.Equal(t, power(minPower+i, 64), new(big.Int).SetUint64(power64(minPower+i)), minPower+i)
	}
}

// power returns 10^k scaled by a power of two so that it has bits bits before the point, rounded up.
func power(k, bits int) *big.Int {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(k, -k))), nil)
	if k >= 0 && ten.BitLen() <= bits {
		return ten.Lsh(ten, uint(bits-ten.BitLen()))
	}
	n, d := ten, new(big.Int).Lsh(big.NewInt(1), uint(max(ten.BitLen()-bits, 0)))
	if k < 0 {
		n, d = new(big.Int).Lsh(big.NewInt(1), uint(ten.BitLen()+bits-1)), ten
	}
	n.Add(n, d)
	n.Sub(n, big.NewInt(1))
	return n.Div(n, d)
}

// The table covers every exponent that the algorithm looks up.
func TestPowersOfTenAreEnough(t *testing.T) {
	for q := 1 - 150; q <= 254-150; q++ {
		for _, k := range []int{floorLog10(q), floorLog10ThreeQuarters(q)} {
			require.Less(t, -k-minPower, len(powersOfTen))
			require.GreaterOrEqual(t, -k, minPower)
			shift := q + floorLog2Pow10(-k) + 1
			require.True(t, shift >= 1 && shift <= 4, shift)
		}
	}
	for q := 1 - 1075; q <= 2046-1075; q++ {
		for _, k := range []int{floorLog10(q), floorLog10ThreeQuarters(q)} {
			require.Less(t, -k-minPower, len(powersOfTen))
			require.GreaterOrEqual(t, -k, minPower)
			shift := q + floorLog2Pow10(-k) + 1
			require.True(t, shift >= 1 && shift <= 4, shift)
		}
	}
}
