package nilcheck

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsNilLooksIntoInterfaces(t *testing.T) {
	for _, v := range []any{nil, (*int)(nil), (func())(nil), (map[int]int)(nil), ([]int)(nil), (chan int)(nil), error(nil)} {
		assert.True(t, IsNil(v), "%T", v)
	}
	for _, v := range []any{new(int), func() {}, []int{}, 0, ""} {
		assert.False(t, IsNil(v), "%T", v)
	}
}
