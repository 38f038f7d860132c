package models_test

import (
	"encoding/json"
	"fmt"

	"github.com/go-azsearch/azsearch/models"
)

func printPatch(p *models.Patch) {
	b, err := json.Marshal(p)
	fmt.Println(string(b), err)
}

func ExampleNewPatch() {
	printPatch(models.NewPatch("hotelId", "1"))
	// Output: {"hotelId":"1"} <nil>
}

func ExamplePatch_Set() {
	printPatch(models.NewPatch("hotelId", "1").Set("rating", 0).Set("tags", []string{"pool"}))
	// Output: {"hotelId":"1","rating":0,"tags":["pool"]} <nil>
}

func ExamplePatch_Clear() {
	printPatch(models.NewPatch("hotelId", "1").Clear("description"))
	// Output: {"description":null,"hotelId":"1"} <nil>
}

func ExamplePatch_Keep() {
	printPatch(models.NewPatch("hotelId", "1").Clear("description").Keep("description"))
	// Output: {"hotelId":"1"} <nil>
}

// The street is not changed.
func ExamplePatch_In() {
	p := models.NewPatch("hotelId", "1")
	p.In("address").Set("city", "Oslo").Clear("zip")
	printPatch(p)
	// Output: {"address":{"city":"Oslo","zip":null},"hotelId":"1"} <nil>
}

func ExamplePatch_Fields() {
	fmt.Println(models.NewPatch("hotelId", "1").Set("rating", 0).Clear("description").Fields())
	// Output: [description hotelId rating]
}

func ExamplePatch_Get() {
	p := models.NewPatch("hotelId", "1").Clear("description")
	fmt.Println(p.Get("description"))
	fmt.Println(p.Get("rating"))
	// Output:
	// <nil> true
	// <nil> false
}

func ExampleCollection() {
	fmt.Println(models.Collection(models.DataTypeString))
	// Output: Collection(Edm.String)
}

func ExampleDataType_Element() {
	fmt.Println(models.DataType("Collection(Edm.ComplexType)").Element())
	fmt.Println(models.DataTypeString.Element())
	// Output:
	// Edm.ComplexType true
	//  false
}

func ExampleDataType_IsVector() {
	fmt.Println(models.Collection(models.DataTypeSingle).IsVector(), models.Collection(models.DataTypeDouble).IsVector())
	// Output: true false
}

func ExampleSearchIndex_KeyField() {
	var index models.SearchIndex
	if err := json.Unmarshal([]byte(`{"name":"hotels","fields":[{"name":"rating","type":"Edm.Double"},{"name":"hotelId","type":"Edm.String","key":true}]}`), &index); err != nil {
		fmt.Println(err)
		return
	}
	key, ok := index.KeyField()
	fmt.Println(key.Name, ok)
	// Output: hotelId true
}
