package search_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The query needs no more requests than the service's page size requires: 50 results, or up to 1000 if Top is that
// high.
func TestSearchReturnsWhatTopAndSkipAllow(t *testing.T) {
	const all = 2345
	srv, client := emulatingEverything(t, numbered(all)...)
	for name, c := range map[string]struct {
		opts             search.SearchOptions
		from, to, number int // first result, end, number of requests
	}{
		"all":                        {search.SearchOptions{}, 0, all, 47},
		"none":                       {search.SearchOptions{Top: to.Ptr(0)}, 0, 0, 1},
		"one":                        {search.SearchOptions{Top: to.Ptr(1)}, 0, 1, 1},
		"less than a page":           {search.SearchOptions{Top: to.Ptr(49)}, 0, 49, 1},
		"a page":                     {search.SearchOptions{Top: to.Ptr(50)}, 0, 50, 1},
		"more than a page alone":     {search.SearchOptions{Top: to.Ptr(51)}, 0, 51, 1},
		"the largest page":           {search.SearchOptions{Top: to.Ptr(1000)}, 0, 1000, 1},
		"more than the largest page": {search.SearchOptions{Top: to.Ptr(1001)}, 0, 1001, 2},
		"two of the largest pages":   {search.SearchOptions{Top: to.Ptr(2000)}, 0, 2000, 2},
		"more than there are":        {search.SearchOptions{Top: to.Ptr(100_000)}, 0, all, 3},
		"the end":                    {search.SearchOptions{Skip: 2300}, 2300, all, 1},
		"a part in the middle":       {search.SearchOptions{Skip: 700, Top: to.Ptr(1200)}, 700, 1900, 2},
		"beyond the last result":     {search.SearchOptions{Skip: all}, all, all, 1},
		"far beyond the last result": {search.SearchOptions{Skip: 100_000, Top: to.Ptr(5)}, all, all, 1},
	} {
		t.Run(name, func(t *testing.T) {
			before := searches(srv)
			c.opts.OrderBy = []string{"int"}
			ids, err := found(t, client, "", &c.opts)
			require.NoError(t, err)
			require.Len(t, ids, c.to-c.from)
			for i, id := range ids {
				require.Equal(t, numberedID(c.from+i), id)
			}
			assert.Equal(t, c.number, searches(srv)-before)
		})
	}
}

// The count does not depend on Top or Skip.
func TestEveryPageHasTheCountOfAll(t *testing.T) {
	_, client := emulatingEverything(t, numbered(120)...)
	opts := &search.SearchOptions{IncludeTotalCount: true, Filter: search.Lt("int", 110), OrderBy: []string{"int"}}
	var sizes []int
	pager := search.NewSearchPager[models.Document](client, "", opts)
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		require.NoError(t, err)
		require.NotNil(t, page.Count)
		assert.EqualValues(t, 110, *page.Count)
		assert.Nil(t, page.Coverage, "the coverage was not requested")
		assert.False(t, page.Partial())
		assert.NotEmpty(t, page.RequestID)
		sizes = append(sizes, len(page.Results))
	}
	assert.Equal(t, []int{50, 50, 10}, sizes)

	page, err := search.NewSearchPager[models.Document](client, "", nil).NextPage(t.Context())
	require.NoError(t, err)
	assert.Nil(t, page.Count)
}

func TestReaderThatStopsCausesNoFurtherRequest(t *testing.T) {
	srv, client := emulatingEverything(t, numbered(120)...)
	for stop, requests := range map[int]int{1: 1, 50: 1, 51: 2, 100: 2, 101: 3} {
		before, n := searches(srv), 0
		for _, err := range search.Search[models.Document](t.Context(), client, "", nil) {
			require.NoError(t, err)
			if n++; n == stop {
				break
			}
		}
		assert.Equal(t, requests, searches(srv)-before, "after %d results", stop)
	}
}

// Pages before the failure are kept, the pager repeats its error without a request, and a new query from that
// position succeeds after the service has recovered.
func TestFailedPageEndsThePagerAndNotTheQuery(t *testing.T) {
	srv, client := emulatingEverything(t, numbered(120)...)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{
		{Operation: searchtest.OpSearch, After: 1, Status: 503, Message: "You are sending too many requests."},
	}})
	opts := search.SearchOptions{OrderBy: []string{"int"}}
	pager := search.NewSearchPager[struct{ ID string }](client, "", &opts)
	first, err := pager.NextPage(t.Context())
	require.NoError(t, err)
	require.Len(t, first.Results, 50)
	before := searches(srv)
	_, err = pager.NextPage(t.Context())
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 503, e.StatusCode)
	assert.Equal(t, "You are sending too many requests.", e.Message)
	assert.Equal(t, 4, searches(srv)-before, "the retries of the pipeline")

	srv.SetFaults(nil)
	before = searches(srv)
	assert.False(t, pager.More())
	_, again := pager.NextPage(t.Context())
	assert.Equal(t, err, again)
	assert.Equal(t, before, searches(srv))

	opts.Skip = len(first.Results)
	ids, err := found(t, client, "", &opts)
	require.NoError(t, err)
	assert.Len(t, ids, 70)
	assert.Equal(t, "00050", ids[0])
}

