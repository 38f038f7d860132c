package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommitThatIsTooEarlyIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := connect(t.Context(), config{index: testIndex})
		require.NoError(t, err)
		defer b.close()
		r := &truth{group: NewGroup(1), backend: b, index: testIndex, aside: &deadLetters{}, latest: map[string]*Value{}}
		r.append("missing", &Value{Title: "x"}, false)
		r.append("bad key", &Value{}, true)
		r.append("gone", nil, false)
		r.audit(0, 0, 3)
		assert.Len(t, r.early, 2, "a tombstone of what was never there is settled")
		err = r.check(t.Context())
		require.Error(t, err)
		for _, complaint := range []string{
			`that of "missing" at 0 is not settled`, `that of "bad key" at 1 is not settled`, "3 records are not committed",
			"not among the dead letters", "missing is missing",
		} {
			assert.ErrorContains(t, err, complaint)
		}
	})
}

// The demonstration itself checks the index and every commit.
func TestIndexAgreesWithTheLogThroughRebalanceOutageAndCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, complaints bytes.Buffer
		assert.Zero(t, run(t.Context(), []string{"-endpoint", ""}, &out, &complaints), "%s", &complaints)
		assert.Contains(t, out.String(), "has the last value of each key")
		assert.Contains(t, out.String(), " 0 commits were too early")
		assert.Equal(t, 7, strings.Count(out.String(), "are not committed"))
	})
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-nonsense"}, {"-index"}} {
		var out, complaints bytes.Buffer
		assert.Equal(t, 2, run(t.Context(), args, &out, &complaints), "%q", args)
		assert.NotEmpty(t, complaints.String())
	}
	var out, complaints bytes.Buffer
	assert.Zero(t, run(t.Context(), []string{"-h"}, &out, &complaints))
	assert.Contains(t, out.String(), "-endpoint")
}
