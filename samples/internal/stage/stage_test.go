package stage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// sample returns a sample with every kind of flag that ends with an error.
func sample(ends error) stage.Setup {
	return func(p *stage.Program) func(context.Context) error {
		p.About = "It shows nothing.\n"
		at, lasts, logger := p.Address("hotels"), p.Duration("for", time.Second, "play for this `DURATION`"), p.Logger()
		p.Check = func() error { return nil }
		return func(ctx context.Context) error {
			logger.Info("playing")
			fmt.Fprintln(p.Out, *at, *lasts)
			return ends
		}
	}
}

func TestCommandLineErrorsAreOneLineAndExitCode2(t *testing.T) {
	for _, c := range []struct {
		says string
		args []string
	}{
		{"nosuch", []string{"-nosuch"}},
		{`unknown argument "more"`, []string{"more"}},
		{"-for", []string{"-for", "soon"}},
		{"-endpoint", []string{"-endpoint"}},
		{"-api-key is for -endpoint", []string{"-api-key", "secret"}},
		{`unknown argument "more"; -index must not be empty`, []string{"-index", "", "more"}},
	} {
		stagetest.Refuses(t, sample(nil), c.says, c.args...)
	}
}

func TestHelpIsNoErrorAndSaysNoKey(t *testing.T) {
	t.Setenv("AZURE_SEARCH_API_KEY", "secret")
	o := stagetest.Run(t.Context(), t, sample(nil), "-h")
	assert.Zero(t, o.Code)
	assert.Contains(t, o.Out, "It shows nothing.\n")
	assert.Contains(t, o.Out, "-for DURATION")
	assert.NotContains(t, o.Out, "secret")
	assert.Empty(t, o.Err)
}

func TestErrorsAreOneLineAndNoneAfterCtrlC(t *testing.T) {
	failed := errors.Join(errors.New("one\x1b[2J"), errors.New("two"))
	assert.Equal(t, stagetest.Outcome{Code: 1, Out: "{  hotels} 1s\n", Err: "sample: one[2J; two\n"}, stagetest.Run(t.Context(), t, sample(failed)))
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	assert.Equal(t, stagetest.Outcome{Code: 130, Out: "{  hotels} 1s\n"}, stagetest.Run(interrupted, t, sample(failed)))
	assert.Zero(t, stagetest.Run(interrupted, t, sample(nil)).Code)
	assert.Contains(t, stagetest.Run(t.Context(), t, sample(nil), "-v").Err, "playing")
}

// full is a writer that always fails, like a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatCannotBeWrittenIsExitCode1(t *testing.T) {
	var stderr strings.Builder
	assert.Equal(t, stage.ExitProblem, stage.Run(t.Context(), "sample", sample(nil), nil, nil, full{}, &stderr))
	assert.Equal(t, "sample: no space left on device\n", stderr.String())
}

func TestEnvironmentNamesTheServiceUnlessAFlagDoes(t *testing.T) {
	t.Setenv("AZURE_SEARCH_ENDPOINT", "https://x.search.windows.net")
	t.Setenv("AZURE_SEARCH_API_KEY", "k")
	assert.Equal(t, "{https://x.search.windows.net k hotels} 1s\n", stagetest.Run(t.Context(), t, sample(nil)).Out)
	assert.Equal(t, "{  hotels} 1s\n", stagetest.Run(t.Context(), t, sample(nil), "-endpoint", "").Out)
	service, err := (&stage.Address{Endpoint: "https://x.search.windows.net"}).Connect(nil)
	require.NoError(t, err)
	assert.Nil(t, service.Emulator, "without a key it gets Entra ID")
	assert.Equal(t, "https://x.search.windows.net", service.Indexes.Endpoint())
}

func TestServiceOpensAnIndexOnceAndAgain(t *testing.T) {
	type hotel struct {
		ID string `json:"id" search:"key"`
	}
	service, err := (&stage.Address{}).Connect(&searchtest.Options{})
	require.NoError(t, err)
	defer service.Close()
	for range 2 {
		client, err := stage.Open[hotel](t.Context(), service, "hotels")
		require.NoError(t, err)
		assert.Equal(t, "hotels", client.IndexName())
	}
}

func TestDifferencesNameEachDocumentOnce(t *testing.T) {
	type doc struct{ Name string }
	want := map[string]doc{"same": {"A"}, "other": {"B"}, "missing": {"C"}}
	problems := stage.Differences(want, map[string]doc{"same": {"A"}, "other": {"X"}, "left": {}})
	require.Len(t, problems, 3)
	assert.ErrorContains(t, stage.Problems(problems), "3 problems: missing: the index does not have it; "+
		"other: the index should have {Name:B}, and has {Name:X}; left: only the index has it")
	assert.NoError(t, stage.Problems(nil))
	assert.ErrorContains(t, stage.Problems(make([]string, 11)), "11 problems: ; ; ; ; ; ; ; ; ; ; …")
}

func TestUntilEndsWithPatienceContextAndError(t *testing.T) {
	never := func() (bool, error) { return false, nil }
	assert.ErrorIs(t, stage.Until(t.Context(), 0, time.Millisecond, never), stage.ErrPatience)
	ended, end := context.WithCancel(t.Context())
	end()
	assert.ErrorIs(t, stage.Until(ended, time.Hour, time.Hour, never), context.Canceled)
	assert.ErrorIs(t, stage.Until(ended, time.Hour, time.Hour, func() (bool, error) { return false, io.EOF }), io.EOF)
}

func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-worker") { // the program starts itself as a worker, so the test binary must act as the program
		stage.Main("sample", func(p *stage.Program) func(context.Context) error {
			workers(p)
			return nil
		})
	}
	os.Exit(m.Run())
}

// workers returns a constructor of workers that report their order.
func workers(p *stage.Program) func(stage.Worker) *stage.Worker {
	p.Logger()
	var job string
	return p.Worker(&job, func(_ context.Context, orders io.Reader, reports io.Writer) error {
		fmt.Fprintf(reports, "ready\n%s\n", job)
		order, err := io.ReadAll(orders)
		fmt.Fprintf(reports, "%s", order)
		return err
	})
}

func TestWorkersReportsAreNotedAndTheirEndIsNoticed(t *testing.T) {
	var noted []string
	var newWorker func(stage.Worker) *stage.Worker
	assert.Zero(t, stagetest.Run(t.Context(), t, func(p *stage.Program) func(context.Context) error {
		newWorker = workers(p)
		return func(context.Context) error { return nil }
	}).Code)
	w := newWorker(stage.Worker{Role: "send", Job: func() any { return "one" }, Note: func(line string) error {
		noted = append(noted, line)
		if line == "nonsense" {
			return errors.New("what is that?")
		}
		return nil
	}})
	w.Close()
	require.NoError(t, w.Start())
	require.NoError(t, stage.Until(t.Context(), time.Minute, time.Millisecond, w.Alive))
	require.NoError(t, w.Order("stop\n"))
	require.NoError(t, w.Finished())
	assert.Equal(t, []string{"one", "stop"}, noted)
	_, err := w.Alive()
	assert.ErrorContains(t, err, "a worker (send) has ended without an order")

	require.NoError(t, w.Start())
	require.NoError(t, w.Kill())
	require.NoError(t, w.Order("nonsense\n"))
	assert.ErrorContains(t, w.Finished(), `a worker (send) reports "nonsense": what is that?`)
	w.Close()
}
