package bufferedsender_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// declaration is a document of about 650 bytes of JSON with fields of several types.
type declaration struct {
	ID        string    `json:"id" search:"key"`
	Package   string    `json:"package"`
	Kind      string    `json:"kind"`
	Name      string    `json:"name"`
	Signature string    `json:"signature"`
	Doc       string    `json:"doc"`
	File      string    `json:"file"`
	Line      int       `json:"line"`
	Exported  bool      `json:"exported"`
	Lines     int       `json:"linesOfCode"`
	Rating    float64   `json:"rating"`
	Tags      []string  `json:"tags"`
	Changed   time.Time `json:"changed"`
}

// declarations returns n documents with different keys.
func declarations(n int) []declaration {
	docs := make([]declaration, n)
	for i := range docs {
		docs[i] = declaration{
			ID: fmt.Sprintf("net_http_Client_%07d", i), Package: "net/http", Kind: "method", Name: "Do",
			Signature: "func (c *Client) Do(req *Request) (*Response, error)",
			Doc:       strings.Repeat("Do sends an HTTP request and returns an HTTP response, following policy. ", 4),
			File:      "src/net/http/client.go", Line: 583 + i, Exported: true, Lines: 3, Rating: 4.75,
			Tags: []string{"http", "client", "network"}, Changed: time.Date(2026, 2, 10, 12, 0, 0, 0, time.UTC),
		}
	}
	return docs
}

// sink is an Indexer that reads the body, finds the keys and reports success after latency. It allocates almost
// nothing per document, so the benchmark measures the sender.
type sink struct {
	latency time.Duration
	bytes   atomic.Int64
	buffers sync.Pool
}

func (s *sink) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	buffer, ok := s.buffers.Get().(*bytes.Buffer)
	if !ok {
		buffer = new(bytes.Buffer)
	}
	defer s.buffers.Put(buffer)
	buffer.Reset()
	n, err := buffer.ReadFrom(body)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	s.bytes.Add(n)
	if s.latency > 0 {
		select {
		case <-time.After(s.latency):
		case <-ctx.Done():
			return models.IndexDocumentsResult{}, ctx.Err()
		}
	}
	const before, width = `"id":"`, len("net_http_Client_0000000")
	raw := buffer.Bytes()
	keys := make([]byte, 0, 1000*width)
	for at := bytes.Index(raw, []byte(before)); at >= 0; at = bytes.Index(raw, []byte(before)) {
		raw = raw[at+len(before):]
		keys = append(keys, raw[:width]...)
	}
	all := string(keys)
	result := models.IndexDocumentsResult{StatusCode: 200, Results: make([]models.IndexingResult, len(all)/width)}
	for i := range result.Results {
		result.Results[i] = models.IndexingResult{Key: all[i*width : (i+1)*width], Succeeded: true, StatusCode: 200}
	}
	return result, nil
}

// BenchmarkSender measures the way of documents through the sender: encoding, batching, reading the results,
// settling.
func BenchmarkSender(b *testing.B) {
	for _, c := range []struct {
		name     string
		parallel bool
		docs     int // per call
		opts     bufferedsender.Options[declaration]
		latency  time.Duration
	}{
		{name: "one producer, one document a call", docs: 1},
		{name: "one producer, 100 documents a call", docs: 100},
		{name: "parallel producers, one document a call", docs: 1, parallel: true},
		{name: "parallel producers, 100 documents a call", docs: 100, parallel: true},
		{name: "a slow service, one request at a time", docs: 100, latency: 10 * time.Millisecond},
		{name: "a slow service, eight requests at a time", docs: 100, latency: 10 * time.Millisecond, opts: bufferedsender.Options[declaration]{Limits: bufferedsender.Limits{MaxInFlight: 8}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			service := &sink{latency: c.latency}
			s, err := bufferedsender.New(service, &c.opts)
			require.NoError(b, err)
			docs := declarations(100_000) // more than the buffer holds, so that keys rarely repeat in it
			var next atomic.Int64
			add := func() {
				at := int(next.Add(int64(c.docs))-int64(c.docs)) % len(docs)
				if err := s.UploadDocuments(context.Background(), docs[at:at+c.docs]...); err != nil {
					b.Error(err)
				}
			}
			b.ReportAllocs()
			if c.parallel {
				b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						add()
					}
				})
			} else {
				for b.Loop() {
					add()
				}
			}
			require.NoError(b, s.Close(context.Background()))
			b.StopTimer()
			stats := s.Stats()
			require.Equal(b, stats.Accepted, stats.Completed)
			seconds := b.Elapsed().Seconds()
			b.ReportMetric(float64(stats.Completed)/seconds, "docs/s")
			b.ReportMetric(float64(service.bytes.Load())/float64(stats.Completed), "B/doc")
		})
	}
}

