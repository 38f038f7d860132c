package search_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/go-azsearch/azsearch/search"
)

// BenchmarkIndexDocumentsRaw measures the client's share of a full batch: pipeline, one read of the body, decoding of
// the reply.
func BenchmarkIndexDocumentsRaw(b *testing.B) {
	batch := bytes.Repeat([]byte("x"), 650_000)
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = strings.Repeat("k", 12)
	}
	answer := []byte(emptyOKFor(keys...))
	client := newClient(b, transporter(func(req *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer))}, nil
	}))
	b.ReportAllocs()
	for b.Loop() {
		result, err := client.IndexDocumentsRaw(b.Context(), streaming.NopCloser(bytes.NewReader(batch)))
		if err != nil || len(result.Results) != len(keys) {
			b.Fatal(len(result.Results), err)
		}
	}
}

// BenchmarkUploadDocuments also encodes the documents.
func BenchmarkUploadDocuments(b *testing.B) {
	docs := make([]hotel, 1000)
	keys := make([]string, len(docs))
	for i := range docs {
		keys[i] = strings.Repeat("k", 10) + string(rune('a'+i%26)) + string(rune('a'+i/26%26))
		docs[i] = hotel{ID: keys[i], Name: strings.Repeat("n", 600)}
	}
	answer := []byte(emptyOKFor(keys...))
	client := newClient(b, transporter(func(req *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer))}, nil
	}))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := search.UploadDocuments(b.Context(), client, docs, nil); err != nil {
			b.Fatal(err)
		}
	}
}
