package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// hotel is the document of about 650 bytes that a comparison sends by default.
type hotel struct {
	ID          string    `json:"id" search:"key"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Category    string    `json:"category"`
	Tags        []string  `json:"tags"`
	Rating      float64   `json:"rating"`
	Price       float64   `json:"price"`
	Rooms       int       `json:"rooms"`
	Parking     bool      `json:"parking"`
	Opened      time.Time `json:"opened"`
	Changed     time.Time `json:"changed"`
	Address     address   `json:"address"`
	Scores      []float64 `json:"scores"`
}

type address struct {
	Street     string  `json:"street"`
	City       string  `json:"city"`
	PostalCode string  `json:"postalCode"`
	Country    string  `json:"country"`
	Latitude   float64 `json:"latitude"`
	Longitude  float64 `json:"longitude"`
}

// event is a small document, of about 120 bytes.
type event struct {
	ID     string    `json:"id" search:"key"`
	Kind   string    `json:"kind"`
	At     time.Time `json:"at"`
	Amount float64   `json:"amount"`
	Valid  bool      `json:"valid"`
}

// chunk is a piece of text with its embedding, about 20 kB.
type chunk struct {
	ID     string    `json:"id" search:"key"`
	Text   string    `json:"text"`
	Vector []float32 `json:"vector"`
}

// page is a page of HTML, 100 kB before it is encoded.
type page struct {
	ID   string `json:"id" search:"key"`
	URL  string `json:"url"`
	HTML string `json:"html"`
}

// shape is a kind of document.
type shape struct {
	name string
	what string
	// bytes is what one is in JSON, roughly: a run sends as many as make the
	// bytes of that many hotels.
	bytes int
	// measure carries out a task with documents of the shape.
	measure func(t task) (*measurement, error)
	// contents returns their contents in JSON.
	contents func() ([][]byte, error)
}

const defaultShape = "default"

var shapes = []shape{
	newShape("small", "5 fields", 120, 256, newEvent, func(d *event, key string) { d.ID = key }),
	newShape(defaultShape, "13 fields, with a nested struct, times, floats and slices", 650, 256, newHotel, func(d *hotel, key string) { d.ID = key }),
	newShape("vector", "1536 float32 and a text", 20_000, 64, newChunk, func(d *chunk, key string) { d.ID = key }),
	newShape("html", "a page of HTML", 100_000, 16, newPage, func(d *page, key string) { d.ID = key }),
}

// newShape returns a shape with that many different contents.
func newShape[T any](name, what string, bytes, contents int, content func(*rand.Rand) T, setKey func(*T, string)) shape {
	return shape{
		name: name, what: what, bytes: bytes,
		measure: func(t task) (*measurement, error) {
			return measure(newWorkload(t.Documents, contents, content, setKey), t)
		},
		contents: func() ([][]byte, error) {
			return newWorkload(contents, contents, content, setKey).encode()
		},
	}
}

func shapeNamed(name string) (shape, error) {
	for _, s := range shapes {
		if s.name == name {
			return s, nil
		}
	}
	return shape{}, fmt.Errorf("there is no shape %q: use small, default, vector or html", name)
}

// scale returns how many documents of the shape make the bytes of n default
// ones.
func (s shape) scale(n int) int {
	standard, err := shapeNamed(defaultShape)
	if err != nil || s.name == defaultShape {
		return n
	}
	return max(1, n*standard.bytes/s.bytes)
}

// workload is the documents of a run: a few hundred different contents, each
// with a key of its own every time it is used. So the memory of a process is
// that of its contestant, however many documents it sends.
type workload[T any] struct {
	contents []T
	setKey   func(doc *T, key string)
	keys     string // all of them, one after the other
	n        int
}

const (
	keyPrefix = "doc-"
	keyBytes  = len(keyPrefix) + 8
)

func newWorkload[T any](n, contents int, content func(*rand.Rand) T, setKey func(*T, string)) *workload[T] {
	w := &workload[T]{setKey: setKey, n: n}
	r := rand.New(rand.NewPCG(1, 2))
	for range min(contents, n) {
		w.contents = append(w.contents, content(r))
	}
	var keys strings.Builder
	keys.Grow(n * keyBytes)
	for i := range n {
		fmt.Fprintf(&keys, "%s%08d", keyPrefix, i)
	}
	w.keys = keys.String()
	return w
}

// document copies document i to doc. It allocates nothing.
func (w *workload[T]) document(i int, doc *T) {
	*doc = w.contents[i%len(w.contents)]
	w.setKey(doc, w.key(i))
}

func (w *workload[T]) key(i int) string { return w.keys[i*keyBytes : (i+1)*keyBytes] }

// encode returns the contents in JSON, each with a key.
func (w *workload[T]) encode() ([][]byte, error) {
	all := make([][]byte, len(w.contents))
	for i := range all {
		var doc T
		w.document(i, &doc)
		var err error
		if all[i], err = json.Marshal(&doc); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// bytesPerDocument returns the size of a document in JSON, on average.
func (w *workload[T]) bytesPerDocument() (float64, error) {
	all, err := w.encode()
	if err != nil {
		return 0, err
	}
	return ratio(float64(len(bytes.Join(all, nil))), float64(len(all))), nil
}

var words = strings.Fields(`quiet rooms with a view over the old harbour within walking distance of museums
	restaurants and the central station breakfast until noon free bicycles friendly staff recently renovated
	bathrooms a small garden and a library`)

// prose returns that many bytes of words.
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

func newHotel(r *rand.Rand) hotel {
	return hotel{
		Name: prose(r, 24), Description: prose(r, 160), Category: prose(r, 10),
		Tags:   []string{"pool", "view", "24-hour front desk service"},
		Rating: float64(r.IntN(50)) / 10, Price: float64(r.IntN(100_000)) / 100, Rooms: r.IntN(500), Parking: r.IntN(2) == 0,
		Opened: someTime(r), Changed: someTime(r),
		Address: address{
			Street: prose(r, 18), City: prose(r, 10), PostalCode: fmt.Sprintf("%05d", r.IntN(100_000)), Country: "Netherlands",
			Latitude: r.Float64() * 90, Longitude: r.Float64() * 180,
		},
		Scores: []float64{r.Float64(), r.Float64(), r.Float64()},
	}
}

func newEvent(r *rand.Rand) event {
	return event{Kind: prose(r, 30), At: someTime(r), Amount: float64(r.IntN(100_000)) / 100, Valid: true}
}

func newChunk(r *rand.Rand) chunk {
	c := chunk{Text: prose(r, 2000), Vector: make([]float32, 1536)}
	for i := range c.Vector {
		c.Vector[i] = r.Float32()*2 - 1
	}
	return c
}

func newPage(r *rand.Rand) page {
	var b strings.Builder
	for b.Len() < 100_000 {
		fmt.Fprintf(&b, "<div class=\"item\"><a href=\"/items?id=%d&amp;sort=up\"><b>%s</b></a> &mdash; <i>%s</i></div>\n", r.IntN(1e6), prose(r, 20), prose(r, 60))
	}
	return page{URL: "https://example.com/" + prose(r, 8), HTML: b.String()[:100_000]}
}
