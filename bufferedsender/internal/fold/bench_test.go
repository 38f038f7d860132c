package fold_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/models"
)

// benchDoc is a typical document: a few short fields, a nested object, some collections and one long text.
type (
	geo struct {
		Type        string     `json:"type"`
		Coordinates [2]float64 `json:"coordinates"`
	}
	address struct {
		Street string `json:"street"`
		City   string `json:"city"`
		State  string `json:"state"`
		Zip    string `json:"zip"`
	}
	room struct {
		Description string   `json:"description"`
		Type        string   `json:"type"`
		Rate        float64  `json:"rate"`
		Beds        int      `json:"beds"`
		Tags        []string `json:"tags"`
	}
	benchDoc struct {
		ID          string    `json:"id"`
		Name        string    `json:"name"`
		Description string    `json:"description"`
		Category    string    `json:"category"`
		Tags        []string  `json:"tags"`
		Parking     bool      `json:"parkingIncluded"`
		Renovated   string    `json:"lastRenovationDate"`
		Rating      float64   `json:"rating"`
		Address     address   `json:"address"`
		Location    *geo      `json:"location"`
		Rooms       []room    `json:"rooms"`
		Vector      []float32 `json:"vector,omitempty"`
	}
)

func benchAction(tb testing.TB, typ models.ActionType, rooms, vector, text int) []byte {
	d := benchDoc{
		ID: "hotel-4711", Name: "Stay-Kay City Hotel", Category: "Boutique", Tags: []string{"view", "air conditioning", "concierge"},
		Renovated: "2022-01-18T00:00:00Z", Rating: 3.6, Description: strings.Repeat("This classic hotel is fully refurbished. ", text),
		Address:  address{Street: "677 5th Ave", City: "New York", State: "NY", Zip: "10022"},
		Location: &geo{Type: "Point", Coordinates: [2]float64{-73.975403, 40.760586}},
	}
	for i := range rooms {
		d.Rooms = append(d.Rooms, room{Description: fmt.Sprintf("Budget Room %d, 1 Queen Bed (Cityside)", i), Type: "Budget Room", Rate: 96.99 + float64(i), Beds: i % 4, Tags: []string{"vcr/dvd"}})
	}
	for i := range vector {
		d.Vector = append(d.Vector, float32(i%97)*0.013-0.5)
	}
	out, err := models.AppendAction(nil, typ, d)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func BenchmarkActions(b *testing.B) {
	cases := []struct {
		name                string
		rooms, vector, text int
	}{
		{"650B", 1, 0, 4},
		{"20kB-objects", 155, 0, 4},
		{"20kB-vector", 1, 1850, 4},
		{"20kB-text", 1, 0, 475},
	}
	for _, c := range cases {
		first := benchAction(b, models.ActionTypeMergeOrUpload, c.rooms, c.vector, c.text)
		next := benchAction(b, models.ActionTypeMergeOrUpload, c.rooms, c.vector, c.text)
		b.Run(fmt.Sprintf("%s/whole", c.name), func(b *testing.B) { benchmarkFold(b, first, next) })
		small := []byte(`{"@search.action":"mergeOrUpload","id":"hotel-4711","rating":4.5,"address":{"zip":"10023"}}`)
		b.Run(fmt.Sprintf("%s/one-field", c.name), func(b *testing.B) { benchmarkFold(b, first, small) })
	}
	b.Run("650B/upload", func(b *testing.B) {
		x := benchAction(b, models.ActionTypeUpload, 1, 0, 4)
		b.ReportAllocs()
		for b.Loop() {
			if _, _, ok := fold.Actions(models.ActionTypeUpload, x, models.ActionTypeUpload, x); !ok {
				b.Fatal("refused")
			}
		}
	})
}

func benchmarkFold(b *testing.B, first, next []byte) {
	b.SetBytes(int64(len(first) + len(next)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := fold.Actions(models.ActionTypeMergeOrUpload, first, models.ActionTypeMergeOrUpload, next); !ok {
			b.Fatal("refused")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(first)+len(next)), "ns/byte")
}

// BenchmarkValid is the reference: encoding/json reads one such document without decoding it.
func BenchmarkValid(b *testing.B) {
	x := benchAction(b, models.ActionTypeUpload, 140, 0, 4)
	b.SetBytes(int64(len(x)))
	for b.Loop() {
		if !json.Valid(x) {
			b.Fatal("not JSON")
		}
	}
}