func TestIteratorThatFailedCanBeStartedAgain(t *testing.T) {
	srv, client := emulatingEverything(t, numbered(120)...)
	results := search.Search[struct{ ID string }](t.Context(), client, "", &search.SearchOptions{OrderBy: []string{"int"}})
	read := func() (n int, err error) {
		for _, err = range results {
			if err == nil {
				n++
			}
		}
		return n, err
	}
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpSearch, After: 2, Status: 500}}})
	n, err := read()
	require.Error(t, err)
	assert.Equal(t, 100, n)
	srv.SetFaults(nil)
	n, err = read()
	require.NoError(t, err)
	assert.Equal(t, 120, n)
}

// A query succeeds if the faults end during its retries.
func TestTroublesOfTheServiceAreNotSeen(t *testing.T) {
	for name, fault := range map[string]searchtest.Fault{
		"unavailable":              {Status: 503},
		"throttled":                {Status: 429},
		"an error inside":          {Status: 500},
		"a gateway without answer": {Status: 502},
		"a gateway out of time":    {Status: 504},
		"a broken connection":      {Cut: searchtest.CutBeforeCommit},
		"a lost reply":             {Cut: searchtest.CutAfterCommit},
		"a reply that breaks off":  {Body: searchtest.BodyTruncated},
	} {
		t.Run(name, func(t *testing.T) {
			srv, client := emulatingEverything(t, numbered(120)...)
			fault.Operation, fault.After, fault.Count = searchtest.OpSearch, 1, 3
			srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{fault}})
			ids, err := found(t, client, "", &search.SearchOptions{OrderBy: []string{"int"}})
			require.NoError(t, err)
			assert.Len(t, slices.Compact(ids), 120)
			assert.Equal(t, 3+3, searches(srv))
		})
	}
}

// A malformed reply is an error, not an empty page.
func TestRepliesThatAreNoneAreNotTakenForEmptyPages(t *testing.T) {
	for _, body := range []searchtest.BodyFault{searchtest.BodyMalformed, searchtest.BodyEmpty} {
		srv, client := emulatingEverything(t, numbered(60)...)
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpSearch, After: 1, Body: body}}})
		ids, err := found(t, client, "", nil)
		require.ErrorIs(t, err, models.ErrMalformedReply, body)
		assert.Len(t, ids, 50)
	}
	srv, client := emulatingEverything(t, numbered(60)...)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpSearch, After: 1, Body: searchtest.BodyTruncated}}})
	ids, err := found(t, client, "", nil)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the connection broke")
	assert.Len(t, ids, 50)
}

// The query waits for Retry-After, or until its context ends.
func TestQueryWaitsAsLongAsTheServiceAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _ := emulatingEverything(t, numbered(60)...)
		opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}} // with the delays of azcore
		client, err := search.NewClientWithKey(srv.URL(), "everything", azcore.NewKeyCredential(searchtest.QueryKey), opts)
		require.NoError(t, err)
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{
			{Operation: searchtest.OpSearch, After: 1, Count: 1, Status: 503, RetryAfter: searchtest.Duration(7 * time.Second)},
		}})
		start := time.Now()
		ids, err := found(t, client, "", nil)
		require.NoError(t, err)
		assert.Len(t, ids, 60)
		assert.Equal(t, 7*time.Second, time.Since(start))

		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{
			{Operation: searchtest.OpSearch, After: 1, Delay: searchtest.Duration(time.Hour)},
		}})
		start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		n := 0
		for _, err = range search.Search[models.Document](ctx, client, "", nil) {
			if err == nil {
				n++
			}
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 50, n, "the results so far are returned")
		assert.Equal(t, 3*time.Second, time.Since(start))
	})
}

// Coverage is returned on request; below MinimumCoverage the query fails.
func TestCoverageIsShownToThoseWhoAsk(t *testing.T) {
	srv, client := emulatingEverything(t, models.Document{"id": "1", "text": "harbour view"})
	page, err := search.NewSearchPager[models.Document](client, "", &search.SearchOptions{MinimumCoverage: to.Ptr(80.)}).NextPage(t.Context())
	require.NoError(t, err)
	assert.Equal(t, to.Ptr(100.), page.Coverage)
	suggestions, err := search.Suggest[models.Document](t.Context(), client, "har", "sg", &search.SuggestOptions{MinimumCoverage: to.Ptr(0.)})
	require.NoError(t, err)
	assert.Equal(t, to.Ptr(100.), suggestions.Coverage)
	completions, err := client.Autocomplete(t.Context(), "har", "sg", &search.AutocompleteOptions{MinimumCoverage: to.Ptr(100.)})
	require.NoError(t, err)
	assert.Equal(t, to.Ptr(100.), completions.Coverage)

	const low = "The request could not be served with a coverage of 100."
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Status: 503, Message: low}}})
	_, ofSearch := found(t, client, "", &search.SearchOptions{MinimumCoverage: to.Ptr(100.)})
	_, ofSuggest := search.Suggest[models.Document](t.Context(), client, "har", "sg", nil)
	_, ofAutocomplete := client.Autocomplete(t.Context(), "har", "sg", nil)
	for operation, err := range map[string]error{"Search": ofSearch, "Suggest": ofSuggest, "Autocomplete": ofAutocomplete} {
		var e *search.Error
		if assert.True(t, errors.As(err, &e), operation) {
			assert.Equal(t, operation, e.Operation)
			assert.Equal(t, low, e.Message)
		}
	}
}
