package search_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func TestA404IsAboutTheIndexThoughItIsCalledDocuments(t *testing.T) {
	for message, want := range map[string]error{
		"The index 'documents' for service 'svc' was not found.":                        search.ErrIndexNotFound,
		"No index with the name 'documents' was found in the service 'document-store'.": search.ErrIndexNotFound,
		"Document not found.":                          search.ErrDocumentNotFound,
		"Document 'index' was not found in index 'x'.": search.ErrDocumentNotFound,
	} {
		client := newClient(t, reply(http.StatusNotFound, `{"error":{"code":"","message":"`+message+`"}}`))
		_, err := search.GetDocument[hotel](t.Context(), client, "1", nil)
		require.ErrorIs(t, err, want, message)
	}
}

func TestListingEndsWhenItsPagesGoRoundInACircle(t *testing.T) {
	client := newIndexClient(t, reply(http.StatusOK, `{"value":[{"name":"a"}],"@odata.nextLink":"`+testEndpoint+`/indexes?api-version=2026-10-01&page=2"}`))
	seen := 0
	var last error
	for _, err := range client.ListIndexes(t.Context(), nil) {
		if seen++; seen > 10 {
			break
		}
		last = err
	}
	assert.True(t, errors.Is(last, models.ErrMalformedReply), "%v after %d", last, seen)
}

// A zero value would otherwise be written back, or counted.
func TestRepliesThatAreNotWhatWasAskedForAreMalformed(t *testing.T) {
	definition := models.SearchIndex{Name: "hotels"}
	calls := map[string]func(*search.IndexClient) error{
		"GetIndex":    func(c *search.IndexClient) error { return second(c.GetIndex(t.Context(), "hotels", nil)) },
		"CreateIndex": func(c *search.IndexClient) error { return second(c.CreateIndex(t.Context(), definition, nil)) },
		"CreateOrUpdateIndex": func(c *search.IndexClient) error {
			return second(c.CreateOrUpdateIndex(t.Context(), definition, nil))
		},
		"GetSynonymMap":        func(c *search.IndexClient) error { return second(c.GetSynonymMap(t.Context(), "names", nil)) },
		"GetAlias":             func(c *search.IndexClient) error { return second(c.GetAlias(t.Context(), "now", nil)) },
		"GetIndexStatistics":   func(c *search.IndexClient) error { return second(c.GetIndexStatistics(t.Context(), "hotels", nil)) },
		"GetServiceStatistics": func(c *search.IndexClient) error { return second(c.GetServiceStatistics(t.Context(), nil)) },
		"ListIndexes": func(c *search.IndexClient) error {
			for _, err := range c.ListIndexes(t.Context(), nil) {
				return err
			}
			return nil
		},
		"ListIndexNames": func(c *search.IndexClient) error {
			for _, err := range c.ListIndexNames(t.Context(), nil) {
				return err
			}
			return nil
		},
	}
	for body, says := range map[string]string{
		"":                              "it is empty",
		"null":                          "it is null",
		"{}":                            "",
		"[]":                            "it is JSON, but not an object",
		`{"name":"other","value":[{}]}`: "",
		"<html>log in</html>":           "it is a page of HTML",
		`{"name":"hotels"`:              "it is not JSON, or breaks off",
	} {
		for name, call := range calls {
			status := http.StatusOK
			if name == "CreateIndex" {
				status = http.StatusCreated
			}
			err := call(newIndexClient(t, reply(status, body)))
			require.ErrorIs(t, err, models.ErrMalformedReply, "%s: %s", name, body)
			assert.ErrorContains(t, err, says, name)
		}
		if body[:min(1, len(body))] != "{" {
			client := newClient(t, reply(http.StatusOK, body))
			for _, err := range []error{
				second(search.GetDocument[hotel](t.Context(), client, "1", nil)),
				second(search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}}, nil)),
				second(search.NewSearchPager[hotel](client, "", nil).NextPage(t.Context())),
			} {
				require.ErrorIs(t, err, models.ErrMalformedReply, body)
				assert.ErrorContains(t, err, says)
			}
		}
	}
	err := calls["GetIndex"](newIndexClient(t, reply(http.StatusOK, `{"name":"other"}`)))
	require.ErrorContains(t, err, `got the index "other", want "hotels"`)
	err = calls["GetIndexStatistics"](newIndexClient(t, reply(http.StatusOK, `{"storageSize":1}`)))
	require.ErrorContains(t, err, `it has no member "documentCount"`)
}

func second[T any](_ T, err error) error { return err }

