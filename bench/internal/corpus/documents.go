// Package corpus generates the documents of the benchmarks.
package corpus

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// IndexName is the index of all benchmarks.
const IndexName = "bench"

// Hotel is the default document, of about 650 bytes.
type Hotel struct {
	ID          string    `json:"id" search:"key" parquet:"id"`
	Name        string    `json:"name" parquet:"name"`
	Description string    `json:"description" parquet:"description"`
	Category    string    `json:"category" parquet:"category"`
	Tags        []string  `json:"tags" parquet:"tags,list"`
	Rating      float64   `json:"rating" parquet:"rating"`
	Price       float64   `json:"price" parquet:"price"`
	Rooms       int       `json:"rooms" parquet:"rooms"`
	Parking     bool      `json:"parking" parquet:"parking"`
	Opened      time.Time `json:"opened" parquet:"opened,timestamp"`
	Changed     time.Time `json:"changed" parquet:"changed,timestamp"`
	Address     Address   `json:"address" parquet:"address"`
	Scores      []float64 `json:"scores" parquet:"scores,list"`
}

// Address is the address of a hotel.
type Address struct {
	Street     string  `json:"street" parquet:"street"`
	City       string  `json:"city" parquet:"city"`
	PostalCode string  `json:"postalCode" parquet:"postalCode"`
	Country    string  `json:"country" parquet:"country"`
	Latitude   float64 `json:"latitude" parquet:"latitude"`
	Longitude  float64 `json:"longitude" parquet:"longitude"`
}

// Event is a small document of about 120 bytes.
type Event struct {
	ID     string    `json:"id" search:"key"`
	Kind   string    `json:"kind"`
	At     time.Time `json:"at"`
	Amount float64   `json:"amount"`
	Valid  bool      `json:"valid"`
}

// Chunk is a text with its embedding, about 20 kB.
type Chunk struct {
	ID     string    `json:"id" search:"key"`
	Text   string    `json:"text"`
	Vector []float32 `json:"vector"`
}

// Page is a page of HTML, 100 kB before it is encoded.
type Page struct {
	ID   string `json:"id" search:"key"`
	URL  string `json:"url"`
	HTML string `json:"html"`
}

var words = strings.Fields(`quiet rooms with a view over the old harbour within walking distance of museums
	restaurants and the central station breakfast until noon free bicycles friendly staff recently renovated
	bathrooms a small garden and a library`)

// prose returns text of the given number of bytes.
func prose(r *rand.Rand, bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()[:bytes]
}

func someTime(r *rand.Rand) time.Time {
	return time.Date(2020, 1, 1, 0, 0, r.IntN(200_000_000), 0, time.UTC)
}

// NewHotel returns a hotel without a key.
func NewHotel(r *rand.Rand) Hotel {
	return Hotel{
		Name: prose(r, 24), Description: prose(r, 160), Category: prose(r, 10),
		Tags:   []string{"pool", "view", "24-hour front desk service"},
		Rating: float64(r.IntN(50)) / 10, Price: float64(r.IntN(100_000)) / 100, Rooms: r.IntN(500), Parking: r.IntN(2) == 0,
		Opened: someTime(r), Changed: someTime(r),
		Address: Address{
			Street: prose(r, 18), City: prose(r, 10), PostalCode: fmt.Sprintf("%05d", r.IntN(100_000)), Country: "Netherlands",
			Latitude: r.Float64() * 90, Longitude: r.Float64() * 180,
		},
		Scores: []float64{r.Float64(), r.Float64(), r.Float64()},
	}
}

// NewEvent returns an event without a key.
func NewEvent(r *rand.Rand) Event {
	return Event{Kind: prose(r, 30), At: someTime(r), Amount: float64(r.IntN(100_000)) / 100, Valid: true}
}

// NewChunk returns a chunk without a key.
func NewChunk(r *rand.Rand) Chunk {
	c := Chunk{Text: prose(r, 2000), Vector: make([]float32, 1536)}
	for i := range c.Vector {
		c.Vector[i] = r.Float32()*2 - 1
	}
	return c
}

// NewPage returns a page without a key.
func NewPage(r *rand.Rand) Page {
	var b strings.Builder
	for b.Len() < 100_000 {
		fmt.Fprintf(&b, "<div class=\"item\"><a href=\"/items?id=%d&amp;sort=up\"><b>%s</b></a> &mdash; <i>%s</i></div>\n", r.IntN(1e6), prose(r, 20), prose(r, 60))
	}
	return Page{URL: "https://example.com/" + prose(r, 8), HTML: b.String()[:100_000]}
}
