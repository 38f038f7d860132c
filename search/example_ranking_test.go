package search_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Parameters of a tag function: hotels with the guest's preferences come first.
func ExampleScoringParameter() {
	srv, client := resorts()
	defer srv.Close()
	opts := &search.SearchOptions{
		ScoringProfile:    "interests",
		ScoringParameters: []search.ScoringParameterValue{search.ScoringParameter("likes", "sauna", "bed, breakfast")},
		SearchFields:      []string{"tags"},
	}
	fmt.Println(opts.ScoringParameters[0])
	for result, err := range search.Search[Resort](context.Background(), client, "view", opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Document.Name)
		break
	}
	// Output:
	// likes-sauna,'bed, breakfast'
	// Mountain Lodge
}

// The reference point of a distance function: near hotels come first.
func ExampleScoringPoint() {
	srv, client := resorts()
	defer srv.Close()
	orcas := models.GeographyPoint{Longitude: -122.95, Latitude: 48.6}
	opts := &search.SearchOptions{
		ScoringProfile:    "nearby",
		ScoringParameters: []search.ScoringParameterValue{search.ScoringPoint("me", orcas)},
		SearchFields:      []string{"category"},
	}
	fmt.Println(opts.ScoringParameters[0])
	for result, err := range search.Search[Resort](context.Background(), client, "luxury", opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Document.Name)
	}
	// Output:
	// me--122.95,48.6
	// Secret Point Resort
	// Harbour View Hotel
}

// Find the documents with the nearest vectors. A real program gets its vectors from a model.
func ExampleVectorQuery() {
	srv, client := resorts()
	defer srv.Close()
	quiet := []float32{0.3, 1, 0}
	opts := &search.SearchOptions{
		VectorQueries: []search.VectorQuery{{Vector: models.VectorOf(quiet), Fields: []string{"mood"}, K: 2}},
		Select:        []string{"name"},
	}
	for result, err := range search.Search[Resort](context.Background(), client, "", opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %.2f\n", result.Document.Name, result.Score)
	}
	// Output:
	// Mountain Lodge 0.99
	// Secret Point Resort 0.79
}

// A hybrid query with a filter: the service fuses the results of text and vector.
func ExampleVectorQuery_hybrid() {
	srv, client := resorts()
	defer srv.Close()
	party := []float32{0.2, 0, 1}
	opts := &search.SearchOptions{
		Filter:           search.Lt("rate", 400),
		VectorFilterMode: models.VectorFilterModePreFilter,
		VectorQueries:    []search.VectorQuery{{Vector: models.VectorOf(party), Fields: []string{"mood"}, K: 2, Weight: 0.5}},
	}
	for result, err := range search.Search[Resort](context.Background(), client, "pool", opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Document.Name)
	}
	// Output:
	// Harbour View Hotel
	// Old Harbour Inn
	// Roadside Motel
}
