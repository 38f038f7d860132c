package allocations

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
)

// results returns the results of three runs of benchmarks, given as pairs of name and allocations.
func results(t *testing.T, figures ...any) []*benchfmt.Result {
	t.Helper()
	var lines strings.Builder
	for range 3 {
		for i := 0; i < len(figures); i += 2 {
			fmt.Fprintf(&lines, "Benchmark%v 10 %v allocs/op\n", figures[i], figures[i+1])
		}
	}
	all, err := read(strings.NewReader(lines.String()), "test")
	require.NoError(t, err)
	return all
}

func TestOneMoreAllocationIsARegression(t *testing.T) {
	for _, c := range []struct {
		was, is any
		kind    kind // "": unchanged
	}{
		{0, 0, ""},
		{0, 1, worse},
		{1, 0, better},
		{1, 2, worse},
		{19, 20, worse},
		{19, 18, better},
		{51, 52, ""}, // rounding
		{51, 54, worse},
		{0.05, 0.06, ""}, // one batch more or less
		{0.05, 1.05, worse},
		{6.05, 7.05, worse},
		{6.05, 6.12, ""},
		{6058, 6090, ""},
		{6058, 7058, worse},
		{6058, 5058, better},
	} {
		changes := compare(results(t, "A", c.was), results(t, "A", c.is))
		if c.kind == "" {
			assert.Empty(t, changes)
			continue
		}
		require.Len(t, changes, 1)
		assert.Equal(t, c.kind, changes[0].kind, "from %v to %v", c.was, c.is)
	}
}

func TestEveryChangeIsSaid(t *testing.T) {
	changes := compare(
		results(t, "Same", 7, "Better", 4, "Worse/b", 0, "Worse/a", 2, "Gone", 1),
		results(t, "Same", 7, "Better", 3, "Worse/b", 1, "Worse/a", 5, "New", 9))
	lines := make([]string, len(changes))
	for i := range changes {
		lines[i] = changes[i].String()
	}
	assert.Equal(t, []string{
		"worse:  BenchmarkWorse/a allocs/op was 2 and is 5 (+3, +150.0 %)",
		"worse:  BenchmarkWorse/b allocs/op was 0 and is 1 (+1)",
		"gone:  BenchmarkGone allocs/op (was 1)",
		"new:  BenchmarkNew allocs/op (is 9)",
		"better:  BenchmarkBetter allocs/op was 4 and is 3 (-1, -25.0 %)",
	}, lines)
	assert.Equal(t, 4, failures(changes))
}
