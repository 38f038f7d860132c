package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestComparisonFindsWhatWasReportedWrongly(t *testing.T) {
	var l ledger
	notes := []Note{{ID: "indexed", Text: "x"}, {ID: "rejected"}, {ID: "not"}, {ID: "perhaps"}}
	l.add(422, notes, answer{Notes: []outcome{{ID: "indexed", Outcome: indexed}, {ID: "rejected", Outcome: rejected}, {ID: "not", Outcome: notApplied}, {ID: "perhaps", Outcome: unknown}}})
	for name, c := range map[string]struct {
		has            map[string]string
		missing, wrong int
	}{
		"all is as it was reported":   {map[string]string{"indexed": "x", "another": ""}, 0, 0},
		"unknown may be there":        {map[string]string{"indexed": "x", "perhaps": ""}, 0, 0},
		"indexed is missing":          {nil, 1, 0},
		"indexed is another text":     {map[string]string{"indexed": "y"}, 1, 0},
		"rejected is there":           {map[string]string{"indexed": "x", "rejected": ""}, 0, 1},
		"what was not applied is too": {map[string]string{"indexed": "x", "rejected": "", "not": ""}, 0, 2},
	} {
		missing, wrong := l.differences(c.has)
		assert.Equal(t, []int{c.missing, c.wrong}, []int{missing, wrong}, name)
	}
	assert.Empty(t, l.problems)
	l.add(200, notes[:1], answer{Notes: []outcome{{ID: "indexed", Outcome: unknown}}})
	assert.Len(t, l.problems, 1, "status 200 promises more")
	l.add(503, notes[:1], answer{})
	assert.Len(t, l.problems, 2, "nothing was said about the note")
}

// The demonstration itself compares, and shows each kind of answer.
func TestCallersGetTrueAnswersThroughAnOutage(t *testing.T) {
	var out, complaints bytes.Buffer
	assert.Zero(t, run(t.Context(), []string{"-endpoint", ""}, &out, &complaints), "%s", &complaints)
	assert.Contains(t, out.String(), `Told "indexed" and missing: 0. Told "rejected" or "not applied" and there: 0.`)
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-nonsense"}, {"-addr"}} {
		var out, complaints bytes.Buffer
		assert.Equal(t, 2, run(t.Context(), args, &out, &complaints), "%q", args)
		assert.NotEmpty(t, complaints.String())
	}
	var out, complaints bytes.Buffer
	assert.Equal(t, 1, run(t.Context(), []string{"-endpoint", "", "-addr", "256.0.0.1:x"}, &out, &complaints))
	assert.Zero(t, run(t.Context(), []string{"-h"}, &out, &complaints))
}
