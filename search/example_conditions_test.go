package search_test

import (
	"context"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Optional conditions: an unset one adds no filter.
func ExampleAnd() {
	srv, client := resorts()
	defer srv.Close()
	var near search.Filter // not given by the guest
	filter := search.And(search.Ge("rating", 4.5), search.Lt("rate", 400), near)
	fmt.Println(filter)
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: filter}) {
		fmt.Println(hotel.Name, err)
	}
	// Output:
	// rating ge 4.5 and rate lt 400
	// Harbour View Hotel <nil>
}

func ExampleOr() {
	srv, client := resorts()
	defer srv.Close()
	filter := search.Or(search.Lt("rate", 100), search.Eq("category", "Lodge"))
	fmt.Println(filter)
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: filter}) {
		fmt.Println(hotel.Name, err)
	}
	fmt.Println(search.Or(), search.Or(search.Filter{}).Err())
	// Output:
	// rate lt 100 or category eq 'Lodge'
	// Roadside Motel <nil>
	// Mountain Lodge <nil>
	// Old Harbour Inn <nil>
	// false invalid filter: operand 1 of Or is the zero Filter, which matches every document: leave it out, or leave out Or
}

func ExampleNot() {
	srv, client := resorts()
	defer srv.Close()
	filter := search.Not(search.Or(search.In("category", "Luxury", "Lodge"), search.IsTrue("parking")))
	fmt.Println(filter)
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: filter}) {
		fmt.Println(hotel.Name, err)
	}
	// Output:
	// not (search.in(category, 'Luxury,Lodge', ',') or parking)
	// Old Harbour Inn <nil>
}

// User input is always a value and never filter syntax.
func ExampleEq() {
	srv, client := resorts()
	defer srv.Close()
	for _, typed := range []string{"Mountain Lodge", "' or true or name eq '"} {
		filter, n := search.Eq("name", typed), 0
		for _, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: filter}) {
			if err == nil {
				n++
			}
		}
		fmt.Println(filter, n)
	}
	// Output:
	// name eq 'Mountain Lodge' 1
	// name eq ''' or true or name eq ''' 0
}

// Null differs from every value.
func ExampleNe() {
	srv, client := resorts()
	defer srv.Close()
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: search.Ne("parking", true)}) {
		fmt.Println(hotel.Name, hotel.Parking != nil, err)
	}
	// Output:
	// Mountain Lodge false <nil>
	// Old Harbour Inn true <nil>
}

func ExampleGt() {
	srv, client := resorts()
	defer srv.Close()
	opened := time.Date(2018, 11, 20, 0, 0, 0, 0, time.UTC)
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: search.Gt("opened", opened)}) {
		fmt.Println(hotel.Name, err)
	}
	// Output:
	// Secret Point Resort <nil>
}

func ExampleGe() {
	srv, client := resorts()
	defer srv.Close()
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: search.Ge("rating", 4.8)}) {
		fmt.Println(hotel.Name, err)
	}
	// Output:
	// Harbour View Hotel <nil>
	// Secret Point Resort <nil>
}

func ExampleLt() {
	srv, client := resorts()
	defer srv.Close()
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: search.Lt("rate", 95)}) {
		fmt.Println(hotel.Name, err)
	}
	// Output:
	// Roadside Motel <nil>
}

// Keys are strings and are ordered by their characters.
func ExampleLe() {
	srv, client := resorts()
	defer srv.Close()
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: search.Le("hotelId", "20")}) {
		fmt.Println(hotel.ID, hotel.Name, err)
	}
	// Output:
	// 1 Harbour View Hotel <nil>
	// 2 Roadside Motel <nil>
}

func ExampleIsNull() {
	srv, client := resorts()
	defer srv.Close()
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: search.IsNull("parking")}) {
		fmt.Println(hotel.Name, err)
	}
	// Output:
	// Mountain Lodge <nil>
}

func ExampleIsNotNull() {
	srv, client := resorts()
	defer srv.Close()
	filter := search.And(search.IsNotNull("parking"), search.Not(search.IsTrue("parking")))
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: filter}) {
		fmt.Println(hotel.Name, *hotel.Parking, err)
	}
	// Output:
	// Old Harbour Inn false <nil>
}

func ExampleIsTrue() {
	srv, client := resorts()
	defer srv.Close()
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: search.IsTrue("parking")}) {
		fmt.Println(hotel.Name, err)
	}
	// Output:
	// Harbour View Hotel <nil>
	// Roadside Motel <nil>
	// Secret Point Resort <nil>
}

func ExampleNotEmpty() {
	srv, client := resorts()
	defer srv.Close()
	untagged := Resort{ID: "6", Name: "Nameless Cabin"}
	if _, err := search.UploadDocuments(context.Background(), client, []Resort{untagged}, nil); err != nil {
		fmt.Println(err)
	}
	for hotel, err := range search.Scan[Resort](context.Background(), client, &search.ScanOptions{Filter: search.Not(search.NotEmpty("tags"))}) {
		fmt.Println(hotel.Name, err)
	}
	// Output:
	// Nameless Cabin <nil>
}

// A text or a field must match; only the text affects the score.
func ExampleIsMatchScoring() {
	srv, client := resorts()
	defer srv.Close()
	filter := search.Or(
		search.IsMatchScoring("sauna glacier", &search.IsMatchOptions{SearchFields: []string{"description"}, AllTerms: true}),
		search.Ge("rating", 4.5),
	)
	for result, err := range search.Search[Resort](context.Background(), client, "", &search.SearchOptions{Filter: filter}) {
		fmt.Println(result.Document.Name, err)
	}
	// Output:
	// Mountain Lodge <nil>
	// Harbour View Hotel <nil>
	// Secret Point Resort <nil>
}

// A Filter can be compared, logged, or used in a hand-written request.
func ExampleFilter_String() {
	seattle := models.GeographyPoint{Longitude: -122.335167, Latitude: 47.608013}
	fmt.Printf("%q\n", search.Or(search.GeoDistance("location", seattle).Lt(5), search.NotEmpty("tags")).String())
	// Output:
	// "geo.distance(location, geography'POINT(-122.335167 47.608013)') lt 5 or tags/any()"
}

func ExampleFilter_IsZero() {
	fmt.Println(search.And().IsZero(), search.RawFilter(" ").IsZero(), search.In[string]("category").IsZero())
	// Output: true true false
}

func ExampleDistance() {
	srv, client := resorts()
	defer srv.Close()
	seattle := models.GeographyPoint{Longitude: -122.335167, Latitude: 47.608013}
	opts := &search.SearchOptions{
		Filter:  search.GeoDistance("location", seattle).Gt(10),
		OrderBy: []string{search.GeoDistance("location", seattle).Asc()},
	}
	for result, err := range search.Search[Resort](context.Background(), client, "", opts) {
		fmt.Println(result.Document.Name, err)
	}
	// Output:
	// Mountain Lodge <nil>
	// Secret Point Resort <nil>
}
