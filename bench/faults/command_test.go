package faults

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

func TestMistakesInTheArgumentsAreReportedAtOnce(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Command.Main(t.Context(), []string{"-docs", "1", "-parallel", "0", "-only", "none,nonsense", "extra"}, cli.Streams{Out: &stdout, Err: &stderr})
	assert.Equal(t, 2, code)
	assert.Empty(t, stdout.String())
	for _, part := range []string{"-docs 1", "-parallel 0", "-only nonsense", `"extra"`} {
		assert.Contains(t, stderr.String(), part)
	}
	assert.NotContains(t, stderr.String(), "-only none:")
}

func TestListNamesEveryRowOnce(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Zero(t, Command.Main(t.Context(), []string{"-list"}, cli.Streams{Out: &stdout, Err: &stderr}))
	for _, r := range rows(setting{documents: 20_000}) {
		assert.Equal(t, 1, strings.Count("\n"+stdout.String(), "\n"+r.name+" "), r.name)
		assert.NotEmpty(t, r.what, r.name)
	}
}

func TestABadRowFailsTheCommand(t *testing.T) {
	good, bad := &result{Row: "good"}, &result{Row: "bad", Problems: []string{"it is bad"}}
	for _, asJSON := range []bool{false, true} {
		c := commandLine{json: asJSON}
		var out bytes.Buffer
		require.NoError(t, c.conclude(&out, []*result{good}))
		out.Reset()
		require.ErrorIs(t, c.conclude(&out, []*result{good, bad}), errRows)
		assert.Contains(t, out.String(), "it is bad")
		if asJSON {
			var back []*result
			require.NoError(t, json.Unmarshal(out.Bytes(), &back))
			assert.Equal(t, []*result{good, bad}, back)
		}
	}
}

// Drained means that everything accepted before the end of the fault is settled, not everything accepted.
func TestDrainedIsAboutWhatWasAcceptedBefore(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	w := &watch{seen: []progress{{at(0), 5, 0}, {at(1), 10, 2}, {at(2), 20, 5}, {at(3), 30, 10}, {at(4), 40, 22}, {at(5), 40, 40}}}
	got, ok := w.drained(at(1))
	assert.True(t, ok)
	assert.Equal(t, at(3), got)
	got, ok = w.drained(at(2).Add(-time.Millisecond))
	assert.True(t, ok)
	assert.Equal(t, at(4), got)
	_, ok = w.drained(at(6))
	assert.False(t, ok)
}

func TestTheMeterSeesWhatIsAliveAndNotGarbage(t *testing.T) {
	m := newMeter()
	for range 50 {
		_ = make([]byte, 4<<20)
	}
	m.sample()
	assert.Less(t, m.above(), int64(10<<20), "garbage")
	kept := make([]byte, 40<<20)
	m.sampled = time.Time{}
	m.sample()
	assert.Greater(t, m.above(), int64(39<<20))
	assert.Len(t, kept, 40<<20) // keeps it alive until here
}
