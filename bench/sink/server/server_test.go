package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/elastic/go-elasticsearch/v9"
	"github.com/elastic/go-elasticsearch/v9/esutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
)

type document struct {
	ID   string `json:"id" search:"key"`
	Text string `json:"text"`
}

func documents(from, n int) []document {
	docs := make([]document, n)
	for i := range docs {
		docs[i] = document{ID: fmt.Sprintf("doc-%08d", from+i), Text: `a "quoted" text with "id":"not-a-key" and a \ in it`}
	}
	return docs
}

func start(t *testing.T, c Config) (*Server, string) {
	t.Helper()
	s, err := New(c)
	require.NoError(t, err)
	up := httptest.NewServer(s)
	t.Cleanup(up.Close)
	return s, up.URL
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(reply)
}

const azureBatch = "/indexes('bench')/docs/search.index?api-version=2025-09-01"

func TestOurClientGetsAResultForEachDocument(t *testing.T) {
	s, url := start(t, Config{})
	client, err := search.NewClientWithKey(url, "bench", azcore.NewKeyCredential("k"), &search.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: http.DefaultClient},
	})
	require.NoError(t, err)
	docs := documents(0, 500)
	result, err := search.UploadDocuments(t.Context(), client, docs, nil)
	require.NoError(t, err)
	require.Len(t, result.Results, 500)
	for i, r := range result.Results {
		assert.Equal(t, docs[i].ID, r.Key)
		assert.True(t, r.Succeeded)
	}
	counts := s.Counts()
	assert.EqualValues(t, 500, counts.Documents)
	assert.EqualValues(t, 500, counts.Distinct)
	assert.EqualValues(t, 1, counts.Requests)
	assert.Greater(t, counts.Bytes, int64(500*50))
}

func TestElasticsearchClientAcceptsTheSink(t *testing.T) {
	s, url := start(t, Config{})
	client, err := elasticsearch.New(elasticsearch.WithAddresses(url))
	require.NoError(t, err)
	about, err := client.Info()
	require.NoError(t, err)
	require.NoError(t, about.Body.Close())
	indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{Client: client, Index: "bench", NumWorkers: 1})
	require.NoError(t, err)
	for _, d := range documents(0, 300) {
		raw, err := json.Marshal(d)
		require.NoError(t, err)
		require.NoError(t, indexer.Add(t.Context(), esutil.BulkIndexerItem{Action: "index", DocumentID: d.ID, Body: bytes.NewReader(raw)}))
	}
	require.NoError(t, indexer.Close(t.Context()))
	require.NoError(t, client.Close(t.Context()))
	stats := indexer.Stats()
	assert.EqualValues(t, 300, stats.NumFlushed)
	assert.Zero(t, stats.NumFailed)
	assert.EqualValues(t, 300, s.Counts().Distinct)
}

func TestBulkRepliesHaveWhatWasAskedFor(t *testing.T) {
	_, url := start(t, Config{})
	const body = `{"create":{"_index":"bench"}}` + "\n" + `{"id":"doc-1","text":"x"}` + "\n" + `{"delete":{"_id":"doc-2"}}` + "\n"

	_, brief := post(t, url+"/_bulk?filter_path=items.*._index,items.*.status", body)
	assert.JSONEq(t, `{"items":[{"create":{"_index":"bench","status":201}},{"delete":{"_index":"bench","status":201}}]}`, brief)

	status, full := post(t, url+"/bench/_bulk", body)
	assert.Equal(t, http.StatusOK, status)
	var reply esutil.BulkIndexerResponse
	require.NoError(t, json.Unmarshal([]byte(full), &reply))
	require.Len(t, reply.Items, 2)
	assert.False(t, reply.HasErrors)
	assert.Equal(t, "doc-1", reply.Items[0]["create"].DocumentID)
	assert.Equal(t, 201, reply.Items[0]["create"].Status)
}

func TestADocumentThatComesTwiceIsOneDistinct(t *testing.T) {
	s, url := start(t, Config{})
	for range 2 {
		post(t, url+azureBatch, `{"value":[{"id":"doc-7"},{"id":"doc-8"}]}`)
	}
	assert.EqualValues(t, 4, s.Counts().Documents)
	assert.EqualValues(t, 2, s.Counts().Distinct)
}

func TestTheFirstRequestsAreRefused(t *testing.T) {
	s, url := start(t, Config{RefuseStatus: 429, RefuseFirst: 2})
	var got []int
	for range 4 {
		status, _ := post(t, url+azureBatch, `{"value":[{"id":"doc-7"}]}`)
		got = append(got, status)
	}
	assert.Equal(t, []int{429, 429, 200, 200}, got)
	assert.EqualValues(t, 2, s.Counts().Refused)
	assert.EqualValues(t, 2, s.Counts().Documents)
	assert.EqualValues(t, 4, s.Counts().Requests)
}

