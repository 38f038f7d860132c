package redisqueue

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"strings"
)

const (
	// slots is the number of slots over which the keys of each queue are spread. It is part of the format.
	slots = 1024
	// longName is the longest name that is not shortened in Redis keys.
	longName = 128
)

// slotOf returns the slot of a key: its 64-bit FNV-1a hash modulo 1024. Slot s is kept in shard s modulo the number of
// shards.
func slotOf(key string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	return int(h.Sum64() % slots)
}

// kinds are the Redis keys of a shard, in the order in which scripts get them; see shard.lua.
var kinds = [...]string{"m", "k", "r", "p", "s", "d", "e", "x", "t", "w", "h", "a", "y", "g", "q"}

// keysOf returns the Redis keys of a shard: {azq:<name>:<shard>}:<kind>. Redis Cluster hashes the part in braces, so a
// shard is in one slot of the cluster.
func keysOf(name string, shard int) []string {
	tag := "{azq:" + escape(name) + ":" + strconv.Itoa(shard) + "}:"
	keys := make([]string, len(kinds))
	for i, kind := range kinds {
		keys[i] = tag + kind
	}
	return keys
}

// channelOf returns the channel on which a queue announces that there may be something to reserve.
func channelOf(name string) string { return "azq:" + escape(name) + ":wake" }

// escape encodes a name with letters, digits, and "-_.%~" only: every other byte becomes %XX. A long name is cut and
// gets a hash of the whole; the marker has the full name.
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
		}
	}
	s := b.String()
	if len(s) > longName {
		sum := sha256.Sum256([]byte(name))
		s = s[:longName-64] + "~" + hex.EncodeToString(sum[:])
	}
	return s
}
