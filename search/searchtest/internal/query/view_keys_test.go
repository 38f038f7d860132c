package query

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
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
