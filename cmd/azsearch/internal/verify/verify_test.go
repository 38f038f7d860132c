package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func lines(t *testing.T, text string) Lines {
	name := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return Lines(name)
}

func TestOrderOfDocumentsAndMembersDoesNotCount(t *testing.T) {
	a := lines(t, `{"id":"1","n":1.0,"tags":[],"at":"2024-01-01T00:00:00Z"}`+"\n"+`{"id":"2"}`+"\n\n")
	e, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	b := lines(t, string(e.EncodeAll([]byte(`{"id":"2","name":null}`+"\n"+`{"at":"2024-01-01T00:00:00.000Z","n":1,"id":"1"}`), nil)))
	r, err := Compare(t.Context(), a, b, "id")
	require.NoError(t, err)
	assert.True(t, r.Equal())
	assert.EqualValues(t, 2, r.A.Documents)
	assert.Empty(t, r.Differences)
}

func TestFileHasAnyFormatThatHasTypes(t *testing.T) {
	a := lines(t, "{\"id\":\"1\"}\n{\"id\":\"2\"}\n")
	array := Lines(filepath.Join(t.TempDir(), "a.json"))
	require.NoError(t, os.WriteFile(string(array), []byte("[\n{\"id\":\n\"1\"},\n\n{\"id\":\"2\"}]\n"), 0o600))
	copied := filepath.Join(t.TempDir(), "copy.jsonl")
	require.NoError(t, Copy(t.Context(), array, copied))
	for _, b := range []Lines{array, Lines(copied)} {
		r, err := Compare(t.Context(), a, b, "id")
		require.NoError(t, err)
		assert.True(t, r.Equal(), r)
	}
	require.NoError(t, os.WriteFile(string(array), []byte("[\n{\"id\":\"1\"},\n{\"id\": 01}]"), 0o600))
	_, err := Compare(t.Context(), a, array, "id")
	assert.ErrorContains(t, err, "a.json:3: not JSON")
	table := Lines(filepath.Join(t.TempDir(), "a.csv"))
	require.NoError(t, os.WriteFile(string(table), []byte("id\n1\n2\n"), 0o600))
	_, err = Compare(t.Context(), a, table, "id")
	assert.ErrorContains(t, err, "can only be compared with an index")
	_, err = Compare(t.Context(), a, Lines(t.TempDir()), "id")
	assert.ErrorContains(t, err, "directory")
}

func TestFirstKeysThatDifferAreNamed(t *testing.T) {
	var a, b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&a, "{\"id\":\"%04d\",\"n\":%d}\n", i, i)
		switch i {
		case 7:
			fmt.Fprintf(&b, "{\"id\":\"%04d\",\"n\":8}\n", i)
		case 2000:
			fmt.Fprintf(&b, "{\"id\":\"%04d\",\"n\":%d}\n{\"id\":\"%04d\",\"n\":%d}\n{\"id\":\"x\"}\n", i, i, i, i)
		case 1000:
		default:
			fmt.Fprintf(&b, "{\"id\":\"%04d\",\"n\":%d}\n", i, i)
		}
	}
	r, err := Compare(t.Context(), lines(t, a.String()), lines(t, b.String()), "id")
	require.NoError(t, err)
	assert.False(t, r.Equal())
	assert.Equal(t, []Difference{{"0007", "differs"}, {"1000", "only in the first"}, {"2000", "1 time in the first, 2 in the second"}, {"x", "only in the second"}}, r.Differences)
	r, err = Compare(t.Context(), lines(t, a.String()), lines(t, ""), "id")
	require.NoError(t, err)
	assert.Len(t, r.Differences, mostShown)
	assert.Equal(t, "0000", r.Differences[0].Key)
}

func TestFileThatHasNoDocumentIsNamedWithItsLine(t *testing.T) {
	for text, says := range map[string]string{"{\"id\":\"1\"}\n[]": ":2: ", "{\"id\":\"1\"}\n{\"name\":\"x\"}\n": ":2: ", "{\"id\":": ":1: "} {
		_, err := Compare(t.Context(), lines(t, text), lines(t, text), "id")
		assert.ErrorContains(t, err, says)
	}
	_, err := Compare(t.Context(), Lines("none"), lines(t, ""), "id")
	assert.ErrorIs(t, err, os.ErrNotExist)
}
