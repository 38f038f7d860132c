package bufferedsender_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// fakeIndexer is for what the emulator cannot do: ignore a context, hang.
type fakeIndexer struct {
	index func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error)
}

func (f *fakeIndexer) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	return f.index(ctx, body)
}

// fakeCatalog also knows, or fails to know, the key field.
type fakeCatalog struct {
	fakeIndexer
	keyField func(ctx context.Context) (string, error)
}

func (f *fakeCatalog) KeyFieldName(ctx context.Context) (string, error) { return f.keyField(ctx) }

// agree is the reply of a service that applies everything.
func agree(_ context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	var request struct {
		Value []struct{ ID string }
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		return models.IndexDocumentsResult{}, err
	}
	result := models.IndexDocumentsResult{StatusCode: 200}
	for _, v := range request.Value {
		result.Results = append(result.Results, models.IndexingResult{Key: v.ID, Succeeded: true, StatusCode: 201})
	}
	return result, nil
}

// statusError is an answer of the service for fakes.
type statusError int

func (e statusError) Error() string   { return fmt.Sprintf("status %d", int(e)) }
func (e statusError) HTTPStatus() int { return int(e) }

// reply is a whole answer, headers given as name, value, …
func reply(req *http.Request, status int, body string, headers ...string) *http.Response {
	resp := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	for i := 0; i < len(headers); i += 2 {
		resp.Header.Set(headers[i], headers[i+1])
	}
	return resp
}

// refusal is the body of an error as the service writes it.
func refusal(message string) string {
	return fmt.Sprintf(`{"error":{"code":"","message":%q}}`, message)
}

// always answers every request alike.
func always(status int, body string, headers ...string) answer {
	return func(_ int, _ *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return reply(req, status, body, headers...), nil
	}
}

// hang answers no request until its context ends.
func hang(_ int, _ *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// onlyFirst applies a to the first n requests, the emulator answers the others.
func onlyFirst(n int, a answer) answer {
	return func(i int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if i <= n {
			return a(i, x, req, next)
		}
		return next()
	}
}

func keysOf(xs []*exchange) (keys [][]string) {
	for _, x := range xs {
		keys = append(keys, x.keys)
	}
	return keys
}

func ids(docs []hotel) (keys []string) {
	for _, d := range docs {
		keys = append(keys, d.ID)
	}
	return keys
}

// indexed returns the keys in the index, sorted.
func (r *rig) indexed() []string {
	keys := []string{}
	for key := range r.srv.Documents("hotels") {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// metricSums returns what the counters of the sender add up to, by their last
// word. It is nil if the reader belongs to no provider.
func metricSums(t *testing.T, reader *sdkmetric.ManualReader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		return nil
	}
	sums := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			name, ok := strings.CutPrefix(m.Name, "azsearch.sender.items.")
			if !ok {
				continue
			}
			data, isSum := m.Data.(metricdata.Sum[int64])
			require.True(t, isSum, m.Name)
			for _, p := range data.DataPoints {
				sums[name] += p.Value
			}
		}
	}
	return sums
}

// closeAtLast closes a sender that has no rig when the test ends, also if it
// fails: what a bubble leaves running ends all tests.
func closeAtLast(t *testing.T, s interface{ Close(context.Context) error }) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Close(ctx)
	})
}

// lockedBuffer collects a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
