package models

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryComponentTypeReadsBackAsItWas(t *testing.T) {
	require.Len(t, componentTypes, 4+12+25+2+1)
	for _, component := range componentTypes {
		name, typ := component.Value, component.Go
		t.Run(name, func(t *testing.T) {
			v := reflect.New(typ).Elem()
			fill(v)
			b, err := json.Marshal(v.Interface())
			require.NoError(t, err)
			require.Contains(t, string(b), `{"@odata.type":"`+name+`","name":`)
			back := reflect.New(typ)
			require.NoError(t, json.Unmarshal(b, back.Interface()))
			require.Equal(t, v.Interface(), back.Elem().Interface())
			var members map[string]any
			require.NoError(t, json.Unmarshal(b, &members))
			require.Len(t, members, v.NumField()+1, "all fields, the type and one more member are written")
		})
	}
}

// fill sets every field of a component.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); x := f.Addr().Interface().(type) {
		case **bool:
			*x = new(false)
		case **int:
			*x = new(0)
		case **string:
			*x = new("")
		case *map[string]json.RawMessage:
			*x = map[string]json.RawMessage{"more": json.RawMessage("[1]")}
		default:
			if f.Kind() == reflect.Slice {
				f.Set(reflect.MakeSlice(f.Type(), 1, 1))
				f = f.Index(0)
			}
			f.SetString(v.Type().Field(i).Name)
		}
	}
}
