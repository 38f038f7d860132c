package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryRowIsMeasuredForAllOfItsContestants(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, command(t.Context(), []string{"-scale", "0.001", "-rounds", "1", "-dir", t.TempDir()}, &out, &errs), errs.String())
	for _, r := range rows {
		assert.Contains(t, out.String(), "### "+r.name)
		for _, c := range r.contestants {
			assert.Contains(t, out.String(), "| "+c.name+" |")
		}
	}
}

func TestAMistakeInTheArgumentsIsNamed(t *testing.T) {
	for args, want := range map[string]string{"-only=none": `"none"`, "-rounds=0": "-rounds", "-scale=0": "-scale"} {
		var out, errs bytes.Buffer
		assert.Equal(t, 2, command(t.Context(), []string{args}, &out, &errs))
		assert.Contains(t, errs.String(), want)
	}
}
