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

func TestAMistakeInTheArgumentsIsNamed(t *testing.T) {
	for args, want := range map[string]string{"-only=none": `"none"`, "-rounds=0": "-rounds", "-window=0": "-window", "-indexes=9": "-indexes"} {
		var out, errs bytes.Buffer
		assert.Equal(t, 2, command(t.Context(), []string{args}, &out, &errs))
		assert.Contains(t, errs.String(), want)
	}
}
