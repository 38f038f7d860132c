package search_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/search"
)

func TestPartialSuccessNamesEachFailedKey(t *testing.T) {
	w := reply(207, `{"value":[
		{"key":"1","status":true,"errorMessage":null,"statusCode":201},
		{"key":"2","status":false,"errorMessage":"The search service is too busy to process this document. Please try again later.","statusCode":503},
		{"key":"3","status":false,"errorMessage":"Bad\r\n","statusCode":400}]}`)
	result, err := search.UploadDocuments(t.Context(), newClient(t, w), []hotel{{ID: "1"}, {ID: "2"}, {ID: "3"}}, nil)
	var e *search.IndexingError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []models.IndexingResult{
		{Key: "2", StatusCode: 503, ErrorMessage: "The search service is too busy to process this document. Please try again later."},
		{Key: "3", StatusCode: 400, ErrorMessage: "Bad\r\n"},
	}, e.Failed)
	assert.Equal(t, 3, e.Actions)
	assert.Equal(t, `2 of 3 documents were not indexed: key "2": 503 The search service is too busy to process this document. Please try again later.; key "3": 400 Bad `+
		`(UploadDocuments of index "hotels", request id 11111111-2222-3333-4444-555555555555)`, err.Error())
	assert.Len(t, result.Results, 3, "the result is there as well")
	assert.Equal(t, 207, result.StatusCode)
	assert.Len(t, w.requests, 1, "documents are not retried here")
}

// The replies are contradictory or incomplete.
func TestNothingPassesForIndexedThatIsNot(t *testing.T) {
	ok := func(key string) string {
		return fmt.Sprintf(`{"key":%q,"status":true,"errorMessage":null,"statusCode":200}`, key)
	}
	bad := func(key string) string {
		return fmt.Sprintf(`{"key":%q,"status":false,"errorMessage":"no","statusCode":400}`, key)
	}
	for name, c := range map[string]struct {
		results []string
		failed  []string
	}{
		"all well":                           {[]string{ok("1"), ok("2")}, nil},
		"another order":                      {[]string{ok("2"), ok("1")}, nil},
		"failure under status 200":           {[]string{ok("1"), bad("2")}, []string{"2:400"}},
		"one missing":                        {[]string{ok("1")}, []string{"2:0"}},
		"all missing":                        {nil, []string{"1:0", "2:0"}},
		"one twice, one missing":             {[]string{ok("1"), ok("1")}, []string{"2:0", "1:0"}},
		"one twice, once badly":              {[]string{ok("1"), ok("2"), bad("2")}, []string{"2:400"}},
		"an unknown key":                     {[]string{ok("1"), ok("2"), ok("9")}, []string{"9:0"}},
		"an unknown key instead":             {[]string{ok("1"), ok("9")}, []string{"2:0", "9:0"}},
		"an unknown key, badly":              {[]string{ok("1"), ok("2"), bad("9")}, []string{"9:400"}},
		"keys differ in case":                {[]string{ok("1"), ok("2 ")}, []string{"2:0", "2 :0"}},
		"true, but with a status of failure": {[]string{ok("1"), `{"key":"2","status":true,"statusCode":503}`}, []string{"2:503"}},
		"false, but with one of success":     {[]string{ok("1"), `{"key":"2","status":false,"statusCode":200}`}, []string{"2:200"}},
		"without a status code":              {[]string{ok("1"), `{"key":"2","status":true}`}, []string{"2:0"}},
		"null":                               {[]string{ok("1"), `null`}, []string{":0", "2:0"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := reply(200, `{"value":[`+strings.Join(c.results, ",")+`]}`)
			_, err := search.UploadDocuments(t.Context(), newClient(t, w), []hotel{{ID: "1"}, {ID: "2"}}, nil)
			if c.failed == nil {
				require.NoError(t, err)
				return
			}
			var e *search.IndexingError
			require.ErrorAs(t, err, &e)
			var failed []string
			for _, f := range e.Failed {
				failed = append(failed, fmt.Sprintf("%s:%d", f.Key, f.StatusCode))
			}
			assert.Equal(t, c.failed, failed)
			assert.ErrorContains(t, err, " of 2 documents were not indexed")
		})
	}
}

// The client does not know the key field of a map document.
func TestMissingResultsAreCountedWithoutKeys(t *testing.T) {
	docs := []models.Document{{"hotelId": "1"}, {"hotelId": "2"}, {"hotelId": "3"}}
	_, err := search.UploadDocuments(t.Context(), newClient(t, reply(200, okOne)), docs, nil)
	var e *search.IndexingError
	require.ErrorAs(t, err, &e)
	assert.Len(t, e.Failed, 2)
	assert.ErrorContains(t, err, `2 of 3 documents were not indexed: key "": the reply says nothing about this document; `)

	_, err = search.UploadDocuments(t.Context(), newClient(t, reply(200, okOne)), docs, &search.IndexDocumentsOptions{KeyField: "hotelId"})
	assert.ErrorContains(t, err, `key "2": the reply says nothing about this document; key "3": the`)
}

