package search_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

const searchURL = testEndpoint + "/indexes('hotels')/docs/search.post.search" + version

// page is a reply with one result and optionally a continuation.
func page(id, link, parameters string) *http.Response {
	body := `"value":[{"@search.score":1,"hotelId":"` + id + `"}]`
	if parameters != "" {
		body = `"@search.nextPageParameters":` + parameters + `,` + body
	}
	if link != "" {
		body += `,"@odata.nextLink":"` + link + `"`
	}
	return response(200, "{"+body+"}")
}

// collect returns the keys of a query's results.
func collect(t *testing.T, client *search.Client, opts *search.SearchOptions) (ids []string, err error) {
	t.Helper()
	for result, err := range search.Search[hotel](t.Context(), client, "pool", opts) {
		if err != nil {
			assert.Zero(t, result)
			return ids, err
		}
		ids = append(ids, result.Document.ID)
	}
	return ids, nil
}

func TestSearchReadsAllPages(t *testing.T) {
	second := `{"skip":50,"search":"pool","orderby":"hotelId","newerThanUs":[1]}`
	w := replies(page("1", searchURL, second), page("2", searchURL, `{"search":"pool","skip":100}`), page("3", "", ""))
	ids, err := collect(t, newClient(t, w), &search.SearchOptions{OrderBy: []string{"hotelId"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"1", "2", "3"}, ids)
	require.Len(t, w.requests, 3)
	for _, req := range w.requests {
		assert.Equal(t, http.MethodPost, req.Method)
		assert.Equal(t, searchURL, req.URL.String())
		assert.Equal(t, "application/json;odata.metadata=none", req.Header.Get("Accept"))
		assert.Equal(t, "application/json", req.Header.Get("Content-Type"))
		assert.Equal(t, testKey, req.Header.Get("api-key"))
	}
	assert.JSONEq(t, `{"search":"pool","orderby":"hotelId"}`, w.bodies[0])
	assert.Equal(t, second, w.bodies[1], "the service's parameters are sent unchanged")
}

func TestSearchStopsWhereItsReaderDoes(t *testing.T) {
	w := replies(page("1", searchURL, `{"skip":1}`))
	for _, err := range search.Search[hotel](t.Context(), newClient(t, w), "pool", nil) {
		require.NoError(t, err)
		break
	}
	assert.Len(t, w.requests, 1)
}

func TestEveryIterationBeginsAnew(t *testing.T) {
	w := &wire{answer: func(n int, _ *http.Request) (*http.Response, error) {
		if n%2 == 0 {
			return page("1", searchURL, `{"search":"pool","skip":1}`), nil
		}
		return page("2", "", ""), nil
	}}
	results := search.Search[hotel](t.Context(), newClient(t, w), "pool", nil)
	for range 2 {
		n := 0
		for _, err := range results {
			require.NoError(t, err)
			n++
		}
		assert.Equal(t, 2, n)
	}
	assert.Equal(t, w.bodies[:2], w.bodies[2:])
}

// Later changes of the options affect neither the first nor the second iteration.
func TestOptionsAreReadBeforeSearchReturns(t *testing.T) {
	w := reply(200, emptyOK)
	opts := &search.SearchOptions{Select: []string{"a"}, Top: to.Ptr(5)}
	results := search.Search[hotel](t.Context(), newClient(t, w), "pool", opts)
	opts.Select[0], *opts.Top = "b", -1
	for _, err := range results {
		t.Fatal("unexpected result", err)
	}
	assert.JSONEq(t, `{"search":"pool","select":"a","top":5}`, w.bodies[0])
}

func TestPagerShowsWhatThePageSays(t *testing.T) {
	w := replies(
		response(206, `{"@odata.count":2,"@search.semanticPartialResponseReason":"transient","value":[{"@search.score":1}],"@search.nextPageParameters":{"skip":1},"@odata.nextLink":"`+searchURL+`"}`),
		page("2", "", ""))
	pager := search.NewSearchPager[hotel](newClient(t, w), "pool", nil)
	assert.Empty(t, w.requests, "making a pager sends nothing")
	require.True(t, pager.More())
	first, err := pager.NextPage(t.Context())
	require.NoError(t, err, "a partial reply is a reply")
	assert.Equal(t, 206, first.StatusCode)
	assert.True(t, first.Partial())
	assert.Equal(t, models.SemanticPartialResponseTransient, first.SemanticPartialResponseReason)
	assert.Equal(t, "11111111-2222-3333-4444-555555555555", first.RequestID)
	assert.EqualValues(t, 2, *first.Count)
	require.True(t, pager.More())
	second, err := pager.NextPage(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "2", second.Results[0].Document.ID)
	assert.False(t, second.Partial())
	assert.False(t, pager.More())
}

// A continuation that was used before, with its members in any order, ends the search with an error.
func TestPagesGoSomewhere(t *testing.T) {
	for name, c := range map[string]struct {
		parameters []string
		requests   int
	}{
		"the request itself":               {[]string{`{"search":"pool"}`}, 1},
		"the request, encoded differently": {[]string{` { "orderby":"a", "search":"\u0070ool" } `}, 1},
		"the page itself":                  {[]string{`{"search":"pool","skip":50}`, `{"skip":50,"search":"pool"}`}, 2},
		"the one before":                   {[]string{`{"skip":50}`, `{"skip":100}`, `{"skip":50}`}, 3},
		"numbers with all digits":          {[]string{`{"skip":9007199254740992}`, `{"skip":9007199254740993}`, `{"skip":9007199254740993}`}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			opts := &search.SearchOptions{}
			if strings.Contains(c.parameters[0], "orderby") {
				opts.OrderBy = []string{"a"}
			}
			var list []*http.Response
			for _, p := range c.parameters {
				list = append(list, page("x", searchURL, p))
			}
			w := replies(list...)
			ids, err := collect(t, newClient(t, w), opts)
			require.ErrorIs(t, err, models.ErrMalformedReply)
			require.ErrorContains(t, err, "its pages go round in a circle (request id 11111111-")
			assert.Len(t, w.requests, c.requests)
			assert.Len(t, ids, c.requests, "the results so far are returned")
		})
	}
}

