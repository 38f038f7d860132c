package digesttree

import (
	"encoding/binary"
	"math/bits"
)

// The constants are odd and have no pattern. Other values would do, but these are part of the format.
const (
	seed  = 0x9e3779b97f4a7c15
	prime = 0xd6e8feb86659fd93
)

var le = binary.LittleEndian

// hashOf returns the hash of a key. It mixes in eight bytes at a time by a multiplication whose halves are folded, as
// wyhash does; FNV of the standard library takes four times as long. The hash is part of the format and must not
// change.
func hashOf[T string | []byte](key T) uint64 {
	h := seed ^ uint64(len(key))*prime
	for len(key) >= 8 {
		word := uint64(key[0]) | uint64(key[1])<<8 | uint64(key[2])<<16 | uint64(key[3])<<24 |
			uint64(key[4])<<32 | uint64(key[5])<<40 | uint64(key[6])<<48 | uint64(key[7])<<56
		h = folded(h^word, prime)
		key = key[8:]
	}
	var word uint64
	for i := range len(key) {
		word |= uint64(key[i]) << (8 * i)
	}
	return mixed(folded(h^word, prime))
}

func folded(a, b uint64) uint64 {
	high, low := bits.Mul64(a+seed, b)
	return high ^ low
}

// mixed makes each bit depend on all others; it is the finalizer of MurmurHash3.
func mixed(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// digestOf returns the contribution of a key and its version to the digest of its segment.
func digestOf(hash uint64, version int64) uint64 {
	return mixed(hash ^ mixed(uint64(version)+seed)) //nolint:gosec // all bits count, whatever the sign
}

// shape is the number of segments: 2^bits.
type shape struct{ bits int }

func (s shape) segments() int { return 1 << s.bits }

// segment returns the segment of a key's hash.
func (s shape) segment(hash uint64) int { return int(hash >> (64 - s.bits)) } //nolint:gosec // less than 2^20