func TestKeySentTwiceNeedsTwoResults(t *testing.T) {
	docs := []hotel{{ID: "1"}, {ID: "1"}}
	_, err := search.UploadDocuments(t.Context(), newClient(t, reply(200, okOne)), docs, nil)
	var e *search.IndexingError
	require.ErrorAs(t, err, &e)
	assert.Len(t, e.Failed, 1)
	_, err = search.UploadDocuments(t.Context(), newClient(t, reply(200, emptyOKFor("1", "1"))), docs, nil)
	require.NoError(t, err)
}

func TestLongListsAreNamedInPart(t *testing.T) {
	docs := make([]hotel, 100)
	for i := range docs {
		docs[i].ID = fmt.Sprint(i)
	}
	_, err := search.UploadDocuments(t.Context(), newClient(t, reply(207, emptyOK)), docs, nil)
	assert.ErrorContains(t, err, `100 of 100 documents were not indexed: key "0": `)
	assert.ErrorContains(t, err, `key "4": the reply says nothing about this document; and 95 more (`)
	assert.NotContains(t, err.Error(), `"5"`)
}

// Invalid documents of one-shot calls are all reported by one error.
func TestWrongDocumentsAreAllReportedBeforeAnythingIsSent(t *testing.T) {
	type priced struct {
		ID    string  `json:"id" search:"key"`
		Price float64 `json:"price"`
	}
	w := reply(200, emptyOK)
	_, err := search.UploadDocuments(t.Context(), newClient(t, w), []priced{
		{ID: "ok"}, {ID: "a/b"}, {ID: "nan", Price: math.NaN()}, {ID: ""}, {ID: "_x"}, {ID: strings.Repeat("k", 1025)},
	}, nil)
	var e *search.InvalidBatchError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 6, e.Actions)
	var positions []int
	for _, p := range e.Problems {
		positions = append(positions, p.Position)
	}
	assert.Equal(t, []int{1, 2, 3, 4, 5}, positions)
	assert.Equal(t, "a/b", e.Problems[0].Key)
	var illegal *keys.InvalidKeyError
	require.ErrorAs(t, err, &illegal)
	assert.Equal(t, "a key can only contain letters, digits, underscore (_), dash (-) and equal sign (=)", illegal.Rule)
	var encode *models.EncodeError
	require.ErrorAs(t, err, &encode)
	assert.Equal(t, "price", encode.Field)
	assert.ErrorContains(t, err, `search: UploadDocuments of index "hotels": nothing was sent, because 5 of 6 actions cannot be: action 1: `)
	assert.Empty(t, w.requests)
}

func TestActionThatDoesNotExistIsRefused(t *testing.T) {
	w := reply(200, emptyOK)
	for _, key := range []string{"", "id"} { // with and without a known key
		_, err := search.IndexDocuments(t.Context(), newClient(t, w), models.NewIndexDocumentsBatch(
			models.IndexDocumentsAction[models.Document]{Type: "Upload", Document: models.Document{"id": "1"}},
		), &search.IndexDocumentsOptions{KeyField: key})
		var e *search.InvalidBatchError
		require.ErrorAs(t, err, &e)
	}
	assert.Empty(t, w.requests)
}

func TestTypeWithTwoKeysIsNamed(t *testing.T) {
	type twice struct {
		A string `json:"a" search:"key"`
		B string `json:"b" search:"key"`
	}
	w := reply(200, emptyOK)
	_, err := search.UploadDocuments(t.Context(), newClient(t, w), []twice{{"1", "2"}}, nil)
	assert.ErrorContains(t, err, "twice")
	_, err = search.UploadDocuments(t.Context(), newClient(t, w), []hotel{{ID: "1"}}, &search.IndexDocumentsOptions{KeyField: "nope"})
	assert.ErrorContains(t, err, "nope")
	assert.Empty(t, w.requests)
}

