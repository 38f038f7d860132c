package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

func TestEveryRowIsMeasuredForAllOfItsContestants(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			p := &plan{stderr: &errs}
			if r.postgres {
				p.server = servers.Postgres(t) // or the test is left out, or fails, as AZSEARCH_TEST_SERVERS says
			}
			code := p.command(t.Context(), []string{"-scale", "0.001", "-rounds", "1", "-dir", t.TempDir(), "-only", r.name}, &out)
			require.Zero(t, code, errs.String())
			assert.Contains(t, out.String(), "### "+r.name)
			for _, c := range r.contestants {
				assert.Contains(t, out.String(), "| "+c.name+" |")
			}
		})
	}
}

func TestTheAnchorOfAContestantIsMeasuredBeforeIt(t *testing.T) {
	for _, r := range rows {
		before := map[string]bool{"": true}
		for _, c := range r.contestants {
			assert.True(t, before[c.anchor], "%s, %s", r.name, c.name)
			before[c.name] = true
		}
	}
}

func TestWhatIsComparedIsOfTheSameRound(t *testing.T) {
	with := []figure{{cpuFigure, 10}, {rateFigure, 200}, {"p99 ms", 7}}
	assert.Equal(t, []figure{{cpuFigure + ", to River", 0.5}, {rateFigure + ", to River", 3}},
		row{}.compare([]figure{{cpuFigure, 5}, {rateFigure, 600}, {"p99 ms", 1}}, "River", with))
	assert.Empty(t, row{}.compare(with, "", nil))
}

func TestWhatALoggerIsToldIsAnError(t *testing.T) {
	said := &complaints{}
	said.logger().Info("all is well")
	require.NoError(t, said.err())
	said.logger().Warn("rows could not be read", "queue", queue)
	assert.ErrorContains(t, said.err(), "WARN in the log: rows could not be read queue=hotels")
}

func TestAMistakeInTheArgumentsIsNamed(t *testing.T) {
	for args, want := range map[string]string{"-only=none": `"none"`, "-rounds=0": "-rounds", "-scale=0": "-scale"} {
		var out, errs bytes.Buffer
		assert.Equal(t, 2, command(t.Context(), []string{args}, &out, &errs))
		assert.Contains(t, errs.String(), want)
	}
}
