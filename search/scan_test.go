package search_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

const scannable = `{"name":"hotels","fields":[{"name":"x","type":"Edm.String"},{"name":"hotelId","type":"Edm.String","key":true,"filterable":true,"sortable":true}]}`

// shelf is a service with one index of keys. It implements only the queries of a scan.
type shelf struct {
	t          testing.TB
	definition string        // "" refuses to show it
	most       int           // page size limit, whatever Top requests
	takes      time.Duration // each page

	mu        sync.Mutex // guards the following fields, except where a test has no other goroutine
	keys      map[string]bool
	meanwhile func() // called before each page
	refuse    func(page int) bool
	seen      func(after string, skip int, keys []string) []string // filters the keys that a page returns
	requests  []string
	asked     int // pages
}

func (s *shelf) Do(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet {
		s.requests = append(s.requests, "definition")
		if s.definition == "" {
			return response(403, ""), nil
		}
		return response(200, s.definition), nil
	}
	var q struct {
		Filter, OrderBy, Select string
		Top, Skip               int
		Count                   bool
	}
	require.NoError(s.t, json.NewDecoder(req.Body).Decode(&q))
	if q.Count {
		return response(200, `{"@odata.count":1,"value":[]}`), nil
	}
	select {
	case <-time.After(s.takes):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.refuse != nil && s.refuse(s.asked) {
		return response(403, ""), nil
	}
	if s.meanwhile != nil {
		s.meanwhile()
	}
	s.requests = append(s.requests, q.Filter)
	assert.Equal(s.t, "hotelId", q.OrderBy)
	after, behind := strings.CutPrefix(q.Filter, "hotelId gt '")
	after, from := strings.CutPrefix(after, "hotelId ge '")
	require.True(s.t, from || behind, q.Filter)
	after, _, _ = strings.Cut(after, "'")
	var above []string
	all := slices.Sorted(maps.Keys(s.keys))
	if s.seen != nil {
		all = s.seen(after, q.Skip, all)
	}
	for _, key := range all {
		if key > after || from && key == after {
			above = append(above, key)
		}
	}
	above = above[min(q.Skip, len(above)):]
	n := min(q.Top, len(above))
	if s.most > 0 {
		n = min(n, s.most)
	}
	var page models.SearchDocumentsResult[models.Document]
	for _, key := range above[:n] {
		page.Results = append(page.Results, models.SearchResult[models.Document]{Score: 1, Document: models.Document{"hotelId": key}})
	}
	if n < min(q.Top, len(above)) {
		page.NextLink, page.NextPageParameters = searchURL, json.RawMessage(`{"skip":1}`)
	}
	body, err := json.Marshal(page)
	require.NoError(s.t, err)
	return response(200, string(body)), nil
}

func shelfOf(t testing.TB, keys ...string) *shelf {
	s := &shelf{t: t, keys: map[string]bool{}, definition: scannable}
	for _, key := range keys {
		s.keys[key] = true
	}
	return s
}

// scanKeys returns the keys of a scan.
func scanKeys(t testing.TB, client *search.Client, opts *search.ScanOptions) (keys []string, err error) {
	t.Helper()
	for doc, err := range search.Scan[models.Document](t.Context(), client, opts) {
		if err != nil {
			assert.Nil(t, doc)
			return keys, err
		}
		key, err := doc.String("hotelId")
		require.NoError(t, err)
		keys = append(keys, key)
	}
	return keys, nil
}

func TestScanReturnsEverythingInTheOrderOfKeys(t *testing.T) {
	s := shelfOf(t)
	var want []string
	for i := range 25 {
		key := fmt.Sprint(i)
		s.keys[key] = true
		want = append(want, key)
	}
	slices.Sort(want)
	client := newClient(t, s)
	got, err := scanKeys(t, client, &search.ScanOptions{PageSize: 10})
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, []string{"definition", "hotelId ge ''", "hotelId ge '17'", "hotelId ge '4'"}, s.requests)

	s.requests = nil
	got, err = scanKeys(t, client, &search.ScanOptions{KeyField: "hotelId", After: "20", PageSize: 5})
	require.NoError(t, err)
	assert.Equal(t, want[slices.Index(want, "20")+1:], got)
	assert.Equal(t, "hotelId ge '20'", s.requests[0], "the definition is not needed")
}

func TestScanEndsWithAFullPageToo(t *testing.T) {
	s := shelfOf(t, "a", "b")
	got, err := scanKeys(t, newClient(t, s), &search.ScanOptions{PageSize: 2})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, got)
	assert.Equal(t, []string{"definition", "hotelId ge ''", "hotelId ge 'b'"}, s.requests)

	got, err = scanKeys(t, newClient(t, shelfOf(t)), nil)
	require.NoError(t, err)
	assert.Empty(t, got)
}

