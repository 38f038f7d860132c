package rebuild

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

func TestEachDialectHasEachPartOfAStore(t *testing.T) {
	for _, known := range sqlkit.All {
		d := sqlDialects[Dialect(known.Name)]
		require.NotNil(t, d, "a store has no dialect %s: name its statements in sqlDialects", known.Name)
		assert.Same(t, known, d.Dialect)
		v := reflect.ValueOf(d).Elem()
		for i := range v.NumField() {
			assert.False(t, v.Field(i).IsZero(), "%s of %s", v.Type().Field(i).Name, known.Name)
		}
	}
}
