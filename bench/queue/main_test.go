package queue

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

func TestEveryRowIsMeasuredForAllOfItsContestants(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, Command.Main(t.Context(), []string{"-scale", "0.001", "-rounds", "1", "-dir", t.TempDir()}, cli.Streams{Out: &out, Err: &errs}), errs.String())
	for _, r := range table.Rows {
		assert.Contains(t, out.String(), "### "+r.Name)
		for _, c := range r.Contestants {
			assert.Contains(t, out.String(), "| "+c.Name+" |")
		}
	}
}

func TestAMistakeInTheArgumentsIsNamed(t *testing.T) {
	for args, want := range map[string]string{"-only=none": `"none"`, "-rounds=0": "-rounds", "-scale=0": "-scale"} {
		var out, errs bytes.Buffer
		assert.Equal(t, 2, Command.Main(t.Context(), []string{args}, cli.Streams{Out: &out, Err: &errs}))
		assert.Contains(t, errs.String(), want)
	}
}
