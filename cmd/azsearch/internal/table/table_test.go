package table

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func documents(texts ...string) (all []json.RawMessage) {
	for _, t := range texts {
		all = append(all, json.RawMessage(t))
	}
	return all
}

func TestDocumentsAreRowsInTheOrderOfTheirMembers(t *testing.T) {
	var out strings.Builder
	left, err := Documents(&out, documents(`{"id":"1","stars":5,"address":{"city":"Ulm"},"tags":["a","b"]}`, `{"id":"2","open":true,"stars":null}`), nil)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Equal(t, "id  stars  address         tags       open\n"+
		"1   5      {\"city\":\"Ulm\"}  [\"a\",\"b\"]  \n2                                     true\n", out.String())
}

func TestSelectedColumnsComeInTheirOrder(t *testing.T) {
	var out strings.Builder
	_, err := Documents(&out, documents(`{"id":"1","address":{"city":"Ulm"}}`), []string{"address/city", "id", "none"})
	require.NoError(t, err)
	assert.Equal(t, "address/city  id  none\nUlm           1   \n", out.String())
}

func TestWhatIsTooMuchForATerminalIsShortened(t *testing.T) {
	var out strings.Builder
	left, err := Documents(&out, documents(`{"a":"`+strings.Repeat("é", 50)+`","v":[`+strings.Repeat("0.25,", 99)+`1],"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"10":10}`), nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"9", "10"}, left)
	assert.Contains(t, out.String(), strings.Repeat("é", 39)+"…  [100 numbers]  3")
}

func TestDocumentsCannotChangeWhatATerminalShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("\x1b\t\n\r\u202eab\"")))).Draw(t, "text")
		text, err := json.Marshal(map[string]string{"id": s})
		require.NoError(t, err)
		var out strings.Builder
		_, err = Documents(&out, documents(string(text)), nil)
		require.NoError(t, err)
		assert.Equal(t, 2, strings.Count(out.String(), "\n"), "%q", out.String())
		assert.False(t, strings.ContainsAny(out.String(), "\x1b\t\r\u202e"), "%q", out.String())
	})
}
