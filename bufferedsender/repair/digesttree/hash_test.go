package digesttree

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheHashIsPartOfTheFormat(t *testing.T) {
	for key, want := range map[string]uint64{
		"":                                     0xa187f56b6c4c83a4,
		"a":                                    0xac87e26dd91b9e99,
		"hotel-1":                              0x32cd1b5e66460c7b,
		"12345678":                             0xe38dc42144e9f12d,
		"00000000-0000-4000-8000-000000000001": 0xefef53f0724b68db,
		"ключ":                                 0x482dad5701a1c0fe,
	} {
		require.Equal(t, want, hashOf(key), key)
		require.Equal(t, want, hashOf([]byte(key)), key)
	}
	require.Equal(t, uint64(0x7e44d4d7b8926222), digestOf(hashOf("hotel-1"), 42))
}

func TestKeysThatLookAlikeSpreadEvenly(t *testing.T) {
	s := shape{10}
	for _, form := range []string{"%d", "%08d", "hotel-%d", "%d-suffix-that-is-long", "prefix/that/is/long/%06x", "00000000-0000-4000-8000-%012x"} {
		n := make([]int, s.segments())
		seen := map[uint64]bool{}
		for i := range 100_000 {
			h := hashOf(fmt.Sprintf(form, i))
			n[s.segment(h)]++
			seen[h] = true
		}
		require.Len(t, seen, 100_000, form)
		chi := 0.0
		mean := 100_000 / float64(len(n))
		for _, count := range n {
			chi += (float64(count) - mean) * (float64(count) - mean) / mean
		}
		free := float64(len(n) - 1)
		require.Less(t, math.Abs(chi-free), 6*math.Sqrt(2*free), form)
	}
}

func TestEachBitOfAKeyAndAVersionChangesHalfOfTheDigest(t *testing.T) {
	sum, n := 0, 0
	for i := range 1000 {
		key := []byte(fmt.Sprintf("hotel-%07d", i))
		before := digestOf(hashOf(key), int64(i))
		for bit := range 64 {
			changed := bits.OnesCount64(before ^ digestOf(hashOf(key), int64(i)^1<<bit))
			require.Greater(t, changed, 5)
			sum, n = sum+changed, n+1
		}
		for bit := range 8 * len(key) {
			other := append([]byte{}, key...)
			other[bit/8] ^= 1 << (bit % 8)
			changed := bits.OnesCount64(before ^ digestOf(hashOf(other), int64(i)))
			require.Greater(t, changed, 5)
			sum, n = sum+changed, n+1
		}
	}
	require.InDelta(t, 32, float64(sum)/float64(n), 0.1)
}

func TestExchangedVersionsAndAMovedByteDoNotCancelEachOther(t *testing.T) {
	d := func(key string, version int64) uint64 { return digestOf(hashOf(key), version) }
	require.NotEqual(t, d("a", 1)+d("b", 2), d("a", 2)+d("b", 1))
	require.NotEqual(t, d("a", 1)+d("b", 2), d("a", 0)+d("b", 3))
	require.NotEqual(t, hashOf("a"), hashOf("a\x00"))
	require.NotEqual(t, hashOf("12345678"), hashOf("12345678\x00"))
	require.NotEqual(t, hashOf(""), hashOf("\x00"))
}