func TestBatchOverTheLimitsIsNotSent(t *testing.T) {
	docs := make([]hotel, 1001)
	for i := range docs {
		docs[i] = hotel{ID: fmt.Sprint(i), Name: "n"}
	}
	ids := make([]string, len(docs))
	for i := range ids {
		ids[i] = docs[i].ID
	}
	w := reply(200, emptyOKFor(ids...))
	client := newClient(t, w)

	_, err := search.UploadDocuments(t.Context(), client, docs, nil)
	require.ErrorIs(t, err, search.ErrBatchTooLarge)
	assert.ErrorContains(t, err, "it has 1001 actions, one request may have 1000: use a bufferedsender")
	_, err = search.DeleteDocumentsByKey(t.Context(), client, "hotelId", ids, nil)
	require.ErrorIs(t, err, search.ErrBatchTooLarge)
	_, err = search.UploadDocuments(t.Context(), client, docs[:3], &search.IndexDocumentsOptions{MaxBatchActions: 2})
	require.ErrorIs(t, err, search.ErrBatchTooLarge)
	_, err = search.UploadDocuments(t.Context(), client, docs[:3], &search.IndexDocumentsOptions{MaxBatchBytes: 150})
	require.ErrorIs(t, err, search.ErrBatchTooLarge)
	assert.ErrorContains(t, err, "its first 3 of 3 actions make 185 bytes already, one request may have 150: use a bufferedsender")
	_, err = search.UploadDocuments(t.Context(), client, []hotel{{ID: "1", Name: strings.Repeat("x", search.DefaultMaxBatchBytes)}}, nil)
	require.ErrorIs(t, err, search.ErrBatchTooLarge)
	assert.Empty(t, w.requests)

	_, err = search.UploadDocuments(t.Context(), client, docs, &search.IndexDocumentsOptions{MaxBatchActions: -1})
	require.NoError(t, err)
	_, err = search.UploadDocuments(t.Context(), client, docs, &search.IndexDocumentsOptions{MaxBatchActions: 1001, MaxBatchBytes: -1})
	require.NoError(t, err)
}

// The limit includes the envelope and the commas.
func TestBatchOfExactlyTheLimitIsSent(t *testing.T) {
	const body = `{"value":[{"@search.action":"upload","hotelId":"1"}]}`
	w := reply(200, okOne)
	_, err := search.UploadDocuments(t.Context(), newClient(t, w), []hotel{{ID: "1"}}, &search.IndexDocumentsOptions{MaxBatchBytes: len(body)})
	require.NoError(t, err)
	assert.Equal(t, body, w.bodies[0])
	_, err = search.UploadDocuments(t.Context(), newClient(t, w), []hotel{{ID: "1"}}, &search.IndexDocumentsOptions{MaxBatchBytes: len(body) - 1})
	require.ErrorIs(t, err, search.ErrBatchTooLarge)
}

func TestNothingToSendIsNoRequest(t *testing.T) {
	w := reply(500, "")
	_, err := search.UploadDocuments(t.Context(), newClient(t, w), []hotel(nil), nil)
	require.NoError(t, err)
	_, err = search.DeleteDocumentsByKey(t.Context(), newClient(t, w), "", nil, nil)
	require.NoError(t, err)
	assert.Empty(t, w.requests)
}

// Only azcore retries the request.
func TestWholeRequestIsRetriedByOneLayer(t *testing.T) {
	w := replies(response(503, ""), response(429, "", "Retry-After", "0"), response(200, okOne))
	_, err := search.UploadDocuments(t.Context(), newClient(t, w), []hotel{{ID: "1"}}, nil)
	require.NoError(t, err)
	require.Len(t, w.requests, 3)
	assert.Equal(t, w.bodies[0], w.bodies[2])

	w = reply(503, "")
	_, err = search.UploadDocuments(t.Context(), newClient(t, w), []hotel{{ID: "1"}}, nil)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Len(t, w.requests, 4)

	w = reply(400, "")
	_, err = search.UploadDocuments(t.Context(), newClient(t, w), []hotel{{ID: "1"}}, nil)
	require.ErrorAs(t, err, &e)
	assert.Len(t, w.requests, 1)
}

func TestDeleteByKeyChecksEveryKey(t *testing.T) {
	w := reply(200, emptyOK)
	_, err := search.DeleteDocumentsByKey(t.Context(), newClient(t, w), "hotelId", []string{"1", "", "a b"}, nil)
	var e *search.InvalidBatchError
	require.ErrorAs(t, err, &e)
	assert.Len(t, e.Problems, 2)
	assert.Empty(t, w.requests)

	_, err = search.DeleteDocumentsByKey(t.Context(), newClient(t, w), "hotelId", []string{"1"}, nil)
	var missing *search.IndexingError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, "1", missing.Failed[0].Key)
}

func TestDeleteByKeyAsksForTheKeyField(t *testing.T) {
	w := replies(response(200, definition), response(200, okOne))
	_, err := search.DeleteDocumentsByKey(t.Context(), newClient(t, w), "", []string{"1"}, nil)
	require.NoError(t, err)
	require.Len(t, w.requests, 2)
	assert.Equal(t, `{"value":[{"@search.action":"delete","hotelId":"1"}]}`, w.bodies[1])

	_, err = search.DeleteDocumentsByKey(t.Context(), newClient(t, reply(403, "")), "", []string{"1"}, nil)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "KeyFieldName", e.Operation)
}

func TestRawDocumentsTravelAsTheyAre(t *testing.T) {
	w := reply(200, okOne)
	_, err := search.MergeDocuments(t.Context(), newClient(t, w), []json.RawMessage{[]byte(`{"hotelId":"1","n":9007199254740993}`)},
		&search.IndexDocumentsOptions{KeyField: "hotelId"})
	require.NoError(t, err)
	assert.Equal(t, `{"value":[{"@search.action":"merge","hotelId":"1","n":9007199254740993}]}`, w.bodies[0])
}