func TestAShareOfTheRequestsIsRefusedAtEvenIntervals(t *testing.T) {
	_, url := start(t, Config{RefuseStatus: 503, RefuseRate: 0.25})
	var got []int
	for range 8 {
		status, _ := post(t, url+"/_bulk", "{\"index\":{}}\n{\"id\":\"doc-1\"}\n")
		got = append(got, status)
	}
	assert.Equal(t, []int{200, 200, 200, 503, 200, 200, 200, 503}, got)
}

func TestLargeRequestsAreRefused(t *testing.T) {
	s, url := start(t, Config{MaxBody: 100})
	status, _ := post(t, url+azureBatch, `{"value":[{"id":"doc-1"}]}`)
	assert.Equal(t, 200, status)
	status, reply := post(t, url+azureBatch, `{"value":[{"id":"doc-1","text":"`+strings.Repeat("x", 100)+`"}]}`)
	assert.Equal(t, 413, status)
	assert.True(t, json.Valid([]byte(reply)), reply)
	assert.EqualValues(t, 1, s.Counts().Documents)
}

func TestRefusedDocumentsAreAcceptedTheSecondTime(t *testing.T) {
	s, url := start(t, Config{ItemStatus: 503, ItemRate: 0.05})
	body, err := json.Marshal(map[string]any{"value": documents(0, 10_000)})
	require.NoError(t, err)
	status, first := post(t, url+azureBatch, string(body))
	assert.Equal(t, http.StatusMultiStatus, status)
	var reply struct {
		Value []struct {
			Status     bool `json:"status"`
			StatusCode int  `json:"statusCode"`
		} `json:"value"`
	}
	require.NoError(t, json.Unmarshal([]byte(first), &reply))
	refused := 0
	for _, v := range reply.Value {
		if !v.Status {
			refused++
			assert.Equal(t, 503, v.StatusCode)
		}
	}
	assert.InDelta(t, 500, refused, 50)
	assert.EqualValues(t, refused, s.Counts().RefusedDocuments)
	assert.EqualValues(t, 10_000-refused, s.Counts().Distinct)

	status, _ = post(t, url+azureBatch, string(body))
	assert.Equal(t, http.StatusOK, status)
	assert.EqualValues(t, 10_000, s.Counts().Distinct)
}

func TestLatencyIsWaited(t *testing.T) {
	_, url := start(t, Config{Latency: 20 * time.Millisecond})
	begun := time.Now()
	post(t, url+azureBatch, `{"value":[{"id":"doc-1"}]}`)
	assert.GreaterOrEqual(t, time.Since(begun), 20*time.Millisecond)
}

func TestWhatIsNoBatchIsRefusedAndCountsNoDocument(t *testing.T) {
	s, url := start(t, Config{})
	for path, body := range map[string]string{
		azureBatch:                `[{"id":"doc-1"}]`,
		"/_bulk":                  `{"index":{}}` + "\n" + `{"id":"doc-1"}`, // no newline at the end
		"/_bulk?filter_path=took": "{\"id\":\"doc-1\"}\n",
		"/bench/_bulk":            "{\"index\":{}}\n",
	} {
		status, _ := post(t, url+path, body)
		assert.Equal(t, http.StatusBadRequest, status, path)
	}
	status, _ := post(t, url+"/indexes('bench')/docs/search.post.search", "{}")
	assert.Equal(t, http.StatusNotFound, status)
	assert.Zero(t, s.Counts().Documents)
	assert.EqualValues(t, 4, s.Counts().Requests)
}

func TestStatsAreTheCounts(t *testing.T) {
	s, url := start(t, Config{})
	post(t, url+azureBatch, `{"value":[{"id":"doc-1"}]}`)
	resp, err := http.Get(url + StatsPath)
	require.NoError(t, err)
	defer resp.Body.Close()
	var got Counts
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&got))
	assert.Equal(t, s.Counts(), got)
	assert.EqualValues(t, 1, got.Documents)
}

func TestWrongConfigIsRefusedWithEveryProblem(t *testing.T) {
	_, err := New(Config{RefuseRate: 2, ItemRate: 0.1, RefuseFirst: 1})
	require.ErrorContains(t, err, "share of refused requests is 2")
	require.ErrorContains(t, err, "status of refused requests is 0")
	require.ErrorContains(t, err, "status of refused documents is 0")
}

// FuzzScan checks that a scan of any body ends, and that the keys are parts of the body.
func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"value":[{"id":"doc-1"},{"id":"doc-2"}]}`))
	f.Add([]byte("{\"index\":{}}\n{\"id\":\"doc-1\"}\n{\"delete\":{}}\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, p := range []protocol{azure{}, bulk{}, bulk{brief: true}} {
			items, err := p.scan(nil, body)
			for _, it := range items {
				if !bytes.Contains(body, it.key) {
					t.Errorf("%q is not part of the body", it.key)
				}
			}
			if err == nil {
				p.reply(nil, items)
			}
		}
	})
}
