package scale

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

// parsed returns the command line of some arguments.
func parsed(t *testing.T, args ...string) *commandLine {
	t.Helper()
	c := new(commandLine)
	require.NoError(t, c.parse(args, cli.Streams{Err: t.Output()}))
	return c
}

func TestOneQuantityGrowsInEachTable(t *testing.T) {
	var got []string
	for _, s := range parsed(t).plan() {
		for _, step := range s.steps {
			got = append(got, fmt.Sprintf("%s: %d %d %d %v", s.grows, step.documents, step.producers, step.inFlight, step.latency))
		}
	}
	assert.Equal(t, []string{
		"documents: 100000 1 1 0s", "documents: 1000000 1 1 0s", "documents: 10000000 1 1 0s",
		"documents: 100000 4 8 0s", "documents: 1000000 4 8 0s", "documents: 10000000 4 8 0s",
		"producers: 1000000 1 8 0s", "producers: 1000000 4 8 0s", "producers: 1000000 16 8 0s",
		"requests in flight: 1000000 4 1 0s", "requests in flight: 1000000 4 2 0s", "requests in flight: 1000000 4 4 0s",
		"requests in flight: 1000000 4 8 0s", "requests in flight: 1000000 4 16 0s",
		"requests in flight: 100000 4 1 100ms", "requests in flight: 200000 4 2 100ms", "requests in flight: 400000 4 4 100ms",
		"requests in flight: 800000 4 8 100ms", "requests in flight: 1600000 4 16 100ms",
	}, got)
}

func TestAStepOfTwoTablesRunsOnce(t *testing.T) {
	r := newReport(parsed(t).plan())
	assert.Len(t, r.steps, 17)
	assert.Len(t, r.rows, 17)
}

func TestStepsWithManyDocumentsRunOnce(t *testing.T) {
	assert.Equal(t, 5, step{documents: 2_000_000}.turns(5))
	assert.Equal(t, 1, step{documents: 2_000_001}.turns(5))
}

func TestFastIsOverruled(t *testing.T) {
	c := parsed(t, "-fast")
	assert.Equal(t, []int{5_000, 20_000, 50_000}, c.documents)
	assert.Equal(t, 1, c.rounds)
	c = parsed(t, "-fast", "-docs", "7", "-rounds", "2")
	assert.Equal(t, []int{7}, c.documents)
	assert.Equal(t, 2, c.rounds)
}

func TestNumbersAreSortedAndEachOnce(t *testing.T) {
	assert.Equal(t, []int{1, 20, 3_000_000}, parsed(t, "-docs", "3e6, 20,1,2e1").documents)
	for _, list := range []string{"", "0", "-1", "1.5", "1e9", "many", "1,,2", "NaN"} {
		_, err := numbers(list, 1_000_000)
		assert.Error(t, err, list)
	}
}
