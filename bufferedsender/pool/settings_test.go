package pool

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every run-time setting can be read back field by field. Other tests check its effect.
func TestEverySettingCanBeChangedAndReadBack(t *testing.T) {
	p, err := New(nil)
	require.NoError(t, err)
	before := p.Options()
	typ := reflect.TypeFor[Options]()
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		if !typ.Field(i).IsExported() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			next := before
			field := reflect.ValueOf(&next).Elem().Field(i)
			switch field.Interface().(type) {
			case int:
				field.SetInt(field.Int() + 3)
			case int64:
				field.SetInt(field.Int() + 12345)
			default:
				t.Fatalf("no setting changes a %v", field.Type())
			}
			require.NoError(t, p.SetOptions(next))
			assert.Equal(t, next, p.Options())
			assert.NotEqual(t, before, p.Options())

			bad := next
			field = reflect.ValueOf(&bad).Elem().Field(i)
			field.SetInt(-1)
			require.Error(t, p.SetOptions(bad))
			assert.Equal(t, next, p.Options(), "no setting has changed")
			require.NoError(t, p.SetOptions(before))
		})
	}
}
