package models

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDigestsOfNumbersThatAreNearAndOfOthersThatAreEqual(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		equal bool
	}{
		{`9007199254740992`, `9007199254740993`, false},
		{`-9007199254740992`, `-9007199254740993`, false},
		{`100000000000000000`, `1E+17`, true}, // a double as written by Go and by the service
		{`9223372036854775807`, `9223372036854775806`, false},
		{`-9223372036854775808`, `-9223372036854775807`, false},
		{`-0`, `0`, true},
		{`1.0`, `1`, true},
	} {
		a, err := DigestOf([]byte(`{"n":` + c.a + `}`))
		require.NoError(t, err)
		b, err := DigestOf([]byte(`{"n":` + c.b + `}`))
		require.NoError(t, err)
		assert.Equal(t, c.equal, a == b, "%s and %s", c.a, c.b)
	}
}

func TestWhatComesBehindADocumentIsNoPartOfIt(t *testing.T) {
	for _, text := range []string{`{"n":1}{"n":2}`, `{"n":1} x`, `{"n":1}]`} {
		_, err := DigestOf([]byte(text))
		require.Error(t, err, text)
	}
	_, err := DigestOf([]byte("{\"n\":1} \r\n"))
	require.NoError(t, err)
}
