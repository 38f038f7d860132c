package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

// small is the setting for a run of a few seconds.
var small = setting{documents: 2000, seed: 1, fast: true}

// TestEveryRowHolds runs the command on a shorter scale. The soak "faults" also runs it with eight requests in
// flight.
func TestEveryRowHolds(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Command.Main(t.Context(), []string{"-fast", "-docs", "2000", "-json"}, cli.Streams{Out: &stdout, Err: &stderr})
	var results []*result
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &results), "%s", stderr.String())
	for _, r := range results {
		assert.Empty(t, r.Problems, r.Row)
	}
	assert.Zero(t, code)
	require.Len(t, results, len(rows(small)))
	for i, r := range rows(small) {
		res := results[i]
		assert.Equal(t, r.name, res.Row)
		assert.Positive(t, res.Accepted, r.name)
		assert.Equal(t, r.recovery != notMeasured, res.Recovered != nil && res.Drained != nil, r.name)
	}
}

// executeSmall runs a row with a wrapper around the client.
func executeSmall(t *testing.T, name string, around func(bufferedsender.Indexer) bufferedsender.Indexer) *result {
	t.Helper()
	all := rows(small)
	r := all[slices.IndexFunc(all, func(r row) bool { return r.name == name })]
	service, err := startProcess(t.Context(), r.service)
	require.NoError(t, err)
	res, err := r.execute(t.Context(), small, service, around)
	require.NoError(t, err)
	require.NoError(t, service.stop())
	return res
}

// liar is an Indexer that simulates mistakes of the sender.
type liar struct {
	bufferedsender.Indexer
	send func(ctx context.Context, next bufferedsender.Indexer, body []byte) (models.IndexDocumentsResult, error)
}

func (l *liar) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	content, err := io.ReadAll(body)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	return l.send(ctx, l.Indexer, content)
}

type bytesBody struct{ *bytes.Reader }

func (bytesBody) Close() error { return nil }

func pass(ctx context.Context, next bufferedsender.Indexer, body []byte) (models.IndexDocumentsResult, error) {
	return next.IndexDocumentsRaw(ctx, bytesBody{bytes.NewReader(body)})
}

func TestARowFindsTheMistakesOfASender(t *testing.T) {
	once := func(f func(body []byte) []byte) func(context.Context, bufferedsender.Indexer, []byte) (models.IndexDocumentsResult, error) {
		var mu sync.Mutex
		done := false
		return func(ctx context.Context, next bufferedsender.Indexer, body []byte) (models.IndexDocumentsResult, error) {
			mu.Lock()
			defer mu.Unlock()
			if changed := f(body); !done && changed != nil {
				done = true
				body = changed
			}
			return pass(ctx, next, body)
		}
	}
	var hoard [][]byte
	for name, c := range map[string]struct {
		send func(ctx context.Context, next bufferedsender.Indexer, body []byte) (models.IndexDocumentsResult, error)
		says string
	}{
		"honest": {pass, ""},
		"reports it as sent": {func(_ context.Context, _ bufferedsender.Indexer, body []byte) (models.IndexDocumentsResult, error) {
			result := models.IndexDocumentsResult{StatusCode: 200}
			var batch struct{ Value []document }
			if err := json.Unmarshal(body, &batch); err != nil {
				return result, err
			}
			for _, d := range batch.Value {
				result.Results = append(result.Results, models.IndexingResult{Key: d.ID, Succeeded: true, StatusCode: 200})
			}
			return result, nil
		}, "is completed and was never applied"},
		"reports it as failed": {func(ctx context.Context, next bufferedsender.Indexer, body []byte) (models.IndexDocumentsResult, error) {
			result, err := pass(ctx, next, body)
			if err == nil {
				result.Results[0].Succeeded, result.Results[0].StatusCode = false, 400
			}
			return result, err
		}, "is failed for certain and was applied"},
		"changes a field": {once(func(body []byte) []byte {
			if !bytes.Contains(body, []byte(`"title":"t1`)) {
				return nil
			}
			return bytes.Replace(body, []byte(`"title":"t1`), []byte(`"title":"t2`), 1)
		}), "travels with a field of action"},
		"loses a field": {once(func(body []byte) []byte {
			from := bytes.Index(body, []byte(`,"rank":`))
			if from < 0 {
				return nil
			}
			to := from + bytes.IndexByte(body[from:], '}')
			return slices.Concat(body[:from], body[to:])
		}), "which the sender did not report"},
		"sends twice": {func(ctx context.Context, next bufferedsender.Indexer, body []byte) (models.IndexDocumentsResult, error) {
			if result, err := pass(ctx, next, body); err != nil {
				return result, err
			}
			return pass(ctx, next, body)
		}, "the sender reported 1"},
		"hoards memory": {func(ctx context.Context, next bufferedsender.Indexer, body []byte) (models.IndexDocumentsResult, error) {
			if len(hoard) < 20 {
				hoard = append(hoard, make([]byte, 16<<20)) // far above the limit, whatever else is freed meanwhile
			}
			return pass(ctx, next, body)
		}, "MB of memory, more than the high-water mark"},
	} {
		t.Run(name, func(t *testing.T) {
			res := executeSmall(t, "none", func(client bufferedsender.Indexer) bufferedsender.Indexer { return &liar{client, c.send} })
			said := strings.Join(append(res.Problems, res.Errors...), "\n")
			if c.says == "" {
				require.Empty(t, said)
				return
			}
			require.NotEmpty(t, res.Problems)
			require.Contains(t, said, c.says)
		})
	}
	clear(hoard)
}

// A row whose fault never happens proves nothing, so it must not hold.
func TestARowWithoutItsFaultDoesNotHold(t *testing.T) {
	all := rows(small)
	r := all[slices.IndexFunc(all, func(r row) bool { return r.name == "two-429" })]
	r.service.Faults = nil
	service, err := startProcess(t.Context(), r.service)
	require.NoError(t, err)
	res, err := r.execute(t.Context(), small, service, nil)
	require.NoError(t, err)
	require.NoError(t, service.stop())
	assert.Contains(t, res.Problems, `the row proves nothing: "request 429" was met 0 times, it takes 2`)
	assert.Contains(t, res.Problems, "no recovery was seen")
}

// Unexpected failures fail a row: a 400 of a document is never retried.
func TestLostDocumentsFailARow(t *testing.T) {
	all := rows(small)
	r := all[slices.IndexFunc(all, func(r row) bool { return r.name == "items-429" })]
	r.mayFail = nil
	service, err := startProcess(t.Context(), r.service)
	require.NoError(t, err)
	res, err := r.execute(t.Context(), small, service, nil)
	require.NoError(t, err)
	require.NoError(t, service.stop())
	assert.NotZero(t, res.Lost)
	assert.Zero(t, res.Wrong)
	require.Len(t, res.Problems, 1)
	assert.Contains(t, res.Problems[0], "failed that should not have")
}
