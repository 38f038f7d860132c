package compare

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/corpus"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/sink"
	"github.com/go-azsearch/azsearch/bench/sink/server"
)

// TestMain lets the test binary act as the command.
func TestMain(m *testing.M) {
	cli.StandIn(Command, sink.Command)
	os.Exit(m.Run())
}

var lastLineForm = regexp.MustCompile(`^ratio_fastest_peer=(-|[\d.]+) ratio_floor_b=(-|[\d.]+) cpu_s_per_m=(-|[\d.]+) allocs_per_doc=(-|[\d.]+) lost=(-|\d+)$`)

// TestCompareMeasuresInProcessesOfTheirOwn runs the whole command with few documents.
func TestCompareMeasuresInProcessesOfTheirOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	var stdout, stderr bytes.Buffer
	code := Command.Main(t.Context(), []string{
		"-docs", "3000", "-rounds", "2", "-only", "^ours, 1 producer, 1 in flight$|^esutil, 1|^Java|^floor B", "-js", t.TempDir(), "-profile", t.TempDir(),
	}, cli.Streams{Out: &stdout, Err: &stderr})
	require.Zero(t, code, "%s", &stderr)
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	last := lines[len(lines)-1]
	assert.Regexp(t, lastLineForm, last)
	assert.NotContains(t, last, "=-", "no value is missing")
	assert.True(t, strings.HasSuffix(last, " lost=0"), last)
	assert.Contains(t, stdout.String(), "JavaScript is not compared: ")
	assert.Contains(t, stdout.String(), "Shape default: 3000 documents of ")
}

func TestMistakesInTheFlagsAreAllNamed(t *testing.T) {
	var stderr bytes.Buffer
	code := Command.Main(t.Context(), []string{"-docs", "0", "-rounds", "0", "-latency", "soon", "-shapes", "round", "-only", "("}, cli.Streams{Out: io.Discard, Err: &stderr})
	assert.Equal(t, 2, code)
	for _, flag := range []string{"-docs", "-rounds", "-latency", "-shapes", "-only"} {
		assert.Contains(t, stderr.String(), flag)
	}
}

// TestEveryContestantSendsEveryDocument checks that all contestants send the same documents in requests of similar
// size.
func TestEveryContestantSendsEveryDocument(t *testing.T) {
	const n = 4001
	for _, c := range contestants {
		if c.family == javaScript {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			sink, err := server.New(server.Config{})
			require.NoError(t, err)
			up := httptest.NewServer(sink)
			defer up.Close()
			w := corpus.New(n, 256, corpus.NewHotel, func(d *corpus.Hotel, key string) { d.ID = key })
			reported, err := send(t.Context(), w, c, task{Endpoint: up.URL, BatchBytes: 1_000_000, clock: new(measure.Clock)})
			require.NoError(t, err)
			assert.LessOrEqual(t, reported, int64(0))
			counts := sink.Counts()
			assert.EqualValues(t, n, counts.Distinct)
			assert.EqualValues(t, n, counts.Documents)
			assert.GreaterOrEqual(t, counts.Requests, counts.Bytes/1_010_000, "batches of about 1 MB")
			assert.LessOrEqual(t, counts.Requests, counts.Bytes/1_000_000+int64(c.producers)+1)
		})
	}
}

// TestLimitsHold checks that no batch exceeds the common limit.
func TestLimitsHold(t *testing.T) {
	for _, name := range []string{"floor A: Marshal, POST, Unmarshal", "floor B: HTTP only", "ours, 1 producer, 1 in flight"} {
		sink, err := server.New(server.Config{MaxBody: 100_000})
		require.NoError(t, err)
		up := httptest.NewServer(sink)
		c, err := contestantNamed(name)
		require.NoError(t, err)
		w := corpus.New(1000, 10, corpus.NewHotel, func(d *corpus.Hotel, key string) { d.ID = key })
		_, err = send(t.Context(), w, c, task{Endpoint: up.URL, BatchBytes: 100_000, clock: new(measure.Clock)})
		require.NoError(t, err)
		assert.Zero(t, sink.Counts().Refused, name)
		assert.EqualValues(t, 1000, sink.Counts().Distinct, name)
		up.Close()
	}
}

func TestShapesHaveTheSizeTheySay(t *testing.T) {
	for _, s := range shapes {
		contents, err := s.contents()
		require.NoError(t, err)
		raw := bytes.Join(contents, nil)
		size := float64(len(raw)) / float64(len(contents))
		if s.name == "html" { // json.Marshal encodes < as six bytes
			assert.InEpsilon(t, 1.5*float64(s.bytes), size, 0.2, s.name)
			continue
		}
		assert.InEpsilon(t, s.bytes, size, 0.1, s.name)
	}
	small, err := shapeNamed("small")
	require.NoError(t, err)
	assert.Equal(t, 300_000*650/120, small.scale(300_000))
}

func TestDocumentsDifferInTheirKeysAndAllocateNothing(t *testing.T) {
	w := corpus.New(1000, 7, corpus.NewHotel, func(d *corpus.Hotel, key string) { d.ID = key })
	seen := map[string]bool{}
	var doc corpus.Hotel
	for i := range w.Len() {
		w.Document(i, &doc)
		seen[doc.ID] = true
	}
	assert.Len(t, seen, 1000)
	assert.Zero(t, testing.AllocsPerRun(100, func() { w.Document(3, &doc) }))

	fields := map[string]any{}
	raw, err := json.Marshal(corpus.NewHotel(rand.New(rand.NewPCG(1, 2))))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &fields))
	assert.Len(t, fields, 13)
}
