//go:build !race

// Under the race detector sync.Pool drops objects at random, so these tests of allocations run without it.

package encode_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

type plainDocument struct {
	ID       string `json:"id"`
	Text     string `json:"text,omitempty"`
	Escaped  string
	Rating   float64   `json:"rating"`
	Small    float32   `json:"small,omitzero"`
	Count    int64     `json:"count"`
	Flag     bool      `json:"flag"`
	At       time.Time `json:"at"`
	AtPtr    *time.Time
	Number   json.Number
	Tags     []string  `json:"tags"`
	Vector   []float32 `json:"vector"`
	Numbers  []float64
	Ints     []int
	Bytes    []byte
	Fixed    [3]int
	Optional *string `json:",omitempty"`
	Address  struct {
		Street, City string
		Location     *plainPoint
	}
	Rooms []plainRoom
	plainEmbedded
}

type (
	plainPoint struct{ Lon, Lat float64 }
	plainRoom  struct {
		Name  string
		Price float64
		Beds  []plainBed
	}
	plainBed      struct{ Width int }
	plainEmbedded struct {
		Owner string
		Since time.Time
	}
)

func newPlainDocument() *plainDocument {
	now := time.Date(2024, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600))
	d := &plainDocument{
		ID: "1", Text: "<p>some text</p>", Escaped: "a \"quoted\"\nline \xff \u2028", Rating: 4.35, Small: 1e-9, Count: -12345, Flag: true,
		At: now, AtPtr: &now, Number: "1.50", Tags: []string{"a", "", "é"}, Vector: []float32{0.1, -1, 1e-8}, Numbers: []float64{1, 1e21}, Ints: []int{1, 2},
		Bytes: []byte("bytes"), Fixed: [3]int{1, 2, 3}, Rooms: []plainRoom{{"a", 1, nil}, {"b", 2, []plainBed{{1}, {2}}}},
		plainEmbedded: plainEmbedded{"me", now},
	}
	d.Address.Street, d.Address.Location = "x", &plainPoint{1.5, -2.5}
	return d
}

func TestAPointerToAStructIsWrittenWithoutAnAllocation(t *testing.T) {
	d := newPlainDocument()
	checkWritten(t, d)
	buf := make([]byte, 0, 1<<16)
	require.Zero(t, testing.AllocsPerRun(500, func() {
		if _, ok := encode.Append(buf, d); !ok {
			t.Fatal("left to encoding/json")
		}
	}))
}

func TestADocumentInAMapIsWrittenWithoutAnAllocation(t *testing.T) {
	m := map[string]any{
		"id": "1", "text": "<p>", "n": 1.5, "i": int64(1), "flag": true, "none": nil, "tags": []any{"a", 2.5, false}, "at": time.Unix(0, 0).UTC(),
		"address": map[string]any{"street": "x", "location": map[string]any{"type": "Point", "coordinates": []any{1.5, 2.5}}},
	}
	checkWritten(t, m)
	buf := make([]byte, 0, 1<<16)
	require.LessOrEqual(t, testing.AllocsPerRun(500, func() {
		if _, ok := encode.Append(buf, m); !ok {
			t.Fatal("left to encoding/json")
		}
	}), 0.0)
}
