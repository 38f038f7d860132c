package hints

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/journal"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestAKeyAddedTwiceIsThereOnce(t *testing.T) {
	s := memory(0)
	add(t, s, "hotels", "a", "b", "a")
	add(t, s, "hotels", "b", "c")
	add(t, s, "cities", "a")
	require.Equal(t, []string{"cities", "hotels"}, indexes(s))
	require.Equal(t, map[string]int{"hotels": 3, "cities": 1}, s.Stats().Keys)
	require.Equal(t, []string{"a", "b", "c"}, drain(s, "hotels"), "oldest first")
	require.Equal(t, []string{"a"}, drain(s, "cities"))
	require.Empty(t, indexes(s))
	require.Zero(t, s.bytes)
}

func TestEachKeyIsHandedOutOnce(t *testing.T) {
	s := memory(0)
	add(t, s, "hotels", keysOf(0, 5)...)
	first, second := s.Take("hotels", 2), s.Take("hotels", 100)
	require.Equal(t, keysOf(0, 2), first.Keys)
	require.Equal(t, keysOf(2, 3), second.Keys)
	require.True(t, nothing(s.Take("hotels", 1)))
	require.True(t, nothing(s.Take("hotels", 0)))
	require.True(t, nothing(s.Take("nothing", 1)))
	require.Equal(t, map[string]int{"hotels": 5}, s.Stats().Keys, "taken or not")
	s.Done(first)
	s.Done(first)
	require.Equal(t, keysOf(2, 3), content(s)["hotels"])
}

func TestAKeyAddedWhileItIsTakenStaysWhenItsBatchIsDone(t *testing.T) {
	s := memory(0)
	add(t, s, "hotels", "a", "b", "c")
	b := s.Take("hotels", 2)
	add(t, s, "hotels", "a")
	require.Equal(t, []string{"c"}, s.Take("hotels", 9).Keys, "the key is still taken")
	s.Done(b)
	require.Equal(t, []string{"a", "c"}, content(s)["hotels"])
	b = s.Take("hotels", 9)
	require.Equal(t, []string{"a"}, b.Keys)
	s.Done(b)
	require.Equal(t, []string{"c"}, content(s)["hotels"], "added again counts once")
}

func TestABatchCanBeDoneInPart(t *testing.T) {
	s := memory(0)
	add(t, s, "hotels", "a", "b", "c", "d")
	b := s.Take("hotels", 3)
	failed := b
	failed.Keys, b.Keys = []string{b.Keys[1], "d", "unknown"}, []string{b.Keys[0], b.Keys[2]}
	s.Done(b)
	s.Back(failed)
	require.Equal(t, []string{"d", "b"}, drain(s, "hotels"), "a key given back goes to the end")
	require.Empty(t, indexes(s))
}

func TestABatchOfAnotherSetIsNothing(t *testing.T) {
	s, other := memory(0), memory(0)
	add(t, s, "hotels", "a")
	add(t, other, "hotels", "a")
	b := other.Take("hotels", 1)
	s.Take("hotels", 1)
	s.Done(b)
	s.Done(Batch{Keys: []string{"a"}})
	require.Equal(t, []string{"a"}, content(s)["hotels"])
}

func TestTooManyKeysTurnTheIndexWithTheMostIntoEverything(t *testing.T) {
	s := memory(room(10))
	add(t, s, "sick", keysOf(0, 9)...)
	b := s.Take("sick", 4)
	add(t, s, "healthy", "k1", "k2")
	require.Equal(t, map[string][]string{"sick": {everythingMark}, "healthy": {"k1", "k2"}}, content(s))
	require.Equal(t, Stats{Keys: map[string]int{"sick": 0, "healthy": 2}, Everything: map[string]bool{"sick": true}}, s.Stats())
	s.Done(b)
	s.Back(b)
	add(t, s, "sick", keysOf(0, 100)...)
	require.Equal(t, []string{everythingMark}, drain(s, "sick"), "one entry covers all keys")
}

func TestTooManyBytesTurnTheIndexWithTheMostIntoEverything(t *testing.T) {
	s := memory(160 << 10)
	add(t, s, "many", keysOf(0, 1000)...)
	long := strings.Repeat("x", journal.MaxKey-4)
	for i := range 100 {
		add(t, s, "long", fmt.Sprintf("%04d%s", i, long))
	}
	require.Equal(t, []string{everythingMark}, content(s)["long"])
	require.Len(t, content(s)["many"], 1000)
}

func TestKeysAddedWhileEverythingIsComparedStay(t *testing.T) {
	s := memory(0)
	add(t, s, "hotels", "a")
	require.NoError(t, s.AddEverything("hotels"))
	add(t, s, "hotels", "b")
	require.Equal(t, Stats{Keys: map[string]int{"hotels": 0}, Everything: map[string]bool{"hotels": true}}, s.Stats())

	b := s.Take("hotels", 1)
	require.True(t, b.Everything)
	require.Empty(t, b.Keys)
	require.True(t, nothing(s.Take("hotels", 1)), "only one comparison at a time")
	add(t, s, "hotels", "c")
	s.Done(b)
	require.Equal(t, []string{"c"}, drain(s, "hotels"))

	require.NoError(t, s.AddEverything("hotels"))
	b = s.Take("hotels", 1)
	add(t, s, "hotels", "d")
	s.Back(b)
	require.Equal(t, []string{everythingMark}, drain(s, "hotels"), "d is in it")

	require.NoError(t, s.AddEverything("hotels"))
	b = s.Take("hotels", 1)
	require.NoError(t, s.AddEverything("hotels"))
	s.Done(b)
	require.Equal(t, []string{everythingMark}, drain(s, "hotels"), "the entry was added again")
}

