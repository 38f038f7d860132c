package search_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// recordedQuery is a recorded query of the real service. For the source of the recordings see
// searchtest/testdata/NOTICE.md.
type recordedQuery struct {
	file, operation string // "search", "suggest", "autocomplete"
	request         string // "" in the recordings of the Java SDK
	status          int
	reply           string
}

func recordedQueries(t *testing.T) []recordedQuery {
	t.Helper()
	var list []recordedQuery
	add := func(file, uri, request string, status int, reply string) {
		for _, operation := range []string{"search", "suggest", "autocomplete"} {
			if strings.Contains(uri, "/search.post."+operation+"?") {
				list = append(list, recordedQuery{filepath.Base(file), operation, request, status, reply})
			}
		}
	}
	const folder = "searchtest/testdata/recordings/"
	java, err := filepath.Glob(folder + "java-2019-05-06/*.json")
	require.NoError(t, err)
	for _, file := range java {
		var recording struct {
			NetworkCallRecords []struct {
				URI      string `json:"Uri"`
				Response map[string]string
			} `json:"networkCallRecords"`
		}
		read(t, file, json.Unmarshal, &recording)
		for _, r := range recording.NetworkCallRecords {
			status := 200
			if r.Response["StatusCode"] != "200" {
				status = 400
			}
			add(file, r.URI, "", status, r.Response["Body"])
		}
	}
	python, err := filepath.Glob(folder + "python-2020-06-30/*.yaml")
	require.NoError(t, err)
	for _, file := range python {
		var recording struct {
			Interactions []struct {
				Request  struct{ Body, URI string }
				Response struct {
					Body   struct{ String string }
					Status struct{ Code int }
				}
			}
		}
		read(t, file, yaml.Unmarshal, &recording)
		for _, i := range recording.Interactions {
			add(file, i.Request.URI, i.Request.Body, i.Response.Status.Code, i.Response.Body.String)
		}
	}
	require.Greater(t, len(list), 90)
	return list
}

func read(t *testing.T, file string, unmarshal func([]byte, any) error, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, unmarshal(data, v), file)
}

// Each recorded reply survives decoding and encoding, including the digits of its numbers.
func TestNothingOfARecordedReplyIsLost(t *testing.T) {
	n := map[string]int{}
	for _, q := range recordedQueries(t) {
		client := newClient(t, reply(q.status, q.reply))
		got, err := answerTo(t, client, q.operation)
		if q.status != 200 {
			var refusal struct{ Error struct{ Message string } }
			require.NoError(t, json.Unmarshal([]byte(q.reply), &refusal))
			require.ErrorContains(t, err, strings.TrimSpace(strings.ReplaceAll(refusal.Error.Message, "\r\n", " ")), q.file)
			n["refused"]++
			continue
		}
		require.NoError(t, err, q.file)
		written, err := json.Marshal(got)
		require.NoError(t, err, q.file)
		want := digits(t, q.reply)
		if q.operation == "autocomplete" {
			delete(want.(map[string]any), "@odata.context") // models drop it
		}
		require.Equal(t, want, digits(t, string(written)), q.file)
		n[q.operation]++
	}
	assert.Equal(t, map[string]int{"search": 65, "suggest": 19, "autocomplete": 17, "refused": 6}, n)
}

// answerTo makes a query that matches operation and returns its result.
func answerTo(t *testing.T, client *search.Client, operation string) (any, error) {
	t.Helper()
	switch operation {
	case "suggest":
		return search.Suggest[models.Document](t.Context(), client, "x", "sg", nil)
	case "autocomplete":
		return client.Autocomplete(t.Context(), "x", "sg", nil)
	}
	return search.NewSearchPager[models.Document](client, "x", nil).NextPage(t.Context())
}

// digits decodes JSON and keeps the digits of numbers, except that 5.0 equals 5.
func digits(t *testing.T, text string) any {
	t.Helper()
	var v any
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&v))
	return canonicalNumbers(v)
}

func canonicalNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = canonicalNumbers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = canonicalNumbers(v[i])
		}
	case json.Number:
		return strings.TrimSuffix(v.String(), ".0")
	}
	return v
}

// The options of the Python SDK's tests produce the recorded bodies.
func TestRecordedQueriesAreReproduced(t *testing.T) {
	some := []string{"hotelName", "category", "description"}
	budget := &search.SearchOptions{Filter: search.Eq("category", "Budget"), OrderBy: []string{"hotelName desc"}, Select: some}
	asked := map[string][]*search.SearchOptions{ // by file, in order
		"test_get_search_counts":          {nil, {IncludeTotalCount: true}},
		"test_get_search_coverage":        {nil, {MinimumCoverage: to.Ptr(50.)}},
		"test_get_search_facets_none":     {{Select: some}},
		"test_get_search_facets_result":   {{Facets: []search.Facet{search.FacetByValue("category", nil)}, Select: some}},
		"test_get_search_filter":          {budget},
		"test_get_search_filter_array":    {budget},
		"test_get_search_simple":          {nil, nil},
		"test_get_search_simple_with_top": {{Top: to.Ptr(3)}, {Top: to.Ptr(3)}},
		"test_suggest":                    {nil},
		"test_autocomplete":               {nil},
	}
	for _, q := range recordedQueries(t) {
		if q.request == "" {
			continue
		}
		name := strings.Split(q.file, ".")[1]
		require.NotEmpty(t, asked[name], q.file)
		opts := asked[name][0]
		asked[name] = asked[name][1:]
		var text struct{ Search string }
		require.NoError(t, json.Unmarshal([]byte(q.request), &text))
		w := reply(q.status, q.reply)
		client := newClient(t, w)
		var err error
		switch q.operation {
		case "suggest":
			_, err = search.Suggest[models.Document](t.Context(), client, text.Search, "sg", nil)
		case "autocomplete":
			_, err = client.Autocomplete(t.Context(), text.Search, "sg", nil)
		default:
			_, err = search.NewSearchPager[models.Document](client, text.Search, opts).NextPage(t.Context())
		}
		require.NoError(t, err)
		assert.JSONEq(t, q.request, w.bodies[0], q.file)
	}
	for name, left := range asked {
		assert.Empty(t, left, name)
	}
}

func TestRecordedFacetsHaveTheTypesOfTheirFields(t *testing.T) {
	pages := map[string]models.SearchDocumentsResult[models.Document]{}
	for _, q := range recordedQueries(t) {
		if q.operation == "search" && strings.Contains(q.file, "Facets") {
			page, err := search.NewSearchPager[models.Document](newClient(t, reply(200, q.reply)), "x", nil).NextPage(t.Context())
			require.NoError(t, err)
			pages[q.file] = page
		}
	}
	values := pages["canSearchWithValueFacets.json"].Facets
	ratings, err := models.ValueFacets[int64](values["Rating"])
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[int64]{{Value: 5, Count: 1}, {Value: 4, Count: 4}}, ratings)
	smoking, err := models.ValueFacets[bool](values["SmokingAllowed"])
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[bool]{{Value: false, Count: 4}, {Value: true, Count: 2}}, smoking)
	ranges := pages["canSearchWithRangeFacets.json"].Facets
	rates, err := models.RangeFacets[float64](ranges["Rooms/BaseRate"])
	require.NoError(t, err)
	assert.Equal(t, models.RangeFacet[float64]{From: to.Ptr(5.), To: to.Ptr(8.), Count: 1}, rates[1])
}
