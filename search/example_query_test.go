package search_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Resort is the document type of the query examples.
type Resort struct {
	ID          string                 `json:"hotelId"            search:"key,filterable,sortable"`
	Name        string                 `json:"name"               search:"searchable,filterable,sortable"`
	Description string                 `json:"description"        search:"analyzer=en.lucene"`
	Category    string                 `json:"category"           search:"searchable,filterable,facetable"`
	Tags        []string               `json:"tags"               search:"searchable,filterable,facetable"`
	Parking     *bool                  `json:"parking,omitempty"  search:"filterable,facetable"`
	Rating      float64                `json:"rating"             search:"filterable,sortable,facetable"`
	Rate        int                    `json:"rate"               search:"filterable,sortable,facetable"`
	Opened      time.Time              `json:"opened"             search:"filterable,sortable,facetable"`
	Location    *models.GeographyPoint `json:"location,omitempty" search:"filterable,sortable"`
	Mood        []float32              `json:"mood,omitempty"     search:"dimensions=3,vectorProfile=nearest"` // luxury, nature, nightlife
}

// resorts returns a server with an index of five hotels, and its client.
func resorts() (*searchtest.Server, *search.Client) {
	srv := searchtest.NewServer(nil)
	opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}}
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		log.Panic(err)
	}
	fields, err := models.FieldsOf[Resort]()
	if err != nil {
		log.Panic(err)
	}
	_, err = indexes.CreateIndex(context.Background(), models.SearchIndex{
		Name:       "resorts",
		Fields:     fields,
		Suggesters: []models.Suggester{{Name: "names", SourceFields: []string{"name", "tags"}}},
		VectorSearch: &models.VectorSearch{
			Algorithms: []models.VectorSearchAlgorithm{{Name: "graph", Kind: models.VectorSearchAlgorithmHNSW}},
			Profiles:   []models.VectorSearchProfile{{Name: "nearest", Algorithm: "graph"}},
		},
		ScoringProfiles: []models.ScoringProfile{
			{Name: "interests", Functions: []models.ScoringFunction{
				{Type: models.ScoringFunctionTypeTag, FieldName: "tags", Boost: 5, Tag: &models.TagParameters{TagsParameter: "likes"}},
			}},
			{Name: "nearby", Functions: []models.ScoringFunction{
				{Type: models.ScoringFunctionTypeDistance, FieldName: "location", Boost: 5, Distance: &models.DistanceParameters{ReferencePointParameter: "me", BoostingDistance: 50}},
			}},
		},
	}, nil)
	if err != nil {
		log.Panic(err)
	}
	client, err := indexes.Client("resorts")
	if err != nil {
		log.Panic(err)
	}
	day := func(year, month, day int) time.Time {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	}
	_, err = search.UploadDocuments(context.Background(), client, []Resort{
		{
			ID: "1", Name: "Harbour View Hotel", Category: "Luxury", Tags: []string{"pool", "view"}, Parking: to.Ptr(true),
			Description: "A quiet hotel at the harbour. Its heated pool is on the roof.",
			Rating:      4.8, Rate: 320, Opened: day(2018, 5, 3), Location: &models.GeographyPoint{Longitude: -122.34, Latitude: 47.61}, Mood: []float32{0.9, 0.1, 0.3},
		},
		{
			ID: "2", Name: "Roadside Motel", Category: "Budget", Tags: []string{"breakfast"}, Parking: to.Ptr(true),
			Description: "Clean rooms next to the highway, and free coffee.",
			Rating:      2.1, Rate: 60, Opened: day(2001, 2, 14), Mood: []float32{0.1, 0.1, 0.2},
		},
		{
			ID: "3", Name: "Mountain Lodge", Category: "Lodge", Tags: []string{"sauna", "view"},
			Description: "Wooden cabins in the forest, with a sauna and a view of the glacier.",
			Rating:      4.4, Rate: 180, Opened: day(2018, 11, 20), Location: &models.GeographyPoint{Longitude: -121.74, Latitude: 46.79}, Mood: []float32{0.4, 0.9, 0},
		},
		{
			ID: "4", Name: "Old Harbour Inn", Category: "Budget", Tags: []string{"breakfast", "view"}, Parking: to.Ptr(false),
			Description: "Rooms above a pub in the old town, close to the clubs.",
			Rating:      3.6, Rate: 95, Opened: day(1995, 7, 1), Location: &models.GeographyPoint{Longitude: -122.33, Latitude: 47.6}, Mood: []float32{0.2, 0, 0.9},
		},
		{
			ID: "5", Name: "Secret Point Resort", Category: "Luxury", Tags: []string{"pool", "spa"}, Parking: to.Ptr(true),
			Description: "Two pools, a spa and a beach of its own: nobody will find you here.",
			Rating:      4.8, Rate: 410, Opened: day(2020, 6, 15), Location: &models.GeographyPoint{Longitude: -122.9, Latitude: 48.5}, Mood: []float32{1, 0.6, 0.1},
		},
	}, nil)
	if err != nil {
		log.Panic(err)
	}
	return srv, client
}

// Read all results, page after page, with highlighted matches.
func ExampleSearch() {
	srv, client := resorts()
	defer srv.Close()
	opts := &search.SearchOptions{
		Filter:          search.Ge("rating", 4),
		OrderBy:         []string{"rate desc"},
		HighlightFields: []string{"description-1"},
	}
	for result, err := range search.Search[Resort](context.Background(), client, "pool", opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Document.Name, result.Document.Rate, result.Highlights["description"])
	}
	// Output:
	// Secret Point Resort 410 [Two <em>pools</em>, a spa and a beach of its own: nobody will find you here.]
	// Harbour View Hotel 320 [Its heated <em>pool</em> is on the roof.]
}

