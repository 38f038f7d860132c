package search_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// The three most frequent tags; ties are ordered alphabetically.
func ExampleFacetByValue() {
	srv, client := resorts()
	defer srv.Close()
	byTag := search.FacetByValue("tags", &search.FacetByValueOptions{Count: 3})
	page, err := search.NewSearchPager[Resort](client, "", &search.SearchOptions{Facets: []search.Facet{byTag}, Top: to.Ptr(0)}).NextPage(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	tags, err := models.ValueFacets[string](page.Facets["tags"])
	fmt.Println(tags, err)
	// Output: [{view 3} {breakfast 2} {pool 2}] <nil>
}

func ExampleFacetByRange() {
	srv, client := resorts()
	defer srv.Close()
	byRate := search.FacetByRange("rate", 100, 200)
	page, err := search.NewSearchPager[Resort](client, "", &search.SearchOptions{Facets: []search.Facet{byRate}, Top: to.Ptr(0)}).NextPage(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	rates, err := models.RangeFacets[int64](page.Facets["rate"])
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range rates {
		switch {
		case r.From == nil:
			fmt.Printf("below %d: %d\n", *r.To, r.Count)
		case r.To == nil:
			fmt.Printf("from %d: %d\n", *r.From, r.Count)
		default:
			fmt.Printf("from %d to %d: %d\n", *r.From, *r.To, r.Count)
		}
	}
	// Output:
	// below 100: 2
	// from 100 to 200: 1
	// from 200: 2
}

func ExampleFacetByInterval() {
	srv, client := resorts()
	defer srv.Close()
	byRate := search.FacetByInterval("rate", 100)
	page, err := search.NewSearchPager[Resort](client, "", &search.SearchOptions{Facets: []search.Facet{byRate}, Top: to.Ptr(0)}).NextPage(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	rates, err := models.ValueFacets[int64](page.Facets["rate"])
	fmt.Println(rates, err)
	// Output: [{0 2} {100 1} {300 1} {400 1}] <nil>
}

func ExampleFacetByPeriod() {
	srv, client := resorts()
	defer srv.Close()
	byYear := search.FacetByPeriod("opened", search.FacetPeriodYear, 0)
	page, err := search.NewSearchPager[Resort](client, "", &search.SearchOptions{Facets: []search.Facet{byYear}, Top: to.Ptr(0)}).NextPage(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	years, err := models.ValueFacets[time.Time](page.Facets["opened"])
	if err != nil {
		log.Fatal(err)
	}
	for _, y := range years {
		fmt.Println(y.Value.Year(), y.Count)
	}
	// Output:
	// 1995 1
	// 2001 1
	// 2018 2
	// 2020 1
}

// Several facets in one request, one of them in the service's own syntax.
func ExampleRawFacet() {
	srv, client := resorts()
	defer srv.Close()
	opts := &search.SearchOptions{
		Facets: []search.Facet{search.RawFacet("rating,sort:-value,count:2"), search.FacetByValue("parking", nil)},
		Top:    to.Ptr(0),
	}
	page, err := search.NewSearchPager[Resort](client, "", opts).NextPage(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	ratings, err := models.ValueFacets[float64](page.Facets["rating"])
	fmt.Println(ratings, err)
	parking, err := models.ValueFacets[bool](page.Facets["parking"])
	fmt.Println(parking, err)
	// Output:
	// [{4.8 2} {4.4 1}] <nil>
	// [{true 3} {false 1}] <nil>
}

// An invalid facet is reported by Err, and by the operation that uses it.
func ExampleFacet() {
	fmt.Println(search.FacetByValue("tags", &search.FacetByValueOptions{Count: -1, Sort: search.FacetSortValueAscending}))
	fmt.Println(search.FacetByRange("opened", time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)))
	fmt.Println(search.FacetByPeriod("opened", search.FacetPeriodDay, -8*time.Hour))
	fmt.Println(search.FacetByRange("rate", 200, 100).Err())
	// Output:
	// tags,count:0,sort:value
	// opened,values:2010-01-01T00:00:00Z
	// opened,interval:day,timeoffset:-08:00
	// boundary 1, 100, is not above 200
}
