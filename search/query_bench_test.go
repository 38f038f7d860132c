package search_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// recordedHotel has the fields of the recorded hotels.
type recordedHotel struct {
	ID          string                 `json:"HotelId"`
	Name        *string                `json:"HotelName"`
	Description *string                `json:"Description"`
	French      *string                `json:"Description_fr"`
	Category    *string                `json:"Category"`
	Tags        []string               `json:"Tags"`
	Parking     *bool                  `json:"ParkingIncluded"`
	Smoking     *bool                  `json:"SmokingAllowed"`
	Renovated   *time.Time             `json:"LastRenovationDate"`
	Rating      *int                   `json:"Rating"`
	Location    *models.GeographyPoint `json:"Location"`
	Address     *struct{ StreetAddress, City, StateProvince, Country, PostalCode *string }
	Rooms       []struct {
		Description, Type, BedOptions *string
		BaseRate                      *float64
		SleepsCount                   *int
		SmokingAllowed                *bool
		Tags                          []string
	}
}

// pageOfHotels returns a reply with 1000 hotels.
func pageOfHotels(b *testing.B) []byte {
	data, err := os.ReadFile("searchtest/testdata/recordings/testdata/HotelsDataArray.json")
	require.NoError(b, err)
	var hotels []models.Document
	require.NoError(b, json.Unmarshal(data, &hotels))
	var page models.SearchDocumentsResult[models.Document]
	for i := range 1000 {
		doc := hotels[i%len(hotels)]
		doc["HotelId"] = strconv.Itoa(i)
		page.Results = append(page.Results, models.SearchResult[models.Document]{Score: 1 / float64(i+1), Document: doc, Highlights: map[string][]string{"Description": {"a <em>pool</em>"}}})
	}
	body, err := json.Marshal(page)
	require.NoError(b, err)
	return body
}

// BenchmarkSearchPage measures the client's share of a page of 1000 hotels: pipeline, query, decoding of the reply.
func BenchmarkSearchPage(b *testing.B) {
	answer := pageOfHotels(b)
	client := newClient(b, transporter(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer))}, nil
	}))
	b.Run("struct", func(b *testing.B) { benchmarkPage[recordedHotel](b, client, len(answer)) })
	b.Run("Document", func(b *testing.B) { benchmarkPage[models.Document](b, client, len(answer)) })
	b.Run("RawMessage", func(b *testing.B) { benchmarkPage[json.RawMessage](b, client, len(answer)) })
	// encoding/json decodes the documents alone, for comparison.
	b.Run("encoding json", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(answer)))
		for b.Loop() {
			var page struct {
				Value []struct {
					recordedHotel
					Score      float64             `json:"@search.score"`
					Highlights map[string][]string `json:"@search.highlights"`
				} `json:"value"`
			}
			if err := json.Unmarshal(answer, &page); err != nil || len(page.Value) != 1000 {
				b.Fatal(err)
			}
		}
	})
}

func benchmarkPage[T any](b *testing.B, client *search.Client, size int) {
	b.ReportAllocs()
	b.SetBytes(int64(size))
	for b.Loop() {
		page, err := search.NewSearchPager[T](client, "pool", nil).NextPage(b.Context())
		if err != nil || len(page.Results) != 1000 {
			b.Fatal(len(page.Results), err)
		}
	}
}

// BenchmarkVectorQuery measures the encoding of a query with 1536 dimensions.
func BenchmarkVectorQuery(b *testing.B) {
	client := newClient(b, reply(200, emptyOK))
	rng := rand.New(rand.NewPCG(1, 2))
	floats, bytes := make([]float32, 1536), make([]int8, 1536)
	for i := range floats {
		floats[i], bytes[i] = float32(rng.NormFloat64()/40), int8(rng.IntN(256)-128)
	}
	for name, vector := range map[string]models.Vector{"float32": models.VectorOf(floats), "int8": models.VectorOf(bytes)} {
		b.Run(name, func(b *testing.B) {
			opts := &search.SearchOptions{VectorQueries: []search.VectorQuery{{Vector: vector, Fields: []string{"v"}, K: 10}}}
			b.ReportAllocs()
			for b.Loop() {
				search.NewSearchPager[models.Document](client, "", opts)
			}
		})
	}
}
