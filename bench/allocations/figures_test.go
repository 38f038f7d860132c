package allocations

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const output = `goos: linux
goarch: amd64
pkg: example.test/a
cpu: AMD EPYC
BenchmarkOne/x_y         	     200	     51838 ns/op	        51.84 ns/item	     122 B/op	       3 allocs/op
BenchmarkOne/x_y         	     200	     51838 ns/op	        51.84 ns/item	     122 B/op	       9 allocs/op
BenchmarkOne/x_y         	     200	     51838 ns/op	        51.84 ns/item	     122 B/op	       4 allocs/op
BenchmarkTwo             	       5	   1239284 ns/op	         0.05780 allocs/doc	      1239 ns/doc	  332918 B/op	      57 allocs/op
PASS
`

func TestWhatDependsOnTheMachineIsNotKept(t *testing.T) {
	results, err := read(strings.NewReader(output), "output")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, writeFile(file, results))
	again, err := readFile(file)
	require.NoError(t, err)
	require.Equal(t, medians(results), medians(again))
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, head+`pkg: example.test/a

BenchmarkOne/x_y 200 3 allocs/op
BenchmarkOne/x_y 200 9 allocs/op
BenchmarkOne/x_y 200 4 allocs/op
BenchmarkTwo 5 0.0578 allocs/doc 57 allocs/op
`, string(content))
}

func TestOfSeveralRunsTheOneInTheMiddleCounts(t *testing.T) {
	results, err := read(strings.NewReader(output), "output")
	require.NoError(t, err)
	assert.Equal(t, map[figure]float64{
		{"example.test/a", "One/x_y", "allocs/op"}: 4,
		{"example.test/a", "Two", "allocs/doc"}:    0.0578,
		{"example.test/a", "Two", "allocs/op"}:     57,
	}, medians(results))
}

func TestABenchmarkThatDoesNotCountIsAnError(t *testing.T) {
	_, err := read(strings.NewReader("BenchmarkOne 5 3 ns/op\n"), "output")
	require.ErrorContains(t, err, "BenchmarkOne counts no allocations")
	_, err = read(strings.NewReader("BenchmarkOne five\n"), "output")
	require.ErrorContains(t, err, "output:1")
}