// The client never follows the host of a continuation link: only the presence of a link matters. Behind a gateway the
// link names an unreachable host.
func TestCredentialsStayWithTheService(t *testing.T) {
	for _, link := range []string{
		searchURL, "https://SVC.search.windows.net:443/indexes('hotels')/docs/search?api-version=2026-10-01", "",
		"https://evil.example.com/indexes('hotels')/docs/search.post.search", "http://svc.search.windows.net/indexes('hotels')/docs",
		"https://user:secret@svc.search.windows.net/indexes", "//evil.example.com/", "/indexes('other')/docs/search.post.search", "https://svc.search.windows.net/%zz",
	} {
		w := replies(page("1", link, `{"skip":50}`), page("2", "", ""))
		ids, err := collect(t, newClient(t, w), nil)
		require.NoError(t, err, link)
		assert.Equal(t, []string{"1", "2"}, ids)
		require.Len(t, w.requests, 2)
		assert.Equal(t, w.requests[0].URL.String(), w.requests[1].URL.String(), link)
	}
}

func TestContinuationThatSaysTooLittleIsAnError(t *testing.T) {
	_, err := collect(t, newClient(t, replies(page("1", searchURL, ""))), nil)
	require.ErrorContains(t, err, "it links to another page, but does not say with what parameters")
	_, err = collect(t, newClient(t, replies(page("1", searchURL, `"skip"`))), nil)
	require.ErrorContains(t, err, "the parameters of its next page are not an object")
}

// A failed pager repeats its error.
func TestErrorIsTheLastThingOfASearch(t *testing.T) {
	const refusal = `{"error":{"code":"","message":"Invalid expression: Syntax error at position 7 in 'This is not a valid filter.'.\r\nParameter name: $filter"}}`
	w := replies(page("1", searchURL, `{"skip":1}`), response(400, refusal))
	client := newClient(t, w)
	ids, err := collect(t, client, nil)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 400, e.StatusCode)
	assert.Equal(t, "Search", e.Operation)
	require.ErrorContains(t, err, "Syntax error at position 7 in 'This is not a valid filter.'. Parameter name: $filter (Search of index \"hotels\": HTTP 400")
	assert.Equal(t, []string{"1"}, ids)

	w = reply(404, `{"error":{"code":"","message":"The index 'hotels' for service 'svc' was not found."}}`)
	pager := search.NewSearchPager[hotel](newClient(t, w), "pool", nil)
	_, err = pager.NextPage(t.Context())
	require.ErrorIs(t, err, search.ErrIndexNotFound)
	assert.False(t, pager.More())
	_, again := pager.NextPage(t.Context())
	assert.Equal(t, err, again)
	assert.Len(t, w.requests, 1)
}

