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

func TestRefuseNamesTheOptionsThatHoldANil(t *testing.T) {
	err := Refuse(Option{"Left", nil}, Option{"Given", new(int)}, Option{"Queue", (*int)(nil)}, Option{"Sink", (func())(nil)})
	assert.EqualError(t, err, "Queue is a nil *int: check the error of its constructor, or leave it out\n"+
		"Sink is a nil func(): check the error of its constructor, or leave it out")
	assert.NoError(t, Refuse(Option{"Left", nil}, Option{"Given", new(int)}))
}
