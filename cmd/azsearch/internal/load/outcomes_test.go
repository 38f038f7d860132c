package load

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
)

// Who waits for these keys would wait for ever for one that has changed its state since.
func TestLastKeysAreInTheIndexAndNotInIt(t *testing.T) {
	const put, gone = `{"id":"1"}` + "\n", `{"id":"1","@search.action":"delete"}` + "\n"
	for content, want := range map[string]Report{
		put + gone:              {LastDeletion: "1"},
		gone + put:              {LastKey: "1"},
		put + gone + put + gone: {LastDeletion: "1"},
	} {
		r := newRig(t, convert.Options{})
		report, err := r.load(r.file("a.jsonl", content))
		require.NoError(t, err)
		assert.Equal(t, want, Report{LastKey: report.LastKey, LastDeletion: report.LastDeletion}, content)
	}
}
