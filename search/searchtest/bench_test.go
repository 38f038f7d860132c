package searchtest

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// benchIndex has thirteen fields, including a complex field, times, floats and collections.
const benchIndex = `{"name":"bench","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"title","type":"Edm.String"},
	{"name":"body","type":"Edm.String","filterable":false,"sortable":false,"facetable":false},
	{"name":"category","type":"Edm.String"},
	{"name":"tags","type":"Collection(Edm.String)"},
	{"name":"price","type":"Edm.Double"},
	{"name":"rating","type":"Edm.Double"},
	{"name":"stock","type":"Edm.Int32"},
	{"name":"views","type":"Edm.Int64"},
	{"name":"active","type":"Edm.Boolean"},
	{"name":"created","type":"Edm.DateTimeOffset"},
	{"name":"updated","type":"Edm.DateTimeOffset"},
	{"name":"address","type":"Edm.ComplexType","fields":[
		{"name":"street","type":"Edm.String"},{"name":"city","type":"Edm.String"},
		{"name":"zip","type":"Edm.String"},{"name":"lat","type":"Edm.Double"},{"name":"lon","type":"Edm.Double"}]}]}`

// benchDocument is an action of about 650 bytes.
func benchDocument(n int, action string) string {
	return fmt.Sprintf(`{"@search.action":"%s","id":"doc-%08d","title":"A product of some renown, number %d",`+
		`"body":"%s","category":"kitchen & dining","tags":["steel","dishwasher-safe","gift","2026"],`+
		`"price":%d.95,"rating":4.2857142857,"stock":%d,"views":%d,"active":true,`+
		`"created":"2024-02-29T12:34:56.789Z","updated":"2026-11-21T08:00:00.123456789+01:00",`+
		`"address":{"street":"1 Main Street","city":"Z\u00fcrich","zip":"8001","lat":47.376886,"lon":8.541694}}`,
		action, n, n, strings.Repeat("Lorem ipsum dolor sit amet. ", 7), n%1000, n%500, int64(n)*1_000_003)
}

func benchBatch(from, n int, action string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"value":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(benchDocument(from+i, action))
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// BenchmarkIndexDocuments measures the emulator's cost for a client that fills an index through the in-process
// transport: from the bytes of the request body to those of the reply.
func BenchmarkIndexDocuments(b *testing.B) {
	for _, test := range []struct {
		name   string
		action string
		keys   int // number of distinct documents
		opts   Options
	}{
		{"replace", "upload", 10_000, Options{}},
		{"replace without records", "upload", 10_000, Options{KeepChanges: -1, KeepRequests: -1}},
		{"merge", "mergeOrUpload", 10_000, Options{}},
		{"visibility lag", "upload", 10_000, Options{VisibilityLag: time.Second}},
		{"new", "upload", math.MaxInt32, Options{}},
		{"discard", "upload", math.MaxInt32, Options{DiscardDocuments: true, KeepChanges: -1, KeepRequests: -1}},
	} {
		b.Run(test.name, func(b *testing.B) {
			const size = 1000
			s := NewServer(&test.opts)
			if err := s.CreateIndex(benchIndex); err != nil {
				b.Fatal(err)
			}
			var batches [][]byte
			for i := range 10 {
				batches = append(batches, benchBatch(i*size, size, test.action))
			}
			client := s.Transport()
			b.SetBytes(int64(len(batches[0])))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			sent := 0
			for b.Loop() {
				batch := batches[sent/size%len(batches)]
				if sent >= test.keys || sent < 0 {
					sent = 0
				}
				if test.keys > 10_000 && sent >= 10_000 {
					renumber(batch, sent)
				}
				req, _ := http.NewRequest(http.MethodPost, s.URL()+"/indexes('bench')/docs/search.index?api-version="+latest.String(), bytes.NewReader(batch))
				req.Header.Set("Api-Key", AdminKey)
				req.Header.Set("Content-Type", "application/json")
				resp, err := client.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				if resp.StatusCode != http.StatusOK {
					body, _ := io.ReadAll(resp.Body)
					b.Fatalf("status %d: %.300s", resp.StatusCode, body)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				sent += size
			}
			runtime.ReadMemStats(&after)
			documents := float64(b.N * size)
			b.ReportMetric(documents/b.Elapsed().Seconds(), "docs/s")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/documents, "allocs/doc")
			b.ReportMetric(float64(len(batches[0]))/size, "B/doc-in")
		})
	}
}

// renumber replaces the keys of a batch in place.
func renumber(batch []byte, from int) {
	const mark = `"id":"doc-`
	for at := 0; ; from++ {
		i := bytes.Index(batch[at:], []byte(mark))
		if i < 0 {
			return
		}
		at += i + len(mark)
		for digit, rest := at+7, from; digit >= at; digit, rest = digit-1, rest/10 {
			batch[digit] = byte('0' + rest%10)
		}
	}
}
