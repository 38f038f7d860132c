package rounds

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/figures"
)

// measured returns the output of a run of two rows with the given flags.
func measured(t *testing.T, args ...string) string {
	t.Helper()
	round := 0.0
	takes := func(v float64) func(context.Context, *Plan, string) ([]figures.Figure, error) {
		return func(_ context.Context, p *Plan, dir string) ([]figures.Figure, error) {
			round++
			return []figures.Figure{{Name: "a second", Value: v * round * p.Scale}, {Name: "p99 ms", Value: 7}}, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)
		}
	}
	table := Table[*Plan]{Rounds: 3, Ratios: []string{"a second"}, Rows: []Row[*Plan]{
		{Name: "race", What: "who is faster", Contestants: []Contestant[*Plan]{
			{Name: "River", Measure: takes(200)}, {Name: "ours", Anchor: "River", Measure: takes(300)},
		}},
		{Name: "alone", What: "by itself", Once: true, Measure: func(_ context.Context, _ *Plan, t *figures.Table) error {
			t.Add("figure", figures.AtMost(2), 1)
			return nil
		}},
	}}
	var p Plan
	var out bytes.Buffer
	set := cli.Flags("test", cli.Streams{Err: io.Discard})
	p.ScaleFlags(set)
	require.NoError(t, table.Parse(&p, set, args, nil))
	require.NoError(t, table.Run(t.Context(), &p, &p, &out))
	return out.String()
}

func TestWhatIsComparedIsOfTheSameRound(t *testing.T) {
	assert.Equal(t, `### race: who is faster

| | | median | range | |
|---|---|---|---|---|
| River | a second | 400 | 200–600 | ████████ |
| River | p99 ms | 7 | 7–7 | ████████████████████ |
| ours | a second | 900 | 600–1200 | ████████████████████ |
| ours | p99 ms | 7 | 7–7 | ████████████████████ |
| ours | a second, to River | 2.5 | 2–3 | ████████████████████ |

`, measured(t, "-rounds", "2", "-only", "race", "-dir", t.TempDir()))
}

func TestWhatIsMeasuredOnceHasOneRound(t *testing.T) {
	out := measured(t)
	assert.Contains(t, out, "### race")
	assert.Contains(t, out, "| figure | ≤ 2 | 1 | 1–1 |  |")
}

func TestProfilesAndNothingElseAreLeft(t *testing.T) {
	dir, profiles := t.TempDir(), t.TempDir()
	measured(t, "-dir", dir, "-profile", profiles)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	for _, name := range []string{"race-River.cpu.prof", "race-ours.mem.prof", "alone.cpu.prof"} {
		assert.FileExists(t, filepath.Join(profiles, name))
	}
}
