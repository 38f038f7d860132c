package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryRowIsMeasured(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, command(t.Context(), []string{"-fast"}, &out, &errs), errs.String())
	for _, r := range rows {
		assert.Contains(t, out.String(), "### "+r.name)
	}
	for _, s := range sicknesses {
		assert.Contains(t, out.String(), s.name+": documents a second of the others")
	}
	assert.NotContains(t, out.String(), "NaN")
}

func TestATargetThatIsMissedIsMarked(t *testing.T) {
	var all table
	for _, v := range []float64{1, 3, 2} {
		all.add("enough", atLeast(2), v)
		all.add("too much", atMost(1.5), v)
		all.add("whatever", informs, v)
	}
	var out bytes.Buffer
	all.write(&out, row{name: "name", what: "words"})
	assert.Equal(t, `### name: words

| | target | got | range | |
|---|---|---|---|---|
| enough | ≥ 2 | 2 | 1–3 |  |
| too much | ≤ 1.5 | 2 | 1–3 | **missed** |
| whatever | – | 2 | 1–3 |  |

`, out.String())
}

func TestAMistakeInTheArgumentsIsNamed(t *testing.T) {
	for args, want := range map[string]string{"-only=none": `"none"`, "-rounds=0": "-rounds", "-window=0": "-window", "-indexes=9": "-indexes"} {
		var out, errs bytes.Buffer
		assert.Equal(t, 2, command(t.Context(), []string{args}, &out, &errs))
		assert.Contains(t, errs.String(), want)
	}
}