func TestErrorsCountAndPrintNoMoreThanWasSent(t *testing.T) {
	long := strings.Repeat("word ", 40_000)
	client := newClient(t, reply(http.StatusMultiStatus, `{"value":[{"key":"x","status":false,"errorMessage":"a","statusCode":400},{"key":"y","status":false,"errorMessage":"b","statusCode":400}]}`))
	_, err := search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}, {ID: "2"}}, nil)
	require.ErrorContains(t, err, `2 of 2 documents were not indexed, and the reply has results of documents that were not sent: key "x"`)
	client = newClient(t, reply(http.StatusMultiStatus, `{"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":200},{"key":"1","status":false,"errorMessage":"`+long+`","statusCode":400}]}`))
	_, err = search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}}, nil)
	require.ErrorContains(t, err, "1 of 1 documents were not indexed")
	assert.Less(t, len(err.Error()), 3000)
	client = newClient(t, reply(http.StatusBadRequest, `{"error":{"code":"","message":"`+long+`","details":[{"message":"other `+long+`"}]}}`))
	_, err = search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}}, nil)
	require.ErrorContains(t, err, "… (199999 bytes in all)")
	assert.Less(t, len(err.Error()), 5000)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Len(t, e.Message, len(long)-1, "Message has all of it")
}

// TestOddRepliesToABatchConfirmNothing: a reply to an upload of the documents 1 and 2 that can be read in two ways.
func TestOddRepliesToABatchConfirmNothing(t *testing.T) {
	const one, two = `{"key":"1","status":true,"errorMessage":null,"statusCode":200}`, `{"key":"2","status":true,"errorMessage":null,"statusCode":200}`
	list := func(results ...string) string { return `{"value":[` + strings.Join(results, ",") + `]}` }
	malformed := func(says string) func(error) {
		return func(err error) {
			require.ErrorIs(t, err, models.ErrMalformedReply)
			require.ErrorContains(t, err, says)
		}
	}
	unclear := func(says string, keys ...string) func(error) {
		return func(err error) {
			var e *search.IndexingError
			require.ErrorAs(t, err, &e)
			require.ErrorContains(t, err, says)
			var failed []string
			for _, r := range e.Failed {
				failed = append(failed, r.Key)
			}
			assert.Equal(t, keys, failed)
		}
	}
	for body, want := range map[string]func(error){
		list(`{"key":"1","status":false,"status":true,"errorMessage":null,"statusCode":200}`, two):     malformed(`a result: it has the member "status" twice`),
		list(`{"key":"1","status":true,"statusCode":400,"errorMessage":null,"statusCode":200}`, two):   malformed(`"statusCode" twice`),
		list(`{"key":"2","key":"1","status":true,"errorMessage":null,"statusCode":200}`, two):          malformed(`"key" twice`),
		list(`{"key":"1","errorMessage":"x","errorMessage":null,"status":true,"statusCode":200}`, two): malformed(`"errorMessage" twice`),
		list(`{"key":"1","st\u0061tus":false,"status":true,"statusCode":200}`, two):                    malformed(`"status" twice`),
		list(`{"key":"1","status":false,"Status":true,"statusCode":200}`, two):                         malformed(`"status" in another case`),
		list(`{"KEY":"1","status":true,"statusCode":200}`, two):                                        malformed(`"key" in another case`),
		list(`{"key":"1","status":true,"errormessage":null,"statusCode":200}`, two):                    malformed(`"errorMessage" in another case`),
		list(`{"\u212aey":"1","status":true,"statusCode":200}`, two):                                   malformed(`"key" in another case`),
		`{"value":[],"value":[` + one + `,` + two + `]}`:                                               malformed(`"value" twice`),
		`{"Value":[` + one + `,` + two + `]}`:                                                          malformed(`"value" in another case`),
		`{"error":{"code":"","message":"x"},"value":[` + one + `,` + two + `]}`:                        malformed("an error next to its results"),
		list(`{"key":"1","status":true,"errorMessage":"Document not found.","statusCode":200}`, two):   unclear(`key "1": 200 Document not found.`, "1"),
		list(`{"key":"1","status":true,"errorMessage":null,"statusCode":400}`, two):                    unclear(`key "1": 400`, "1"),
		list(`{"key":"1","status":false,"errorMessage":null,"statusCode":200}`, two):                   unclear(`key "1": 200`, "1"),
		list(`{"key":"1","status":true,"errorMessage":null}`, two):                                     unclear(`key "1"`, "1"),
		list(`{"key":"1","statusCode":200}`, two):                                                      unclear(`key "1": 200`, "1"),
		list(`{"key":"1","status":null,"statusCode":200}`, two):                                        unclear(`key "1": 200`, "1"),
		list(one, one, two): unclear("several results for this document", "1"),
		list(one, `{"key":"1","status":false,"errorMessage":"Document not found.","statusCode":404}`, two):           unclear(`key "1": 404 Document not found.`, "1"),
		list(`{"key":"1","status":false,"statusCode":409}`, `{"key":"1","status":false,"statusCode":409}`, two):      unclear(`key "1": 409`, "1"),
		list(one, two, `{"key":"3","status":false,"statusCode":409}`, `{"key":"3","status":false,"statusCode":409}`): unclear(`key "3": 409`, "3"),
		list(one, one): unclear("the reply says nothing about this document", "2", "1"),
		list(one, two, `{"key":"3","status":true,"errorMessage":null,"statusCode":200}`): unclear(`key "3": the reply has a result for this document, which was not sent`, "3"),
		list(one, two, "null"): unclear("1 of 2 documents", ""),
		list(one, `{"key":"02","status":true,"errorMessage":null,"statusCode":200}`): unclear(`key "2": the reply says nothing about this document`, "2", "02"),
	} {
		_, err := search.UploadDocuments(t.Context(), newClient(t, reply(http.StatusOK, body)), []hotel{{ID: "1"}, {ID: "2"}}, nil)
		require.Error(t, err, body)
		want(err)
	}
	for _, body := range []string{list(one, two), list(two, one), `{"Values":1,"error":null,"value":[` + one + `,` + two + `]}`} {
		_, err := search.UploadDocuments(t.Context(), newClient(t, reply(http.StatusOK, body)), []hotel{{ID: "1"}, {ID: "2"}}, nil)
		require.NoError(t, err, body)
	}
}