// A struct with only the selected fields.
func ExampleSearch_select() {
	srv, client := resorts()
	defer srv.Close()
	type offer struct {
		Name string `json:"name"`
		Rate int    `json:"rate"`
	}
	opts := &search.SearchOptions{Select: []string{"name", "rate"}, OrderBy: []string{"rate"}, Top: to.Ptr(2)}
	for result, err := range search.Search[offer](context.Background(), client, "", opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%+v\n", result.Document)
	}
	// Output:
	// {Name:Roadside Motel Rate:60}
	// {Name:Old Harbour Inn Rate:95}
}

// The full Lucene syntax: fields, a fuzzy term, a boosted term.
func ExampleSearch_fullSyntax() {
	srv, client := resorts()
	defer srv.Close()
	opts := &search.SearchOptions{QueryType: models.QueryTypeFull, SearchFields: []string{"name"}}
	for result, err := range search.Search[Resort](context.Background(), client, "harbor~1 OR category:lodge^9", opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Document.Name)
	}
	// Output:
	// Mountain Lodge
	// Harbour View Hotel
	// Old Harbour Inn
}

// The error quotes the service's message.
func ExampleSearch_refused() {
	srv, client := resorts()
	defer srv.Close()
	opts := &search.SearchOptions{Filter: search.RawFilter("stars ge 4")}
	for _, err := range search.Search[Resort](context.Background(), client, "pool", opts) {
		var e *search.Error
		if errors.As(err, &e) {
			fmt.Printf("%d %q\n", e.StatusCode, e.Message)
		}
	}
	// Output: 400 "Invalid expression: Could not find a property named 'stars' on type 'search.document'.\r\nParameter name: $filter"
}

// One error reports all invalid options, and nothing is sent.
func ExampleInvalidQueryError() {
	srv, client := resorts()
	defer srv.Close()
	opts := &search.SearchOptions{
		Filter:        search.Gt("rating", nil),
		Skip:          -1,
		VectorQueries: []search.VectorQuery{{Vector: models.VectorOf([]float32{1, 0, 0})}},
	}
	for _, err := range search.Search[Resort](context.Background(), client, "pool", opts) {
		var invalid *search.InvalidQueryError
		if errors.As(err, &invalid) {
			for _, problem := range invalid.Problems {
				fmt.Println(problem)
			}
		}
	}
	// Output:
	// Filter: invalid filter: "rating" gt: null has no order: it can only be equal or not
	// Skip: -1 is not from 0 to 100000: to read on, use Scan, or order by a key and filter by it
	// VectorQueries[0].Fields: it names no vector field to search
}

// Read single pages. The first page has the count and the facets of all results.
func ExampleNewSearchPager() {
	srv, client := resorts()
	defer srv.Close()
	pager := search.NewSearchPager[Resort](client, "harbour pool", &search.SearchOptions{
		IncludeTotalCount: true,
		Facets:            []search.Facet{search.FacetByValue("category", nil)},
		Top:               to.Ptr(2),
	})
	for pager.More() {
		page, err := pager.NextPage(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		categories, err := models.ValueFacets[string](page.Facets["category"])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(page.Results), "of", *page.Count)
		for _, c := range categories {
			fmt.Println(c.Value, c.Count)
		}
	}
	// Output:
	// 2 of 3
	// Luxury 2
	// Budget 1
}

// Suggest documents while a user types.
func ExampleSuggest() {
	srv, client := resorts()
	defer srv.Close()
	suggestions, err := search.Suggest[Resort](context.Background(), client, "har", "names", &search.SuggestOptions{
		Filter:          search.Lt("rate", 200),
		Select:          []string{"rate"},
		HighlightPreTag: "[", HighlightPostTag: "]",
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range suggestions.Results {
		fmt.Println(s.Text, s.Document.Rate)
	}
	// Output: Old [Harbour] Inn 95
}

func ExampleClient_Autocomplete() {
	srv, client := resorts()
	defer srv.Close()
	completions, err := client.Autocomplete(context.Background(), "old h", "names", &search.AutocompleteOptions{
		Mode: models.AutocompleteModeOneTermWithContext,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range completions.Results {
		fmt.Println(c.QueryPlusText)
	}
	// Output: old harbour
}

// Read a whole index in key order, however large it is.
func ExampleScan() {
	srv, client := resorts()
	defer srv.Close()
	last := ""
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Select: []string{"name"}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(hotel.ID, hotel.Name)
		if last = hotel.ID; last == "2" {
			break
		}
	}
	// Later, continue with the current content:
	opts := &search.ScanOptions{After: last, Filter: search.Eq("category", "Luxury")}
	for hotel, err := range search.Scan[Resort](context.Background(), client, opts) {
		fmt.Println(hotel.ID, hotel.Name, err)
	}
	// Output:
	// 1 Harbour View Hotel
	// 2 Roadside Motel
	// 5 Secret Point Resort <nil>
}

// Delete all matching documents by key, however many there are.
func ExampleScanKeys() {
	ctx := context.Background()
	srv, client := resorts()
	defer srv.Close()
	var keys []string
	for key, err := range search.ScanKeys(ctx, client, &search.ScanOptions{Filter: search.Eq("category", "Luxury")}) {
		if err != nil {
			log.Fatal(err)
		}
		keys = append(keys, key)
	}
	result, err := search.DeleteDocumentsByKey(ctx, client, "hotelId", keys, nil)
	fmt.Println(keys, len(result.Results), err)
	// Output:
	// [1 5] 2 <nil>
}

func ExampleEscapeText() {
	typed := `C++ (and "Go") -Rust*`
	fmt.Println(search.EscapeText(typed))
	// Output:
	// C\+\+ \(and \"Go\"\) \-Rust\*
}