// BenchmarkCallbacks measures the cost of reporting documents to an application. allocs/doc includes everything: a
// thousand documents are added, sent in one request, reported and waited for.
func BenchmarkCallbacks(b *testing.B) {
	const n = 1000
	docs := declarations(n)
	pointers := make([]*declaration, n)
	for i := range docs {
		pointers[i] = &docs[i]
	}
	b.Run("none", func(b *testing.B) { benchmarkCallbacks(b, docs, events.Handlers[declaration]{}) })
	b.Run("all", func(b *testing.B) { benchmarkCallbacks(b, docs, allHandlers[declaration]()) })
	b.Run("none, documents are pointers", func(b *testing.B) { benchmarkCallbacks(b, pointers, events.Handlers[*declaration]{}) })
	b.Run("all, documents are pointers", func(b *testing.B) { benchmarkCallbacks(b, pointers, allHandlers[*declaration]()) })
}

// allHandlers returns handlers that do nothing.
func allHandlers[T any]() events.Handlers[T] {
	return events.Handlers[T]{
		ActionAdded:     func(context.Context, *events.ActionAdded[T]) error { return nil },
		ActionSent:      func(context.Context, *events.ActionSent[T]) {},
		ActionCompleted: func(context.Context, *events.ActionCompleted[T]) {},
		ActionFailed:    func(context.Context, *events.ActionFailed[T]) {},
		BatchCompleted:  func(context.Context, *events.Batch) {},
		HealthChanged:   func(context.Context, *events.HealthChange) {},
		Closed:          func(context.Context) error { return nil },
	}
}

func benchmarkCallbacks[T any](b *testing.B, docs []T, handlers events.Handlers[T]) {
	ctx := context.Background()
	s, err := bufferedsender.New(&sink{}, &bufferedsender.Options[T]{Handlers: handlers, Logger: sendertest.NoLog})
	require.NoError(b, err)
	op := func() {
		if err := s.UploadDocuments(ctx, docs...); err != nil {
			b.Error(err)
		}
		if err := s.Flush(ctx, nil); err != nil {
			b.Error(err)
		}
	}
	op() // one-time allocations happen now
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	for b.Loop() {
		op()
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N*len(docs)), "allocs/doc")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(docs)), "ns/doc")
	require.NoError(b, s.Close(ctx))
}

// BenchmarkInFlight measures the gain of concurrent requests when each takes 100 ms, as to a distant or busy service.
func BenchmarkInFlight(b *testing.B) {
	for _, n := range []int{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, err := bufferedsender.New(&sink{latency: 100 * time.Millisecond}, &bufferedsender.Options[declaration]{Limits: bufferedsender.Limits{MaxInFlight: n}})
			require.NoError(b, err)
			docs := declarations(100_000)
			const call = 1000
			at := 0
			for b.Loop() {
				if err := s.UploadDocuments(context.Background(), docs[at:at+call]...); err != nil {
					b.Error(err)
				}
				at = (at + call) % len(docs)
			}
			require.NoError(b, s.Close(context.Background()))
			b.ReportMetric(float64(s.Stats().Completed)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}
