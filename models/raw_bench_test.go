package models_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// BenchmarkAppendActionOfTheSameDocument compares a struct with its JSON: as the document, indented, as a struct
// field, behind an interface, and as the output of an Encoder.
func BenchmarkAppendActionOfTheSameDocument(b *testing.B) {
	small := hotel{ID: "7", Name: "Stay-Kay City Hotel", Rooms: []room{{Type: "suite", Rate: 99.5}}}
	large := hotel{ID: "8", Name: strings.Repeat("A hotel, \"plainly\" written.\n", 40)}
	for i := range 200 {
		large.Rooms = append(large.Rooms, room{Type: fmt.Sprint("deluxe @ ", i), Rate: 100.25 + float64(i), By: map[string]float32{"EUR": float32(i)}})
	}
	vector := hotel{ID: "9", Vector: make([]float32, 1536)}
	for i := range vector.Vector {
		vector.Vector[i] = float32(math.Sin(float64(i)))
	}
	for _, doc := range []struct {
		name string
		hotel
	}{{"small", small}, {"650 bytes", benchHotel()}, {"large", large}, {"vector", vector}} {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		require.NoError(b, encoder.Encode(doc.hotel))
		raw := json.RawMessage(bytes.TrimSpace(text.Bytes()))
		var indented bytes.Buffer
		require.NoError(b, json.Indent(&indented, raw, "", "  "))
		b.Run(doc.name+"/struct", func(b *testing.B) { benchAppend(b, &doc.hotel) })
		b.Run(doc.name+"/RawMessage", func(b *testing.B) { benchAppend(b, raw) })
		b.Run(doc.name+"/RawMessage, indented", func(b *testing.B) { benchAppend(b, json.RawMessage(indented.Bytes())) })
		b.Run(doc.name+"/RawMessage in a field", func(b *testing.B) {
			benchAppend(b, &struct {
				More json.RawMessage `json:"more"`
			}{raw})
		})
		b.Run(doc.name+"/RawMessage in an interface", func(b *testing.B) { benchAppend[any](b, raw) })
		b.Run(doc.name+"/AppendEncoded", func(b *testing.B) {
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if buf, err = models.AppendEncoded(buf[:0], models.ActionTypeUpload, raw); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}
