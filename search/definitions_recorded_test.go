package search_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// managementExchange is a recorded exchange with the real service about synonym maps or analysis. For the source of
// the recordings see searchtest/testdata/NOTICE.md.
type managementExchange struct {
	file         string
	method, path string // without the api-version
	header       http.Header
	body         string // "" in the recordings of the Java SDK
	status       int
	reply        string
}

// recordedManagement returns the exchanges of both SDKs.
func recordedManagement(t *testing.T) []managementExchange {
	t.Helper()
	var list []managementExchange
	add := func(x managementExchange, uri string) {
		u, err := url.Parse(uri)
		require.NoError(t, err)
		x.path = u.Path
		if selected := u.Query().Get("$select"); selected != "" {
			x.path += "?" + selected
		}
		if strings.HasPrefix(x.path, "/synonymmaps") || strings.HasSuffix(x.path, "/search.analyze") {
			list = append(list, x)
		}
	}
	for _, file := range recordingFiles(t, "java-2019-05-06/*.json") {
		var recording struct {
			NetworkCallRecords []struct {
				Method   string
				URI      string `json:"Uri"`
				Headers  map[string]string
				Response map[string]string
			} `json:"networkCallRecords"`
		}
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &recording), file)
		for _, r := range recording.NetworkCallRecords {
			status, err := strconv.Atoi(r.Response["StatusCode"])
			require.NoError(t, err)
			add(managementExchange{file: filepath.Base(file), method: r.Method, status: status, reply: r.Response["Body"]}, r.URI)
		}
	}
	for _, file := range recordingFiles(t, "python-2020-06-30/*.yaml") {
		var recording struct {
			Interactions []struct {
				Request struct {
					Body, Method, URI string
					Headers           map[string][]string
				}
				Response struct {
					Body   struct{ String string }
					Status struct{ Code int }
				}
			}
		}
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(b, &recording), file)
		for _, i := range recording.Interactions {
			header := http.Header{}
			for name, values := range i.Request.Headers {
				header.Set(name, values[0])
			}
			add(managementExchange{
				file: filepath.Base(file), method: i.Request.Method, header: header, body: i.Request.Body,
				status: i.Response.Status.Code, reply: i.Response.Body.String,
			}, i.Request.URI)
		}
	}
	return list
}

func recordingFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("searchtest/testdata/recordings", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// Each call is repeated: its request equals the recorded one, if that has a body, and its result has everything in
// the reply.
func TestRecordedManagementIsRepeated(t *testing.T) {
	counts := map[string]int{}
	for _, x := range recordedManagement(t) {
		t.Run(x.file+" "+x.method+" "+x.path, func(t *testing.T) {
			w := reply(x.status, x.reply)
			result, err := x.repeat(t, newIndexClient(t, w))
			require.Len(t, w.requests, 1)
			req := w.requests[0]
			assert.Equal(t, x.method, req.Method)
			path := req.URL.Path
			if selected := req.URL.Query().Get("$select"); selected != "" {
				path += "?" + selected
			}
			assert.Equal(t, x.path, path)
			if x.body != "" {
				assert.JSONEq(t, x.body, w.bodies[0])
				counts["bodies"]++
			}
			for _, name := range []string{"If-Match", "If-None-Match", "Prefer"} {
				if value := x.header.Get(name); value != "" {
					assert.Equal(t, value, req.Header.Get(name), name)
				}
			}
			if x.status >= 300 {
				counts["refusals"]++
				x.refused(t, err)
				return
			}
			require.NoError(t, err)
			if x.reply == "" {
				return
			}
			counts["replies"]++
			got, err := json.Marshal(result)
			require.NoError(t, err)
			assert.Equal(t, withoutNull(t, []byte(x.reply)), withoutNull(t, got))
		})
	}
	assert.Equal(t, map[string]int{"bodies": 13, "refusals": 15, "replies": 67}, counts)
}

// repeat makes the call of the exchange and returns its result in the shape of the reply.
func (x managementExchange) repeat(t *testing.T, c *search.IndexClient) (any, error) {
	t.Helper()
	ctx := t.Context()
	var etag *azcore.ETag
	if value := x.header.Get("If-Match"); value != "" {
		etag = (*azcore.ETag)(&value)
	}
	if index, ok := strings.CutSuffix(x.path, "/search.analyze"); ok {
		request := models.AnalyzeTextRequest{Text: "One's <two/>", Analyzer: models.AnalyzerWhitespace}
		if x.body != "" {
			require.NoError(t, json.Unmarshal([]byte(x.body), &request))
		}
		return c.AnalyzeText(ctx, strings.Trim(strings.TrimPrefix(index, "/indexes"), "(')"), request, nil)
	}
	definition := models.SynonymMap{Name: "test-synonym", Synonyms: []string{"a, b"}}
	for _, text := range []string{x.reply, x.body} {
		var known models.SynonymMap
		if json.Unmarshal([]byte(text), &known) == nil && known.Name != "" {
			definition = known
		}
	}
	name := strings.Trim(strings.TrimPrefix(x.path, "/synonymmaps"), "(')")
	if name != "" && x.body == "" {
		definition.Name, definition.ETag = name, ""
	}
	switch {
	case x.method == http.MethodPost:
		return c.CreateSynonymMap(ctx, definition, nil)
	case x.method == http.MethodPut:
		return c.CreateOrUpdateSynonymMap(ctx, definition, &search.CreateOrUpdateSynonymMapOptions{IfMatch: etag})
	case x.method == http.MethodDelete:
		return nil, c.DeleteSynonymMap(ctx, name, &search.DeleteSynonymMapOptions{IfMatch: etag})
	case x.path == "/synonymmaps?name":
		list := []any{}
		for name, err := range c.ListSynonymMapNames(ctx, nil) {
			if err != nil {
				return nil, err
			}
			list = append(list, map[string]any{"name": name})
		}
		return map[string]any{"value": list}, nil
	case x.path == "/synonymmaps":
		list := []models.SynonymMap{}
		for synonyms, err := range c.ListSynonymMaps(ctx, nil) {
			if err != nil {
				return nil, err
			}
			list = append(list, synonyms)
		}
		return map[string]any{"value": list}, nil
	}
	return c.GetSynonymMap(ctx, name, nil)
}

// refused checks that an error has the sentinel and the message of the service's refusal.
func (x managementExchange) refused(t *testing.T, err error) {
	t.Helper()
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, x.status, e.StatusCode)
	var reply struct{ Error struct{ Message string } }
	require.NoError(t, json.Unmarshal([]byte(x.reply), &reply))
	assert.Equal(t, reply.Error.Message, e.Message)
	assert.Equal(t, x.status == http.StatusNotFound, errors.Is(err, search.ErrSynonymMapNotFound))
	assert.Equal(t, x.status == http.StatusPreconditionFailed, errors.Is(err, search.ErrPreconditionFailed))
}

// withoutNull decodes JSON without null members and "@odata.context". Numbers keep their digits.
func withoutNull(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&v), "%s", b)
	var prune func(any)
	prune = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				if member == nil || name == "@odata.context" {
					delete(v, name)
				}
				prune(member)
			}
		case []any:
			for _, entry := range v {
				prune(entry)
			}
		}
	}
	prune(v)
	return v
}
