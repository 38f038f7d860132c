package redisqueue

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// names has typical names of queues, and names that break hash tags.
var names = []string{
	"hotels", "a b", "{}abc", "abc{}", "a{}b{c}", "}x{", "a}b", "{x}", "a:b", "a\x00b", "a\nb", "ümlaut", "%7B", "*?[a]",
	strings.Repeat("long", 500), strings.Repeat("long", 500) + "!",
}

func TestAllKeysOfAShardAreInOneSlotOfTheClusterWhateverTheName(t *testing.T) {
	c := newCluster(t, servers.Cluster(t))
	seen := map[string]bool{}
	for _, name := range names {
		for shard := range 3 {
			keys := keysOf(name, shard)
			require.Len(t, keys, len(kinds))
			slot := c.ClusterKeySlot(t.Context(), keys[0]).Val()
			tag, _, _ := strings.Cut(keys[0], "}")
			for _, k := range keys {
				require.False(t, seen[k], "%q belongs to two queues", k)
				seen[k] = true
				require.Equal(t, slot, c.ClusterKeySlot(t.Context(), k).Val(), "%q", name)
				require.True(t, strings.HasPrefix(k, tag+"}:"), k)
				require.Equal(t, 1, strings.Count(k, "{"), k)
				require.Equal(t, 1, strings.Count(k, "}"), k)
				require.Less(t, len(k), 200)
			}
		}
	}
}

func TestAnyNameWillDo(t *testing.T) {
	c := newCluster(t, servers.Cluster(t))
	for _, name := range names {
		q, err := New(t.Context(), c, name, &Options{Shards: 3})
		require.NoError(t, err, "%q", name)
		add(t, q, "a", "b", "c", "d")
		require.Len(t, take(t, q, 4), 4)
		require.NoError(t, q.Destroy(t.Context()))
	}
}

func TestSlotOfAKeyIsTheSameForEver(t *testing.T) {
	for key, slot := range map[string]int{"": 805, "a": 140, "hotel-1": 979, "ümlaut": 159} {
		require.Equal(t, slot, slotOf(key), "%q", key)
	}
	counts := make([]int, 16)
	for i := range 16_000 {
		counts[slotOf("hotel-"+string(rune('a'+i%26))+strings.Repeat("x", i%7)+string(rune(i)))%16]++
	}
	for _, n := range counts {
		require.InDelta(t, 1000, n, 300)
	}
}
