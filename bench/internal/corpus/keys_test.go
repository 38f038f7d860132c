package corpus

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestKeysAreThoseOfTheNumbers(t *testing.T) {
	for _, part := range []struct{ from, to int }{{0, 12}, {999, 1001}, {MaxDocuments - 2, MaxDocuments}, {5, 5}} {
		keys := KeysOf(part.from, part.to)
		assert.Equal(t, part.to-part.from, keys.Len())
		for i := range keys.Len() {
			assert.Equal(t, fmt.Sprintf("doc-%08d", part.from+i), keys.At(i))
		}
	}
	assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { KeysOf(0, 1000) }), 1.0)
}
