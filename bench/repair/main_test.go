package repair

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/sink"
)

// TestMain lets the test binary act as the program, because the sink is its process.
func TestMain(m *testing.M) {
	cli.StandIn(sink.Command)
	os.Exit(m.Run())
}

func TestEveryRowIsMeasured(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, Command.Main(t.Context(), []string{"-fast"}, cli.Streams{Out: &out, Err: &errs}), errs.String())
	for _, r := range questions.Rows {
		assert.Contains(t, out.String(), "### "+r.Name)
	}
	assert.NotContains(t, out.String(), "NaN")
}

func TestAMistakeInTheArgumentsIsNamed(t *testing.T) {
	for args, want := range map[string]string{"-only=none": `"none"`, "-rounds=0": "-rounds", "-window=0": "-window", "-documents=9": "-documents", "-rows=9": "-rows"} {
		var out, errs bytes.Buffer
		assert.Equal(t, 2, Command.Main(t.Context(), []string{args}, cli.Streams{Out: &out, Err: &errs}))
		assert.Contains(t, errs.String(), want)
	}
}
