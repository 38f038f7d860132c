package models_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// lighthouse is a document as a lookup returns it.
func lighthouse() models.Document {
	var doc models.Document
	if err := json.Unmarshal([]byte(`{
		"name": "Fanad Head", "open": true, "visits": 9007199254740993, "height": 39.5, "built": "1817-03-17T12:00:00Z", "closed": null,
		"where": {"type": "Point", "coordinates": [-7.63194, 55.27615]},
		"tags": ["granite", "white"], "flashes": [3, 1], "vector": [0.1, -0.25], "lit": [true, false], "tides": [0.4, "NaN"],
		"inspections": ["2025-06-01T00:00:00Z", "2026-06-01T00:00:00Z"], "nearby": [{"type": "Point", "coordinates": [-8.25, 55.2]}],
		"keeper": {"name": "Ann", "since": 1999}, "logs": [{"by": "Ann"}, {"by": "Bo"}]}`), &doc); err != nil {
		fmt.Println(err)
	}
	return doc
}

func ExampleDocument_Has() {
	doc := lighthouse()
	fmt.Println(doc.Has("name"), doc.Has("closed"), doc.Has("nonesuch"))
	// Output: true false false
}

func ExampleDocument_String() {
	fmt.Println(lighthouse().String("name"))
	fmt.Println(lighthouse().String("height"))
	// Output:
	// Fanad Head <nil>
	//  field "height" as Edm.String: it holds a number
}

func ExampleDocument_Bool() {
	fmt.Println(lighthouse().Bool("open"))
	// Output: true <nil>
}

// All digits are kept, and a fraction is an error instead of being rounded.
func ExampleDocument_Int64() {
	fmt.Println(lighthouse().Int64("visits"))
	fmt.Println(models.Document{"n": json.Number("5.00000000000000000001")}.Int64("n"))
	// Output:
	// 9007199254740993 <nil>
	// 0 field "n" as Edm.Int64: 5.00000000000000000001 is not an integer
}

func ExampleDocument_Float64() {
	fmt.Println(lighthouse().Float64("height"))
	// Output: 39.5 <nil>
}

func ExampleDocument_Time() {
	built, err := lighthouse().Time("built")
	fmt.Println(built.Format(time.DateOnly), err)
	// Output: 1817-03-17 <nil>
}

func ExampleDocument_GeographyPoint() {
	fmt.Println(lighthouse().GeographyPoint("where"))
	// Output: POINT(-7.63194 55.27615) <nil>
}

func ExampleDocument_Object() {
	keeper, err := lighthouse().Object("keeper")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(keeper.Int64("since"))
	// Output: 1999 <nil>
}

func ExampleDocument_Strings() {
	fmt.Println(lighthouse().Strings("tags"))
	// Output: [granite white] <nil>
}

func ExampleDocument_Bools() {
	fmt.Println(lighthouse().Bools("lit"))
	// Output: [true false] <nil>
}

func ExampleDocument_Int64s() {
	fmt.Println(lighthouse().Int64s("flashes"))
	fmt.Println(lighthouse().Int64s("tides"))
	// Output:
	// [3 1] <nil>
	// [] field "tides" as Collection(Edm.Int64): element 0: 0.4 is not an integer
}

func ExampleDocument_Float64s() {
	fmt.Println(lighthouse().Float64s("tides"))
	// Output: [0.4 NaN] <nil>
}

func ExampleDocument_Vector() {
	fmt.Println(lighthouse().Vector("vector"))
	// Output: [0.1 -0.25] <nil>
}

func ExampleDocument_Times() {
	times, err := lighthouse().Times("inspections")
	fmt.Println(len(times), times[1].Year(), err)
	// Output: 2 2026 <nil>
}

func ExampleDocument_GeographyPoints() {
	fmt.Println(lighthouse().GeographyPoints("nearby"))
	// Output: [POINT(-8.25 55.2)] <nil>
}

func ExampleDocument_Objects() {
	logs, err := lighthouse().Objects("logs")
	fmt.Println(len(logs), logs[1]["by"], err)
	// Output: 2 Bo <nil>
}