func TestAMarkLeavesNothingToABatch(t *testing.T) {
	s := memory(0)
	add(t, s, "hotels", "a", "b")
	b := s.Take("hotels", 1)
	require.NoError(t, s.AddEverything("hotels"))
	require.Equal(t, []string{everythingMark}, drain(s, "hotels"))
	add(t, s, "hotels", "a")
	s.Done(b)
	s.Back(b)
	require.Equal(t, []string{"a"}, drain(s, "hotels"), "a was added later")
	require.Zero(t, s.bytes)
}

func TestWhatCannotBeAKeyIsRefusedAndTheOthersAreAdded(t *testing.T) {
	s := memory(0)
	longest := strings.Repeat("ü", journal.MaxKey/2)
	err := s.Add("hotels", "a", "", longest+"x", "\xff", longest, "b")
	require.ErrorContains(t, err, "not the key of a document: 3 of 6")
	require.Equal(t, []string{"a", longest, "b"}, drain(s, "hotels"))
	require.ErrorContains(t, s.Add("hotels", "\xff"), "1 of 1")
	require.ErrorContains(t, s.Add(strings.Repeat("x", maxNameBytes+1), "a"), "want at most 1024")
	require.ErrorContains(t, s.AddEverything(strings.Repeat("x", maxNameBytes+1)), "want at most 1024")
	require.Empty(t, indexes(s))
}

func TestWhatIsClosedSaysSo(t *testing.T) {
	s := memory(0)
	add(t, s, "hotels", "a", "b")
	b := s.Take("hotels", 1)
	require.NoError(t, s.Close(t.Context()))
	require.NoError(t, s.Close(t.Context()))
	require.NoError(t, s.Sync(t.Context()))
	require.ErrorIs(t, s.Add("hotels", "c"), errClosed)
	require.ErrorIs(t, s.AddEverything("hotels"), errClosed)
	s.Done(b)
	s.Back(b)
	require.True(t, nothing(s.Take("hotels", 1)))
	require.Equal(t, 2, s.Stats().Keys["hotels"])
}

func TestABoundThatIsNoneIsRefused(t *testing.T) {
	_, err := Open(t.TempDir(), &Options{MaxMemory: -1})
	require.ErrorContains(t, err, "MaxMemory: got -1")
}

// Draining and adding a million keys by the thousand must not become slower.
func TestManyKeysAreTakenInOrder(t *testing.T) {
	s := memory(0)
	const n = 20_000
	add(t, s, "hotels", keysOf(0, n)...)
	for i := 0; i < n; i += 1000 {
		b := s.Take("hotels", 1000)
		require.Equal(t, keysOf(i, 1000), b.Keys)
		s.Done(b)
		add(t, s, "hotels", keysOf(n+i, 1000)...)
	}
	require.Len(t, s.Take("hotels", n).Keys, maxTake)
	require.Equal(t, maxTake, len(s.indexes["hotels"].line))
}

func TestAKeyCostsWhatIsPromised(t *testing.T) {
	n := testkit.Cases(50_000, 200_000, 200_000)
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	document := strings.Repeat("d", 5000)
	before := heap()
	s := memory(0)
	for i := range n {
		// A key that is a substring of its document must not keep the document in memory.
		whole := fmt.Sprintf("%036d", i) + document
		add(t, s, "hotels", whole[:36])
	}
	each := (heap() - before) / int64(n)
	t.Logf("%d bytes for a key of 36", each)
	assert.Less(t, each, int64(48+75))
	runtime.KeepAlive(s)
}

func TestAddersAndRepairersTogetherLoseNothingConcurrentSafe(t *testing.T) {
	s := openDir(t, t.TempDir(), nil)
	var adders, repairers sync.WaitGroup
	var mu sync.Mutex
	done := map[string]bool{}
	end := make(chan struct{})
	for g := range 4 {
		adders.Go(func() {
			for i := range 300 {
				assert.NoError(t, s.Add("hotels", fmt.Sprintf("%d-%d", g, i), "shared"))
			}
		})
	}
	for g := range 3 {
		repairers.Go(func() {
			for i := 0; ; i++ {
				b := s.Take("hotels", 7)
				if nothing(b) {
					select {
					case <-end:
						return
					default:
						runtime.Gosched()
						continue
					}
				}
				if (i+g)%3 == 0 {
					s.Back(b)
					continue
				}
				mu.Lock()
				for _, key := range b.Keys {
					done[key] = true
				}
				mu.Unlock()
				s.Done(b)
			}
		})
	}
	adders.Wait()
	require.NoError(t, s.Sync(t.Context()))
	close(end)
	repairers.Wait()
	for _, key := range drain(s, "hotels") {
		done[key] = true
	}
	require.Len(t, done, 4*300+1)
	require.Empty(t, indexes(s))
}
