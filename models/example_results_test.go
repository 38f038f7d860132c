package models_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// A reply of the service, as search.NewSearchPager returns it.
func ExampleSearchDocumentsResult() {
	const reply = `{"@odata.count":31,"@search.facets":{"tags":[{"count":20,"value":"pool"}]},"value":[
		{"@search.score":1.7,"@search.highlights":{"description":["a <em>pool</em> on the roof"]},"hotelId":"1","hotelName":"Harbour View Hotel"},
		{"@search.score":0.9,"hotelId":"5","hotelName":"Secret Point Resort"}]}`
	var page models.SearchDocumentsResult[Hotel]
	if err := json.Unmarshal([]byte(reply), &page); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*page.Count, page.Facets["tags"][0].Value, page.Partial())
	for _, result := range page.Results {
		fmt.Println(result.Score, result.Document.Name, result.Highlights["description"])
	}
	// Output:
	// 31 pool false
	// 1.7 Harbour View Hotel [a <em>pool</em> on the roof]
	// 0.9 Secret Point Resort []
}

func ExampleSuggestDocumentsResult() {
	const reply = `{"@search.coverage":100,"value":[{"@search.text":"Harbour View Hotel","hotelId":"1"}]}`
	var suggestions models.SuggestDocumentsResult[Hotel]
	err := json.Unmarshal([]byte(reply), &suggestions)
	fmt.Println(*suggestions.Coverage, suggestions.Results[0].Text, suggestions.Results[0].Document.ID, err)
	// Output: 100 Harbour View Hotel 1 <nil>
}

// Buckets of a known type.
func ExampleValueFacets() {
	buckets := facets(`[{"count":20,"value":"2018-01-01T00:00:00Z"},{"count":11,"value":"2019-01-01T00:00:00Z"}]`)
	years, err := models.ValueFacets[time.Time](buckets)
	for _, y := range years {
		fmt.Println(y.Value.Year(), y.Count)
	}
	fmt.Println(err)
	_, err = models.ValueFacets[int64](buckets)
	fmt.Println(err)
	// Output:
	// 2018 20
	// 2019 11
	// <nil>
	// bucket 0 of the facet: "2018-01-01T00:00:00Z" is not an Edm.Int64
}

func ExampleRangeFacets() {
	rates, err := models.RangeFacets[float64](facets(`[{"count":4,"to":99.5},{"count":0,"from":99.5,"to":200},{"count":7,"from":200}]`))
	for _, r := range rates {
		fmt.Println(r.From != nil, r.To != nil, r.Count)
	}
	fmt.Println(*rates[0].To, err)
	// Output:
	// false true 4
	// true true 0
	// true false 7
	// 99.5 <nil>
}

// Buckets of unknown types.
func ExampleFacetValue() {
	for _, bucket := range facets(`[{"count":3,"value":"pool"},{"count":2,"value":9007199254740993},{"count":1,"value":true}]`) {
		n, err := bucket.Value.Int64()
		fmt.Println(bucket.Value, n, err)
	}
	// Output:
	// pool 0 "pool" is not an Edm.Int64
	// 9007199254740993 9007199254740993 <nil>
	// true 0 true is not an Edm.Int64
}

// The element type is that of the vector field.
func ExampleVectorOf() {
	embedding := models.VectorOf([]float32{0.1, -0.5, 0.25})
	bits := models.VectorOf([]uint8{0b10000000, 255}) // 16 dimensions, packed
	b, err := json.Marshal([]models.Vector{embedding, bits})
	fmt.Println(embedding.Len(), bits.Len(), string(b), err)
	// Output: 3 2 [[0.1,-0.5,0.25],[128,255]] <nil>
}

func ExampleVector_AppendJSON() {
	b, err := models.VectorOf([]int8{-1, 0, 1}).AppendJSON([]byte(`"vector":`))
	fmt.Println(string(b), err)
	_, err = models.Vector{}.AppendJSON(nil)
	fmt.Println(err)
	// Output:
	// "vector":[-1,0,1] <nil>
	// the vector is empty
}

func ExampleSynonymMap() {
	b, err := json.Marshal(models.SynonymMap{Name: "lodging", Synonyms: []string{"hotel, inn", "USA, United States"}})
	fmt.Println(string(b), err)
	var read models.SynonymMap
	err = json.Unmarshal([]byte(`{"name":"lodging","synonyms":"hotel, inn\r\n\r\n# from the sales team\r\nhostel => hotel\r\n"}`), &read)
	fmt.Printf("%q %v\n", read.Synonyms, err)
	// Output:
	// {"name":"lodging","format":"solr","synonyms":"hotel, inn\nUSA, United States"} <nil>
	// ["hotel, inn" "# from the sales team" "hostel => hotel"] <nil>
}

// facets returns the buckets of a reply.
func facets(reply string) (buckets []models.FacetResult) {
	if err := json.Unmarshal([]byte(reply), &buckets); err != nil {
		panic(err)
	}
	return buckets
}
