package main

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
	"github.com/go-azsearch/azsearch/search"
)

// transport is a service written for one test.
type transport func(*http.Request) (*http.Response, error)

func (t transport) Do(r *http.Request) (*http.Response, error) { return t(r) }

// served returns a client of such a service.
func served(t *testing.T, service transport) *search.Client {
	t.Helper()
	opts := &search.ClientOptions{}
	opts.Transport = service
	client, err := search.NewClientWithKey("https://x.search.windows.net", "decls", azcore.NewKeyCredential("k"), opts)
	require.NoError(t, err)
	return client
}

// replying returns a service with a constant reply.
func replying(status int, body string) transport {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Status: http.StatusText(status), Request: r,
			Header: http.Header{"Content-Type": {"application/json"}},
			Body:   io.NopCloser(strings.NewReader(body)),
		}, nil
	}
}

// evil controls a terminal in several ways: it sets a title, moves the cursor, uses a one-byte control character, and
// reverses the following text.
const evil = "\x1b]0;owned\a\x1b[2J\u009b2J\r\u202eevil\x7f"

// hostile replies with evil in every text, and only to fuzzy queries.
func hostile(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	answer := `{"@odata.count": 0, "value": []}`
	switch {
	case strings.Contains(string(body), "refused"):
		return replying(http.StatusForbidden, strings.ReplaceAll(`{"error": {"code": "EVIL", "message": "EVIL"}}`, "EVIL", inJSON(evil)))(r)
	case strings.HasSuffix(r.URL.Path, "autocomplete"):
		answer = `{"value": [{"text": "EVIL", "queryPlusText": "readEVIL"}, {"text": "EVIL", "queryPlusText": "readEVILEVIL"}]}`
	case strings.HasSuffix(r.URL.Path, "suggest"):
		answer = `{"value": [{"@search.text": "EVIL", "key": "1"}]}`
	case strings.Contains(string(body), `"full"`):
		answer = `{"@odata.count": 1, "@search.facets": {"kind": [{"value": "EVIL", "count": 1}], "package": [{"value": "EVIL", "count": 1}]},
			"value": [{"@search.score": 1, "@search.highlights": {"doc": ["EVIL"]}, "key": "1", "name": "EVIL", "package": "EVIL", "file": "EVIL", "signature": "EVIL", "doc": "EVIL"}]}`
	}
	return replying(http.StatusOK, strings.ReplaceAll(answer, "EVIL", inJSON(evil)))(r)
}

func inJSON(text string) string {
	quoted, _ := json.Marshal(text)
	return strings.Trim(string(quoted), `"`)
}

// listenAs returns flags that search a service.
func listenAs(t *testing.T, service transport) []string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := service(r)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}))
	t.Cleanup(srv.Close)
	return []string{"-endpoint", srv.URL, "-api-key", "k"}
}

func TestNoTextOfTheServiceCommandsTheTerminal(t *testing.T) {
	flags := listenAs(t, hostile)
	harmless := func(text string) {
		t.Helper()
		require.Contains(t, text, "evil")
		require.Equal(t, stage.Text(text), text)
	}
	o := start(t.Context(), t, append(flags, "read")...)
	require.Equal(t, 0, o.Code, o.Err)
	harmless(o.Out)
	require.Equal(t, 8, strings.Count(o.Out, "evil"), "suggestion, name, package, file, signature, doc and two facets:\n%s", o.Out)

	o = start(t.Context(), t, append(flags, "refused")...)
	require.Equal(t, stage.ExitProblem, o.Code)
	harmless(o.Err)

	o = start(t.Context(), t, flags...) // the demonstration
	require.Equal(t, 0, o.Code, o.Err)
	harmless(o.Out)
}

func TestReplyWithoutACountIsAnError(t *testing.T) {
	o := start(t.Context(), t, append(listenAs(t, replying(http.StatusOK, `{"value": []}`)), "read")...)
	require.Equal(t, stage.ExitProblem, o.Code)
	require.Equal(t, "sample: the service does not say how many results there are\n", o.Err)
}

func TestPagesThatTheServiceHasNotAreRefusedUnasked(t *testing.T) {
	asked := 0
	client := served(t, func(r *http.Request) (*http.Response, error) {
		asked++
		return replying(http.StatusOK, `{"@odata.count": 200000, "value": []}`)(r)
	})
	for name, c := range map[string]struct {
		top, page int
		asked     bool
	}{
		"the largest page":          {1000, 1, true},
		"a larger one":              {1001, 1, false},
		"a page without results":    {0, 1, false},
		"the last page":             {1000, 101, true},
		"one that is not there":     {1000, 102, false},
		"the last page of three":    {3, 33334, true},
		"the next one":              {3, 33335, false},
		"a page beyond all numbers": {10, math.MaxInt, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked = 0
			_, err := find(t.Context(), client, question{words: "x", top: c.top, page: c.page})
			if c.asked {
				require.NoError(t, err)
				require.Equal(t, 1, asked)
				return
			}
			require.ErrorContains(t, err, "the service gives 1 to 1000 results a page")
			require.Zero(t, asked)
			stagetest.Refuses(t, program, err.Error(), "-top", strconv.Itoa(c.top), "-page", strconv.Itoa(c.page), "x")
		})
	}
}