func TestKeysAloneAreScanned(t *testing.T) {
	s := shelfOf(t, "a", "b", "c", "d", "e")
	client := newClient(t, s)
	var got []string
	for key, err := range search.ScanKeys(t.Context(), client, &search.ScanOptions{PageSize: 2, After: "a"}) {
		require.NoError(t, err)
		if got = append(got, key); key == "d" {
			break
		}
	}
	assert.Equal(t, []string{"b", "c", "d"}, got)

	w := reply(200, emptyOK)
	for _, err := range search.ScanKeys(t.Context(), newClient(t, w), &search.ScanOptions{KeyField: "hotelId"}) {
		t.Fatal("unexpected result", err)
	}
	assert.JSONEq(t, `{"filter":"hotelId ge ''","orderby":"hotelId","select":"hotelId","top":1000}`, w.bodies[0])
	for name, test := range map[string]struct {
		opts *search.ScanOptions
		text string
	}{
		"fields are selected":   {&search.ScanOptions{Select: []string{"name"}}, "nothing was sent: keys have no fields to select"},
		"an option is wrong":    {&search.ScanOptions{PageSize: -1}, "PageSize: -1 is not from 1 to 1000"},
		"the definition is hid": {nil, "Scan needs an admin key"},
	} {
		w := reply(403, "")
		calls := 0
		for key, err := range search.ScanKeys(t.Context(), newClient(t, w), test.opts) {
			require.ErrorContains(t, err, test.text, name)
			assert.Empty(t, key)
			calls++
		}
		assert.Equal(t, 1, calls)
	}
}

// The service may shorten pages with large documents.
func TestScanGoesOnBehindAPageThatWasCutShort(t *testing.T) {
	for most := range 3 {
		s := shelfOf(t, "a", "b", "c", "d", "e")
		s.most = most + 1
		got, err := scanKeys(t, newClient(t, s), nil)
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b", "c", "d", "e"}, got, "%d in a page", s.most)
	}
}

// Each page repeats the last key of the previous one.
func TestLargestPageHasRoomForTheLastKey(t *testing.T) {
	w := replies(response(200, `{"value":[{"hotelId":"a"}],"@odata.nextLink":"x","@search.nextPageParameters":{}}`), response(200, `{"value":[{"hotelId":"a"}]}`))
	got, err := scanKeys(t, newClient(t, w), &search.ScanOptions{KeyField: "hotelId"})
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, got)
	assert.JSONEq(t, `{"filter":"hotelId ge 'a'","orderby":"hotelId","top":1000}`, w.bodies[1])
}

// Random keys are added and deleted at every position meanwhile.
func TestScanSkipsNothingThatLives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.StringMatching(`[A-Za-z0-9=-][A-Za-z0-9_=-]{0,2}`)
		lives := rapid.SliceOfNDistinct(key, 0, 40, rapid.ID).Draw(rt, "lives")
		s := shelfOf(t, lives...)
		comings := rapid.SliceOfN(rapid.SliceOfN(key, 0, 5), 0, 20).Draw(rt, "come or go")
		s.most = rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5}).Draw(rt, "most in a page")
		s.meanwhile = func() {
			if len(comings) == 0 {
				return
			}
			for _, k := range comings[0] {
				if slices.Contains(lives, k) {
					continue
				}
				if s.keys[k] = !s.keys[k]; !s.keys[k] {
					delete(s.keys, k)
				}
			}
			comings = comings[1:]
		}
		got, err := scanKeys(t, newClient(t, s), &search.ScanOptions{
			PageSize: rapid.IntRange(1, 7).Draw(rt, "page size"), ReadAhead: rapid.SampledFrom([]int{0, 1, 3, 16}).Draw(rt, "read ahead"),
		})
		require.NoError(rt, err)
		require.True(rt, slices.IsSorted(got))
		require.Len(rt, slices.Compact(slices.Clone(got)), len(got), "nothing twice")
		for _, k := range lives {
			require.Contains(rt, got, k)
		}
	})
}

