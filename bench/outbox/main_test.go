package outbox

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

func TestEveryRowIsMeasuredForAllOfItsContestants(t *testing.T) {
	for _, r := range table.Rows {
		t.Run(r.Name, func(t *testing.T) {
			var out, errs bytes.Buffer
			p := &plan{stderr: &errs}
			if r.Name != "sqlite" && r.Name != "drivers" {
				p.server = servers.Postgres(t) // skips or fails the test without PostgreSQL, as AZSEARCH_TEST_SERVERS says
			}
			err := p.run(t.Context(), []string{"-scale", "0.001", "-rounds", "1", "-dir", t.TempDir(), "-only", r.Name}, cli.Streams{Out: &out, Err: &errs})
			require.NoError(t, err, errs.String())
			assert.Contains(t, out.String(), "### "+r.Name)
			for _, c := range r.Contestants {
				assert.Contains(t, out.String(), "| "+c.Name+" |")
			}
		})
	}
}

func TestTheAnchorOfAContestantIsMeasuredBeforeIt(t *testing.T) {
	for _, r := range table.Rows {
		before := map[string]bool{"": true}
		for _, c := range r.Contestants {
			assert.True(t, before[c.Anchor], "%s, %s", r.Name, c.Name)
			before[c.Name] = true
		}
	}
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
		assert.Equal(t, 2, Command.Main(t.Context(), []string{args}, cli.Streams{Out: &out, Err: &errs}))
		assert.Contains(t, errs.String(), want)
	}
}