// TestDeleteMatchingNamesOnlyConfirmedKeys: a result that contradicts itself, and one of a key that was not sent.
func TestDeleteMatchingNamesOnlyConfirmedKeys(t *testing.T) {
	opts := options(&wire{answer: func(_ int, req *http.Request) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, "search.index") {
			return response(http.StatusOK, `{"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":400},{"key":"2","status":true,"errorMessage":null,"statusCode":200},{"key":"3","status":true,"errorMessage":null,"statusCode":200}]}`), nil
		}
		return response(http.StatusOK, `{"@odata.count":2,"value":[{"id":"1"},{"id":"2"}]}`), nil
	}})
	opts.AssumeWholeView = true
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	deleted, err := search.DeleteMatching(t.Context(), client, "id", search.Eq("id", "x"), nil)
	var e *search.IndexingError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []string{"2"}, deleted)
}

// TestDeleteMatchingNeedsACountInEveryReply, also in that of a page that it reads again because it was short.
func TestDeleteMatchingNeedsACountInEveryReply(t *testing.T) {
	page, again, count := `{"@odata.count":2,"value":[{"id":"1"}]}`, `{"@odata.count":2,"value":[{"id":"1"},{"id":"2"}]}`, `{"@odata.count":2,"value":[]}`
	bare := func(body string) string { return strings.Replace(body, `"@odata.count":2,`, "", 1) }
	for name, bodies := range map[string][]string{
		"the page":          {bare(page)},
		"the count":         {page, bare(count)},
		"the page again":    {page, count, bare(again), count},
		"the count of that": {page, count, again, bare(count)},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &wire{answer: func(n int, _ *http.Request) (*http.Response, error) {
				return response(http.StatusOK, bodies[min(n, len(bodies)-1)]), nil
			}}
			_, err := search.DeleteMatching(t.Context(), newClient(t, w), "id", search.Eq("id", "x"), nil)
			require.ErrorIs(t, err, models.ErrMalformedReply, name)
			require.ErrorContains(t, err, "it has no count", name)
		})
	}
}

// TestResultsOfUnknownKeysAreCountedOnce: the batch has one action, whose key is unknown to the client.
func TestResultsOfUnknownKeysAreCountedOnce(t *testing.T) {
	const (
		good = `{"key":"%s","status":true,"errorMessage":null,"statusCode":200}`
		bad  = `{"key":"%s","status":false,"errorMessage":"no","statusCode":400}`
	)
	for _, test := range []struct {
		forms []string
		want  []string
	}{
		{[]string{bad, bad}, []string{"a 400", "b 400"}},
		{[]string{good, bad}, []string{"b 400"}},
		{[]string{bad, good}, []string{"a 400", "b 0"}},
		{[]string{good, good}, []string{"b 0"}},
		{[]string{bad, bad, strings.Replace(bad, "%s", "a%.0s", 1), strings.Replace(good, "%s", "b%.0s", 1)}, []string{"a 400", "b 400"}},
		{[]string{good, strings.Replace(good, "%s", "a%.0s", 1)}, []string{"a 0"}},
		{[]string{good}, nil},
		{nil, []string{" 0"}},
	} {
		var results []string
		for i, form := range test.forms {
			results = append(results, fmt.Sprintf(form, string(rune('a'+i))))
		}
		client := newClient(t, reply(http.StatusMultiStatus, `{"value":[`+strings.Join(results, ",")+`]}`))
		_, err := search.UploadDocuments(t.Context(), client, []json.RawMessage{[]byte(`{"x":"1"}`)}, nil)
		var failed []string
		if e := (*search.IndexingError)(nil); errors.As(err, &e) {
			for _, r := range e.Failed {
				failed = append(failed, fmt.Sprintf("%s %d", r.Key, r.StatusCode))
			}
		}
		assert.Equal(t, test.want, failed, "%v", results)
	}
}
