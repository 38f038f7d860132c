package scale

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/sink/server"
)

// ran returns a fixed outcome of a step: 100,000 documents per second, 5 s of processor time per million, 5
// allocations per document, 20 MB at first and one more with each sample, nothing lost.
func ran(s step) *outcome {
	n := int64(s.documents)
	o := &outcome{
		measurement: measurement{
			Usage:    measure.Usage{Seconds: float64(n) / 1e5, CPUSeconds: 5 * float64(n) / 1e6, Allocations: 5 * n, PeakRSS: 50_000_000},
			Accepted: n, Completed: n,
		},
		sink: server.Counts{Documents: n, Distinct: n},
	}
	for i := range o.RSS {
		o.RSS[i] = int64(20+i) * 1_000_000
	}
	return o
}

// filled returns a report with one round of outcomes.
func filled(t *testing.T, args ...string) *report {
	t.Helper()
	c := parsed(t, args...)
	r := newReport(c.plan())
	run := func(_ context.Context, s step) (*outcome, error) { return ran(s), nil }
	require.NoError(t, r.fill(t.Context(), 1, run, t.Output()))
	return r
}

func TestTableHasARowForEachStep(t *testing.T) {
	r := filled(t, "-docs", "1e5,1e6", "-latency", "0")
	spoilt := r.rows[r.series[0].steps[1]]
	spoilt.outcomes[0].Completed -= 2
	spoilt.outcomes[0].sink.Distinct--
	spoilt.conclude()
	var out bytes.Buffer
	r.writeTable(&out, r.series[0])
	assert.Equal(t, strings.Join([]string{
		"  documents  producers  in flight  latency  documents/s  CPU s/M  allocs/doc  RSS MB at a tenth  at the end  at most  incomplete  lost",
		"     100000          1          1       0s       100000     5.00        5.00                 22          40       50           0     0",
		"    1000000          1          1       0s       100000     5.00        5.00                 22          40       50           2     1",
		"",
	}, "\n"), out.String())
}

func TestColumnsAreMediansAndLossesAreSums(t *testing.T) {
	s := step{documents: 1000, producers: 1, inFlight: 1}
	r := &row{step: s}
	for i, distinct := range []int64{1000, 990, 999} {
		o := ran(s)
		o.Seconds *= float64(i + 1)
		o.CPUSeconds *= float64(i + 1)
		o.Completed, o.sink.Distinct = distinct+1, distinct
		r.outcomes = append(r.outcomes, *o)
	}
	r.conclude()
	assert.InDelta(t, 50_000, r.rate, 1e-6)
	assert.InDelta(t, 10, r.cpu, 1e-9)
	assert.EqualValues(t, 8, r.incomplete)
	assert.EqualValues(t, 11, r.lost)
}

// TestLostDocumentsAreAnError covers documents that the sink lacks, and documents that the sender did not complete.
func TestLostDocumentsAreAnError(t *testing.T) {
	require.NoError(t, filled(t).problem())
	for name, spoil := range map[string]func(*outcome){
		"1 documents are not in the sink":             func(o *outcome) { o.sink.Distinct-- },
		"1 documents were accepted and not completed": func(o *outcome) { o.Completed-- },
	} {
		r := filled(t)
		last := r.rows[r.steps[len(r.steps)-1]]
		spoil(&last.outcomes[0])
		last.conclude()
		assert.ErrorContains(t, r.problem(), name)
	}
}

func TestRunsWithoutFiguresAreNamedAndAnError(t *testing.T) {
	r := newReport(parsed(t, "-latency", "0").plan())
	run := func(_ context.Context, s step) (*outcome, error) {
		if s.producers == 16 {
			return nil, errors.New("it did not start")
		}
		return ran(s), nil
	}
	require.NoError(t, r.fill(t.Context(), 2, run, t.Output()))
	assert.ErrorContains(t, r.problem(), "2 runs gave no figures")
	var out bytes.Buffer
	require.NoError(t, r.write(&out))
	assert.Contains(t, out.String(), "1000000 documents, 16 producers, 8 in flight, latency 0s: no figures from one round: it did not start")
	assert.Regexp(t, ` 1000000 +16 +8 +0s( +-){8}\n`, out.String())
	assert.Contains(t, out.String(), " sixteen_producers_vs_one=- ")
}

func TestRoundsTakeTurns(t *testing.T) {
	r := newReport(parsed(t, "-docs", "1,2,3000000", "-producers", "1", "-in-flight", "1", "-latency", "0").plan())
	var order []int
	run := func(_ context.Context, s step) (*outcome, error) {
		if s.producers == 1 && s.inFlight == 1 {
			order = append(order, s.documents)
		}
		return ran(s), nil
	}
	require.NoError(t, r.fill(t.Context(), 3, run, t.Output()))
	assert.Equal(t, []int{1, 2, 3_000_000, 1, 2, 1, 2}, order)
}

func TestAnInterruptEndsTheRounds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newReport(parsed(t).plan())
	run := func(_ context.Context, s step) (*outcome, error) {
		cancel()
		return nil, ctx.Err()
	}
	assert.ErrorIs(t, r.fill(ctx, 3, run, t.Output()), context.Canceled)
}
