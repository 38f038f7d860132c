package models_test

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Hotel is a typical document type.
type Hotel struct {
	ID       string                 `json:"hotelId" search:"key,filterable"`
	Name     string                 `json:"hotelName" search:"searchable,sortable"`
	About    string                 `json:"description" search:"analyzer=en.lucene"`
	Tags     []string               `json:"tags" search:"searchable,filterable,facetable"`
	Rating   *float32               `json:"rating,omitempty" search:"filterable,sortable,facetable"`
	Location *models.GeographyPoint `json:"location,omitempty" search:"filterable,sortable"`
	Rooms    []Room                 `json:"rooms,omitempty"`
	Vector   []float32              `json:"vector,omitempty" search:"dimensions=3,vectorProfile=fast"`
}

// Room is a part of a Hotel.
type Room struct {
	Type string  `json:"type" search:"searchable,filterable"`
	Rate float64 `json:"rate" search:"filterable"`
}

func ExampleFieldsOf() {
	fields, err := models.FieldsOf[Hotel]()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range fields {
		fmt.Println(f.Name, f.Type, "searchable:", f.Searchable != nil && *f.Searchable)
	}
	// Output:
	// hotelId Edm.String searchable: false
	// hotelName Edm.String searchable: true
	// description Edm.String searchable: true
	// tags Collection(Edm.String) searchable: true
	// rating Edm.Double searchable: false
	// location Edm.GeographyPoint searchable: false
	// rooms Collection(Edm.ComplexType) searchable: false
	// vector Collection(Edm.Single) searchable: true
}

// One error reports all problems of a type.
func ExampleFieldsOf_problems() {
	type Review struct {
		ID    int     `json:"id" search:"key"`
		Score uint64  `json:"score" search:"sortable"`
		Stars float64 `json:"stars" search:"searchable,filtrable"`
	}
	_, err := models.FieldsOf[Review]()
	fmt.Println(err)
	// Output:
	// document type models_test.Review: field ID: the key must be a string, not Edm.Int64
	// document type models_test.Review: field Score: uint64 has values that no type of the index holds: use a smaller type, or say type=Edm.Int64
	// document type models_test.Review: field Stars: "filtrable" is not a word of the tag
	// document type models_test.Review: field Stars: Edm.Double is not searchable: only strings, lists of strings and vectors are
}

func ExampleSearchIndex() {
	fields, err := models.FieldsOf[Book]()
	if err != nil {
		fmt.Println(err)
		return
	}
	index := models.SearchIndex{
		Name:   "books",
		Fields: fields,
		Suggesters: []models.Suggester{
			{Name: "sg", SourceFields: []string{"title"}},
		},
		Similarity: &models.Similarity{Type: models.SimilarityBM25, B: new(0.5)},
	}
	b, err := json.Marshal(index)
	fmt.Println(string(b), err)
	// Output: {"name":"books","fields":[{"name":"id","type":"Edm.String","key":true,"retrievable":true,"searchable":false,"filterable":false,"sortable":false,"facetable":false},{"name":"title","type":"Edm.String","retrievable":true,"searchable":true,"filterable":false,"sortable":false,"facetable":false}],"suggesters":[{"name":"sg","searchMode":"analyzingInfixMatching","sourceFields":["title"]}],"similarity":{"@odata.type":"#Microsoft.Azure.Search.BM25Similarity","b":0.5}} <nil>
}

// Book is a small document type.
type Book struct {
	ID    string `json:"id" search:"key"`
	Title string `json:"title" search:"searchable"`
}

func ExampleIndexDocumentsBatch() {
	batch := models.NewIndexDocumentsBatch(
		models.UploadAction(Hotel{ID: "1", Name: "Fancy <Stay>", Tags: []string{"pool"}}),
		models.DeleteAction(Hotel{ID: "2"}),
	)
	b, err := batch.MarshalJSON()
	fmt.Println(string(b), err)
	// Output: {"value":[{"@search.action":"upload","hotelId":"1","hotelName":"Fancy <Stay>","description":"","tags":["pool"]},{"@search.action":"delete","hotelId":"2","hotelName":"","description":"","tags":null}]} <nil>
}

func ExampleAppendAction() {
	b, err := models.AppendAction(nil, models.ActionTypeMerge, Room{Type: "suite", Rate: 120})
	fmt.Println(string(b), err)
	_, err = models.AppendAction(b, models.ActionTypeUpload, Hotel{ID: "1", Rooms: []Room{{}, {Rate: math.NaN()}}})
	fmt.Println(err)
	// Output:
	// {"@search.action":"merge","type":"suite","rate":120} <nil>
	// encode document: field rooms[1].rate: NaN cannot be written in JSON: json: unsupported value: NaN
}

func ExampleAppendDelete() {
	fmt.Println(string(models.AppendDelete(nil, "hotelId", "1")))
	// Output: {"@search.action":"delete","hotelId":"1"}
}

func ExampleKeyFieldOf() {
	key, err := models.KeyFieldOf[Hotel]()
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := key.Get(Hotel{ID: "42"})
	fmt.Println(key.Name, id, err)
	// Output: hotelId 42 <nil>
}

func ExampleKeyFieldByName() {
	key, err := models.KeyFieldByName[json.RawMessage]("hotelId")
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := key.Get(json.RawMessage(`{"hotelName":"Roach Motel","hotelId":"2"}`))
	fmt.Println(id, err)
	_, err = key.Get(json.RawMessage(`{"hotelName":"Roach Motel"}`))
	fmt.Println(err)
	// Output:
	// 2 <nil>
	// encode document: field hotelId: document has no key
}

func ExampleDocument() {
	var doc models.Document
	if err := json.Unmarshal([]byte(`{"hotelId":"1","views":9007199254740993,"opened":"2026-01-02T03:04:05Z","closed":null}`), &doc); err != nil {
		fmt.Println(err)
		return
	}
	views, err := doc.Int64("views")
	fmt.Println(views, err)
	opened, err := doc.Time("opened")
	fmt.Println(opened.Format(time.DateOnly), err)
	_, err = doc.Time("closed")
	fmt.Println(err)
	// Output:
	// 9007199254740993 <nil>
	// 2026-01-02 <nil>
	// field "closed" as Edm.DateTimeOffset: field is absent or null
}

func ExamplePatch() {
	p := models.NewPatch("hotelId", "1")
	p.Set("rating", 0)
	p.Clear("description")
	p.In("address").Set("city", "Oslo")
	b, err := models.AppendAction(nil, models.ActionTypeMerge, p)
	fmt.Println(string(b), err)
	// Output: {"@search.action":"merge","address":{"city":"Oslo"},"description":null,"hotelId":"1","rating":0} <nil>
}

func ExampleGeographyPoint() {
	b, err := json.Marshal(models.GeographyPoint{Longitude: -122.131577, Latitude: 47.678581})
	fmt.Println(string(b), err)
	// Output: {"type":"Point","coordinates":[-122.131577,47.678581]} <nil>
}
