package query

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

func TestMergedKeysAreSortedAndThereOnce(t *testing.T) {
	require.Equal(t, []string{"a", "b", "c", "d"}, mergeKeys([]string{"a", "b", "d"}, []string{"b", "b", "c", "d"}))
	require.Empty(t, mergeKeys(nil, nil))
}

// An index that was walked once and then only written to must not collect new keys without bound.
func TestKeysAreNotKeptForAWalkThatNeverComes(t *testing.T) {
	v := &View{byKey: map[string]uint32{"a": 0}}
	v.needKeys()
	for i := range 5000 {
		v.keys.add(fmt.Sprint(i % 2))
		require.LessOrEqual(t, len(v.keys.all)+len(v.keys.more), 1+1001)
	}
	require.Nil(t, v.keys.all)
	v.needKeys()
	require.Equal(t, []string{"a"}, v.keys.all)
}

// Between its preparation and its page, a walk lets other searches take writes, which may drop its list.
func TestAWalkWhoseListWasDroppedPreparesAgain(t *testing.T) {
	v := &View{byKey: make(map[string]uint32)}
	catchUp := func(from, to int, prepare func(v *View) *reply.Error) int {
		var list []Write
		for i := from; i < to; i++ {
			list = append(list, Write{Key: fmt.Sprint(i), Data: []byte{1}})
		}
		age, err := v.prepared(func(bool) Writes { return Writes{List: list} }, prepare)
		require.Nil(t, err)
		return age
	}
	walk := func(v *View) *reply.Error {
		v.needKeys()
		return nil
	}
	nothing := func(*View) *reply.Error { return nil }
	age := catchUp(0, 5, walk)
	require.Equal(t, age, catchUp(5, 1000, nothing), "the list is kept")
	require.NotNil(t, v.keys.all)
	require.NotEqual(t, age, catchUp(1000, 2000, nothing))
	require.Nil(t, v.keys.all)

	found := 0
	require.Nil(t, v.Read(func(bool) Writes { return Writes{} }, walk, func(v *View) {
		v.from("", func(uint32, []byte) bool { found++; return true })
	}))
	require.Equal(t, 2000, found)
}
