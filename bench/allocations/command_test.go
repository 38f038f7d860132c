package allocations

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

// module is a module with a benchmark that a test can change.
type module struct {
	t   *testing.T
	dir string
}

const source = `package thing

import "testing"

var sink []byte

func BenchmarkThing(b *testing.B) {
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			sink = make([]byte, 8)
		}
	})
	b.Run("two", func(b *testing.B) {
		for b.Loop() {
			sink = make([]byte, 8)
			sink = make([]byte, 16)
		}
	})
}
`

func newModule(t *testing.T) *module {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	m := &module{t, t.TempDir()}
	require.NoError(t, os.Mkdir(filepath.Join(m.dir, "thing"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(m.dir, "go.mod"), []byte("module example.test\n\ngo 1.26.0\n"), 0o644))
	m.write(source)
	return m
}

func (m *module) write(source string) {
	m.t.Helper()
	require.NoError(m.t, os.WriteFile(filepath.Join(m.dir, "thing", "thing_test.go"), []byte(source), 0o644))
}

// command runs the command with one benchmark, and returns its exit code and output.
func (m *module) command(name string, args ...string) (int, string) {
	m.t.Helper()
	var out bytes.Buffer
	c := check{root: m.dir, file: filepath.Join(m.dir, "allocations.txt"), plan: []suite{{"thing", []benchmark{{name, 10}}}}}
	code := c.command().Main(m.t.Context(), args, cli.Streams{Out: &out, Err: &out})
	return code, out.String()
}

func TestTheCheckFindsWhatGotWorse(t *testing.T) {
	m := newModule(t)
	code, out := m.command("BenchmarkThing")
	assert.Equal(t, 1, code, "there is no file")
	assert.Contains(t, out, "-update")

	code, out = m.command("BenchmarkThing", "-update")
	require.Equal(t, 0, code, out)
	code, out = m.command("BenchmarkThing")
	require.Equal(t, 0, code, out)
	assert.Contains(t, out, "2 figures as before")
	assert.Contains(t, out, "Thing/two", "benchstat's table")

	m.write(strings.Replace(source, "make([]byte, 16)", "append(make([]byte, 16), make([]byte, len(sink)+100)...)", 1))
	code, out = m.command("BenchmarkThing")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "worse: example.test/thing BenchmarkThing/two allocs/op was 2 and is 3 (+1, +50.0 %)")
	assert.NotContains(t, out, "BenchmarkThing/one allocs/op")
	assert.Contains(t, out, "go run . allocations -update")

	m.write(strings.Replace(source, "sink = make([]byte, 16)", "", 1))
	code, out = m.command("BenchmarkThing")
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "better: example.test/thing BenchmarkThing/two allocs/op was 2 and is 1")

	m.write(strings.Replace(source, `"two"`, `"three"`, 1))
	code, out = m.command("BenchmarkThing")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "gone: example.test/thing BenchmarkThing/two")
	assert.Contains(t, out, "new: example.test/thing BenchmarkThing/three")
	code, _ = m.command("BenchmarkThing", "-update")
	assert.Equal(t, 0, code)
	code, _ = m.command("BenchmarkThing")
	assert.Equal(t, 0, code, "accepted")
}

func TestWhatCannotBeMeasuredFailsTheCheck(t *testing.T) {
	m := newModule(t)
	code, out := m.command("BenchmarkOther", "-update")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "thing: BenchmarkOther: there is no such benchmark")

	m.write(strings.Replace(source, "sink = make([]byte, 16)", `b.Fatal("broken")`, 1))
	code, out = m.command("BenchmarkThing", "-update")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "broken")

	m.write("package thing\n\nfunc init() { no }\n")
	code, out = m.command("BenchmarkThing", "-update")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "undefined: no")
	assert.NoFileExists(t, filepath.Join(m.dir, "allocations.txt"))

	code, _ = m.command("BenchmarkThing", "extra")
	assert.Equal(t, 2, code)
}
