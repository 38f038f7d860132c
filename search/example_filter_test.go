package search_test

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Combine conditions with values from user input.
func ExampleFilter() {
	city, onlyFree := "L'Aquila", true
	filter := search.And(
		search.Eq("Address/City", city),
		search.Ge("LastRenovationDate", time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)),
	)
	if onlyFree {
		filter = search.And(filter, search.Or(search.IsTrue("ParkingIncluded"), search.Lt("Distance", 0.5)))
	}
	fmt.Println(filter)
	// Output:
	// Address/City eq 'L''Aquila' and LastRenovationDate ge 2020-01-01T00:00:00Z and (ParkingIncluded or Distance lt 0.5)
}

// An invalid filter is reported by Err, and by the operation that uses it.
func ExampleFilter_Err() {
	filter := search.And(search.Eq("Rating eq 1 or true", 4), search.Gt("Rating", nil))
	fmt.Println(filter.Err())
	// Output:
	// invalid filter: the path "Rating eq 1 or true" is not made of names (letters, digits and underscores, not starting with a digit) with slashes between them; "Rating" gt: null has no order: it can only be equal or not
}

func ExampleFilterf() {
	name, near := "O'Hara' or true", models.GeographyPoint{Longitude: -122.131577, Latitude: 47.678581}
	fmt.Println(search.Filterf("Rating ge %d and HotelName eq %s", 4, name))
	fmt.Println(search.Filterf("geo.distance(Location, %v) le %g", near, 2.5))
	fmt.Println(search.Filterf("Category ne %s and %v", "Spa", search.In("HotelId", "1", "2")))
	// Output:
	// Rating ge 4 and HotelName eq 'O''Hara'' or true'
	// geo.distance(Location, geography'POINT(-122.131577 47.678581)') le 2.5
	// Category ne 'Spa' and (search.in(HotelId, '1,2', ','))
}

func ExampleRawFilter() {
	ours := search.RawFilter("Rating ge 4 or Rating eq null")
	fmt.Println(search.And(ours, search.Eq("Category", "Spa")))
	fmt.Println(search.And(search.RawFilter("true) or (true"), search.Eq("Tenant", 7)).Err())
	// Output:
	// (Rating ge 4 or Rating eq null) and Category eq 'Spa'
	// invalid filter: the parenthesis at position 4 of "true) or (true" closes nothing
}

func ExampleIn() {
	ids := []string{"12", "a,b", "34"}
	fmt.Println(search.In("HotelId", ids...))
	fmt.Println(search.In("Rating", 4, 5))
	fmt.Println(search.In[string]("HotelId"))
	// Output:
	// search.in(HotelId, '12|a,b|34', '|')
	// Rating eq 4 or Rating eq 5
	// false
}

func ExampleAny() {
	fmt.Println(search.Any("Tags", "tag", search.In("tag", "pool", "sauna")))
	fmt.Println(search.Any("Rooms", "room", search.And(search.Lt("room/BaseRate", 200), search.Not(search.IsTrue("room/SmokingAllowed")))))
	fmt.Println(search.Not(search.NotEmpty("Rooms")))
	// Output:
	// Tags/any(tag: search.in(tag, 'pool,sauna', ','))
	// Rooms/any(room: room/BaseRate lt 200 and not room/SmokingAllowed)
	// not Rooms/any()
}

func ExampleAll() {
	fmt.Println(search.All("Rooms", "room", search.Ge("room/SleepsCount", 2)))
	// Output: Rooms/all(room: room/SleepsCount ge 2)
}

func ExampleGeoDistance() {
	seattle := models.GeographyPoint{Longitude: -122.335167, Latitude: 47.608013}
	fmt.Println(search.GeoDistance("Location", seattle).Le(10))
	// Output: geo.distance(Location, geography'POINT(-122.335167 47.608013)') le 10
}

func ExampleGeoIntersects() {
	park := []models.GeographyPoint{ // clockwise, which the service would read as the rest of the globe
		{Longitude: -122.1, Latitude: 47.6}, {Longitude: -122.1, Latitude: 47.7}, {Longitude: -122, Latitude: 47.7},
	}
	fmt.Println(search.GeoIntersects("Location", park...))
	// Output: geo.intersects(Location, geography'POLYGON((-122.1 47.6, -122 47.7, -122.1 47.7, -122.1 47.6))')
}

func ExampleIsMatch() {
	fmt.Println(search.Or(
		search.IsMatch("ocean view", &search.IsMatchOptions{SearchFields: []string{"Description", "Rooms/Description"}, AllTerms: true}),
		search.Ge("Rating", 5),
	))
	// Output: search.ismatch('ocean view', 'Description,Rooms/Description', 'simple', 'all') or Rating ge 5
}