func TestScanAsksForItsKeyAndTheCallersFields(t *testing.T) {
	w := reply(200, emptyOK)
	client := newClient(t, w)
	opts := &search.ScanOptions{
		KeyField: "hotelId", Select: []string{"name"}, PageSize: 7, SessionID: "s",
		Filter: search.Or(search.Eq("a", 1), search.Eq("b", "it's")), After: "k'1",
	}
	_, err := scanKeys(t, client, opts)
	require.NoError(t, err)
	assert.JSONEq(t, `{"filter":"hotelId ge 'k''1' and (a eq 1 or b eq 'it''s')","orderby":"hotelId","select":"name,hotelId","top":8,"sessionId":"s"}`, w.bodies[0])
	for _, selected := range [][]string{{"*"}, {"hotelId", "name"}} {
		_, err := scanKeys(t, client, &search.ScanOptions{KeyField: "hotelId", Select: selected})
		require.NoError(t, err)
		assert.Contains(t, w.bodies[len(w.bodies)-1], `"select":"`+strings.Join(selected, ",")+`"`)
	}
	for _, err := range search.Scan[hotel](t.Context(), client, nil) {
		t.Fatal("unexpected result", err)
	}
	assert.Len(t, w.requests, 4, "the tag of the type names the key")
	assert.JSONEq(t, `{"filter":"hotelId ge ''","orderby":"hotelId","top":1000}`, w.bodies[3])
}

func TestIndexThatCannotBeScannedIsKnownAtTheStart(t *testing.T) {
	for attributes, text := range map[string]string{
		`"filterable":false,"sortable":true`:                         `the definition says so of "hotelId"`,
		`"filterable":true,"sortable":false`:                         `the definition says so of "hotelId"`,
		`"filterable":true,"sortable":true,"normalizer":"lowercase"`: `the normalizer "lowercase" of "hotelId" makes different keys equal`,
	} {
		s := shelfOf(t, "a")
		s.definition = `{"name":"hotels","fields":[{"name":"hotelId","type":"Edm.String","key":true,` + attributes + `}]}`
		_, err := scanKeys(t, newClient(t, s), nil)
		require.ErrorIs(t, err, search.ErrNotScannable)
		require.ErrorContains(t, err, text)
		assert.Equal(t, []string{"definition"}, s.requests)
	}
	s := shelfOf(t, "a")
	s.definition = `{"name":"hotels","fields":[{"name":"hotelId","type":"Edm.String","key":true}]}`
	got, err := scanKeys(t, newClient(t, s), nil)
	require.NoError(t, err, "absent attributes are true")
	assert.Equal(t, []string{"a"}, got)
	s.definition = `{"name":"hotels","fields":[]}`
	_, err = scanKeys(t, newClient(t, s), nil)
	require.ErrorIs(t, err, models.ErrMalformedReply)
	s.definition = ""
	_, err = scanKeys(t, newClient(t, s), nil)
	require.ErrorContains(t, err, "Scan needs an admin key (query keys only read documents) of this service")
	require.ErrorContains(t, err, `or name the key field with the struct tag search:"key"`)
}

func TestRefusedFirstPageSaysWhatIsLikely(t *testing.T) {
	refusal := response(400, `{"error":{"code":"","message":"Invalid expression: 'hotelId' is not a filterable field. Parameter name: $filter"}}`)
	_, err := scanKeys(t, newClient(t, replies(refusal)), &search.ScanOptions{KeyField: "hotelId"})
	var e *search.Error
	require.ErrorAs(t, err, &e)
	require.ErrorContains(t, err, "'hotelId' is not a filterable field.")
	require.ErrorContains(t, err, `the first page of a scan was refused: the key field "hotelId" must be filterable and sortable`)

	full := response(200, `{"value":[{"@search.score":1,"hotelId":"a"}]}`)
	got, err := scanKeys(t, newClient(t, replies(full, refusal)), &search.ScanOptions{KeyField: "hotelId", PageSize: 1})
	require.ErrorAs(t, err, &e)
	assert.NotContains(t, err.Error(), "first page")
	assert.Equal(t, []string{"a"}, got)
	_, err = scanKeys(t, newClient(t, reply(404, "")), &search.ScanOptions{KeyField: "hotelId"})
	require.ErrorIs(t, err, search.ErrIndexNotFound)
	assert.NotContains(t, err.Error(), "first page")
}