// Queries are idempotent.
func TestQueriesAreTriedAgain(t *testing.T) {
	broken := errors.New("broken")
	w := &wire{answer: func(n int, _ *http.Request) (*http.Response, error) {
		switch n {
		case 0:
			return nil, broken
		case 1:
			return response(503, `{"error":{"code":"","message":"Coverage is too low."}}`), nil
		case 2:
			return response(429, ""), nil
		}
		return page("1", "", ""), nil
	}}
	ids, err := collect(t, newClient(t, w), &search.SearchOptions{MinimumCoverage: to.Ptr(0.)})
	require.NoError(t, err)
	assert.Equal(t, []string{"1"}, ids)
	require.Len(t, w.bodies, 4)
	for _, body := range w.bodies {
		assert.JSONEq(t, `{"search":"pool","minimumCoverage":0}`, body, "the body is whole each time")
	}
	_, err = collect(t, newClient(t, reply(503, `{"error":{"code":"","message":"Coverage is too low."}}`)), nil)
	require.ErrorContains(t, err, "Coverage is too low.")
}

func TestQueryReplyThatMakesNoSenseIsMalformed(t *testing.T) {
	for _, body := range []string{"", "null", "[]", "{}", `{"value":`, "<html>", `{"value":null}`, `{"value":[1]}`} {
		client := newClient(t, reply(200, body))
		_, err := search.NewSearchPager[hotel](client, "x", nil).NextPage(t.Context())
		require.ErrorIs(t, err, models.ErrMalformedReply, body)
		require.ErrorContains(t, err, "(HTTP 200, request id 11111111-")
		_, err = search.Suggest[hotel](t.Context(), client, "x", "sg", nil)
		require.ErrorIs(t, err, models.ErrMalformedReply, body)
		_, err = client.Autocomplete(t.Context(), "x", "sg", nil)
		require.ErrorIs(t, err, models.ErrMalformedReply, body)
	}
}

func TestDocumentOfAResultThatDoesNotFitIsNotQuoted(t *testing.T) {
	type small struct {
		N int8 `json:"n"`
	}
	client := newClient(t, reply(200, `{"value":[{"@search.score":1,"n":1},{"@search.score":1,"n":31337}]}`))
	_, err := search.NewSearchPager[small](client, "x", nil).NextPage(t.Context())
	require.EqualError(t, err, `search: Search of index "hotels": the document of result 1 does not fit: field "n": a JSON number cannot become a Go int8 (HTTP 200, request id 11111111-2222-3333-4444-555555555555)`)
	require.NotErrorIs(t, err, models.ErrMalformedReply)
}

// azcore's pager adds no spans.
func TestOneSpanAPage(t *testing.T) {
	var s spans
	opts := options(replies(page("1", searchURL, `{"skip":1}`), response(503, ""), page("2", "", ""),
		response(200, `{"value":[]}`), response(200, `{"value":[]}`), response(200, `{"value":[]}`)))
	opts.TracingProvider = s.provider()
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	_, err = collect(t, client, nil)
	require.NoError(t, err)
	_, err = search.Suggest[hotel](t.Context(), client, "x", "sg", nil)
	require.NoError(t, err)
	_, err = client.Autocomplete(t.Context(), "x", "sg", nil)
	require.NoError(t, err)
	for _, err := range search.Scan[hotel](t.Context(), client, nil) {
		t.Fatal("unexpected result", err)
	}
	var names []string
	for _, sp := range s.list {
		assert.True(t, sp.ended, sp.name)
		names = append(names, sp.parent+" > "+sp.name)
	}
	assert.Equal(t, []string{
		" > Client.Search", "Client.Search > HTTP POST",
		" > Client.Search", "Client.Search > HTTP POST", "Client.Search > HTTP POST",
		" > Client.Suggest", "Client.Suggest > HTTP POST",
		" > Client.Autocomplete", "Client.Autocomplete > HTTP POST",
		" > Client.Scan", "Client.Scan > HTTP POST",
	}, names)
}

// Many goroutines use one iterator.
func TestSearchConcurrentSafe(t *testing.T) {
	client := newClient(t, transporter(func(req *http.Request) (*http.Response, error) {
		var body struct{ Skip int }
		if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
			return nil, err
		}
		if body.Skip == 20 {
			return page("20", "", ""), nil
		}
		return page(fmt.Sprint(body.Skip), searchURL, fmt.Sprintf(`{"skip":%d}`, body.Skip+1)), nil
	}))
	results := search.Search[hotel](t.Context(), client, "", nil)
	done := make(chan int)
	for range 4 {
		go func() {
			n := 0
			for _, err := range results {
				if err == nil {
					n++
				}
			}
			done <- n
		}()
	}
	for range 4 {
		assert.Equal(t, 21, <-done)
	}
}
