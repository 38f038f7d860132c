package fleet

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

func TestEveryRowIsMeasured(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, Command.Main(t.Context(), []string{"-fast"}, cli.Streams{Out: &out, Err: &errs}), errs.String())
	for _, r := range table.Rows {
		assert.Contains(t, out.String(), "### "+r.Name)
	}
	for _, s := range sicknesses {
		assert.Contains(t, out.String(), s.name+": documents a second of the others")
	}
	assert.NotContains(t, out.String(), "NaN")
}

func TestAMistakeInTheArgumentsIsNamed(t *testing.T) {
	for args, want := range map[string]string{"-only=none": `"none"`, "-rounds=0": "-rounds", "-window=0": "-window", "-indexes=9": "-indexes"} {
		var out, errs bytes.Buffer
		assert.Equal(t, 2, Command.Main(t.Context(), []string{args}, cli.Streams{Out: &out, Err: &errs}))
		assert.Contains(t, errs.String(), want)
	}
}