// A scan stops with an error instead of skipping or repeating documents.
func TestScanThatWouldGoWrongStops(t *testing.T) {
	for body, text := range map[string]string{
		`{"value":[{"hotelId":"b"},{"hotelId":"a"}]}`:                        `the key "a" does not follow "b"`,
		`{"value":[{"hotelId":"b"},{"hotelId":"b"}]}`:                        `the key "b" does not follow "b"`,
		`{"value":[{"hotelId":""}]}`:                                         `the key "" does not follow ""`,
		`{"value":[{"name":"x"}]}`:                                           "result 0: ",
		`{"value":[{"hotelId":5}]}`:                                          "result 0: ",
		`{"value":[],"@odata.nextLink":"x","@search.nextPageParameters":{}}`: "it has no results, but another page",
	} {
		w := reply(200, body)
		got, err := scanKeys(t, newClient(t, w), &search.ScanOptions{KeyField: "hotelId"})
		require.ErrorIs(t, err, models.ErrMalformedReply)
		require.ErrorContains(t, err, text)
		assert.Empty(t, got)
		assert.Len(t, w.requests, 1)
	}
	const same = `{"value":[{"hotelId":"a"}],"@odata.nextLink":"x","@search.nextPageParameters":{}}`
	for count, text := range map[string]string{
		`{"@odata.count":1,"value":[]}`: `the key "a" does not follow "a"`,
		`{"@odata.count":2,"value":[]}`: `2 keys equal "a"`,
		`{"value":[]}`:                  "it has no count",
	} {
		got, err := scanKeys(t, newClient(t, replies(response(200, same), response(200, same), response(200, count), response(200, same))), &search.ScanOptions{KeyField: "hotelId"})
		require.ErrorIs(t, err, models.ErrMalformedReply)
		require.ErrorContains(t, err, text)
		assert.Equal(t, []string{"a"}, got)
	}
}

// A short page would look like the last one.
func TestPageThatLacksResultsEndsAScan(t *testing.T) {
	reads := map[string]func(*search.Client) error{
		"Scan": func(c *search.Client) error { return second(scanKeys(t, c, &search.ScanOptions{KeyField: "hotelId"})) },
		"Rows": func(c *search.Client) error {
			rows, err := search.NewRows(c, &search.RowsOptions{KeyField: "hotelId"})
			require.NoError(t, err)
			for _, err := range rows.Scan(t.Context(), "", "") {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"Lookup": func(c *search.Client) error {
			rows, err := search.NewRows(c, &search.RowsOptions{KeyField: "hotelId"})
			require.NoError(t, err)
			return second(rows.Lookup(t.Context(), []string{"a"}))
		},
		"DeleteMatching": func(c *search.Client) error {
			return second(search.DeleteMatching(t.Context(), c, "hotelId", search.Eq("hotelId", "a"), nil))
		},
	}
	for name, read := range reads {
		for text, page := range map[string]*http.Response{
			"the reply is partial, HTTP 206":             response(206, `{"@odata.count":0,"value":[]}`),
			"the reply covers 99.5 % of the index":       response(200, `{"@odata.count":0,"@search.coverage":99.5,"value":[]}`),
			"the reply has an error next to its results": response(200, `{"@odata.count":0,"value":[],"error":{"message":"shard 3"}}`),
			"": response(200, `{"@odata.count":0,"@search.coverage":100,"value":[],"error":null}`),
		} {
			err := read(newClient(t, replies(page)))
			if text == "" {
				require.NoError(t, err, name)
				continue
			}
			require.ErrorContains(t, err, text, name)
		}
	}
}

func TestScanOptionsThatCannotBeAreRefused(t *testing.T) {
	w := reply(200, emptyOK)
	_, err := scanKeys(t, newClient(t, w), &search.ScanOptions{Filter: search.Eq("", 1), Select: []string{"?"}, KeyField: "a b", PageSize: 1001, After: "\xff"})
	var invalid *search.InvalidQueryError
	require.ErrorAs(t, err, &invalid)
	assert.Len(t, invalid.Problems, 5)
	require.ErrorContains(t, err, `search: Scan of index "hotels": nothing was sent`)
	type twice struct {
		A string `json:"a" search:"key"`
		B string `json:"b" search:"key"`
	}
	for _, err = range search.Scan[twice](t.Context(), newClient(t, w), nil) {
	}
	require.ErrorContains(t, err, "exactly one key")
	assert.Empty(t, w.requests)
}

func TestDocumentOfAScanThatDoesNotFitIsNamedByItsKey(t *testing.T) {
	type small struct {
		ID string `json:"hotelId" search:"key"`
		N  int8   `json:"n"`
	}
	var ids []string
	var err error
	for doc, e := range search.Scan[small](t.Context(), newClient(t, reply(200, `{"value":[{"hotelId":"a","n":1},{"hotelId":"b","n":31337}]}`)), nil) {
		if err = e; err == nil {
			ids = append(ids, doc.ID)
		}
	}
	assert.Equal(t, []string{"a"}, ids)
	require.ErrorContains(t, err, `the document with the key "b" does not fit into search_test.small: field "n"`)
	assert.NotContains(t, err.Error(), "31337")
}
