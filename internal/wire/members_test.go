package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/wire"
)

func FuzzMembersAreThoseOfEncodingJSON(f *testing.F) {
	for _, s := range []string{`{}`, ` { "a" : 1 , "b" : [ {"}":"]"} ] } `, `{"a\"":"\\","b":null}`, `{"a":1`, `[1]`, `{"a":1,}`, `{"a" 1}`, `{"":-1.5e3,"b":true}`, `{"a":"\\\""}`, ``, `{"a":]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]string{}
		err := wire.EachMember(b, func(name, value []byte) bool {
			if n, ok := wire.Unquote(name); ok {
				got[n] = string(value)
			}
			return true
		})
		var want map[string]json.RawMessage
		if json.Unmarshal(b, &want) != nil || want == nil {
			return // not an object: the call need only return
		}
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for name, value := range want {
			require.Equal(t, string(value), got[name])
		}
	})
}

func TestMembersStopWhenTheCallerDoes(t *testing.T) {
	n := 0
	require.NoError(t, wire.EachMember([]byte(`{"a":1,"b":2,!`), func(_, _ []byte) bool { n++; return n < 2 }))
	require.Equal(t, 2, n)
}

func TestMembersOfWhatIsNotAnObjectAreAnError(t *testing.T) {
	for _, s := range []string{``, ` `, `{`, `{"a`, `{"a"`, `{"a" `, `{"a":`, `{"a":1`, `{"a":1;`, `{"a":{`, `{"a":["`, `{"a":,}`, `{a:1}`, `{"a":1,`, `{"a\`} {
		require.ErrorIs(t, wire.EachMember([]byte(s), func(_, _ []byte) bool { return true }), wire.ErrNotJSON, s)
	}
	require.ErrorIs(t, wire.EachMember([]byte(` []`), nil), wire.ErrNotAnObject)
}
