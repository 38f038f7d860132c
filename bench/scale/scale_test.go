package scale

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/sink"
	"github.com/go-azsearch/azsearch/bench/sink/server"
)

// TestMain lets the test binary act as the command.
func TestMain(m *testing.M) {
	cli.StandIn(Command, sink.Command)
	os.Exit(m.Run())
}

var lastLineForm = regexp.MustCompile(`^flat_cpu=[\d.]+ rss_growth=(-|-?\d+) docs_s_at_100ms_8=\d+ sixteen_producers_vs_one=[\d.]+ lost=0$`)

// TestScaleMeasuresInProcessesOfTheirOwn runs the whole command with few documents.
func TestScaleMeasuresInProcessesOfTheirOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	var stdout, stderr bytes.Buffer
	svg := filepath.Join(t.TempDir(), "chart.svg")
	code := Command.Main(t.Context(), []string{"-fast", "-svg", svg}, cli.Streams{Out: &stdout, Err: &stderr})
	require.Zero(t, code, "%s", &stderr)
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	assert.Regexp(t, lastLineForm, lines[len(lines)-1])
	assert.Equal(t, 5, strings.Count(stdout.String(), "\nMore "))
	assert.FileExists(t, svg)
}

func TestRunsWithoutFiguresFailTheCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	var stdout, stderr bytes.Buffer
	code := Command.Main(t.Context(), []string{"-fast", "-latency", "0", "-timeout", "1ns"}, cli.Streams{Out: &stdout, Err: &stderr})
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr.String(), "runs gave no figures")
	assert.Contains(t, stdout.String(), "flat_cpu=- ")
}

func TestMistakesInTheFlagsAreAllNamed(t *testing.T) {
	var stderr bytes.Buffer
	code := Command.Main(t.Context(), []string{"-docs", "0", "-producers", "few", "-in-flight", "17", "-rounds", "0", "-latency", "soon", "more"}, cli.Streams{Out: io.Discard, Err: &stderr})
	assert.Equal(t, 2, code)
	for _, mistake := range []string{"-docs", "-producers", "-in-flight", "-rounds", "-latency", `"more"`} {
		assert.Contains(t, stderr.String(), mistake)
	}
}

// TestEveryDocumentIsSentOnce checks this for any split among the producers, and that every memory sample is taken.
func TestEveryDocumentIsSentOnce(t *testing.T) {
	for name, task := range map[string]task{
		"one producer":                    {Documents: 4001, Producers: 1, InFlight: 1},
		"many producers":                  {Documents: 4001, Producers: 16, InFlight: 8},
		"more keys than are made at once": {Documents: keysAtOnce*sampleCount + 1, Producers: 3, InFlight: 4},
		"fewer documents than samples":    {Documents: 3, Producers: 1, InFlight: 1},
		"fewer documents than producers":  {Documents: 2, Producers: 4, InFlight: 1},
	} {
		t.Run(name, func(t *testing.T) {
			sink, err := server.New(server.Config{})
			require.NoError(t, err)
			up := httptest.NewServer(sink)
			defer up.Close()
			task.Endpoint = up.URL
			m, err := task.send(t.Context())
			require.NoError(t, err)
			counts := sink.Counts()
			assert.EqualValues(t, task.Documents, counts.Distinct)
			assert.EqualValues(t, task.Documents, counts.Documents)
			assert.EqualValues(t, task.Documents, m.Accepted)
			assert.EqualValues(t, task.Documents, m.Completed)
			assert.Positive(t, m.Seconds)
			if m.PeakRSS > 0 {
				for i, rss := range m.RSS {
					assert.Positive(t, rss, "sample %d", i)
				}
			}
		})
	}
}

// TestRefusedDocumentsAreNotCompleted checks that Completed comes from the sender, not from the number of documents.
func TestRefusedDocumentsAreNotCompleted(t *testing.T) {
	sink, err := server.New(server.Config{ItemStatus: 400, ItemRate: 0.1})
	require.NoError(t, err)
	up := httptest.NewServer(sink)
	defer up.Close()
	m, err := (task{Documents: 1000, Producers: 2, InFlight: 1, Endpoint: up.URL}).send(t.Context())
	require.NoError(t, err)
	refused := sink.Counts().RefusedDocuments
	require.Positive(t, refused)
	assert.EqualValues(t, 1000, m.Accepted)
	assert.EqualValues(t, 1000-refused, m.Completed)
}

// In TestAsManyRequestsAreInFlightAsTheStepSays the service holds the first three requests until all of them have
// arrived.
func TestAsManyRequestsAreInFlightAsTheStepSays(t *testing.T) {
	sink, err := server.New(server.Config{})
	require.NoError(t, err)
	var arrived atomic.Int32
	three := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if arrived.Add(1) == 3 {
			close(three)
		}
		select {
		case <-three:
			sink.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	defer up.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // deadline of a failing test
	defer cancel()
	_, err = (task{Documents: 6000, Producers: 1, InFlight: 3, Endpoint: up.URL}).send(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 6000, sink.Counts().Distinct)
}
