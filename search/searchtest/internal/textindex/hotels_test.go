package textindex_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

const recordings = "../../testdata/recordings/"

// hotelFields are the searchable fields of the Java recordings' index, with their analyzers.
var hotelFields = []string{
	"HotelId", "HotelName", "Description:en.lucene", "Description_fr:fr.lucene", "Category", "Tags",
	"Address/StreetAddress", "Address/City", "Address/StateProvince", "Address/PostalCode", "Address/Country",
	"Rooms/Description:en.lucene", "Rooms/Description_fr:fr.lucene", "Rooms/Type", "Rooms/BedOptions", "Rooms/Tags",
}

// pythonFields are those of the Python recordings: the key is not searchable and names start in lower case.
var pythonFields = []string{
	"hotelName", "description:en.lucene", "descriptionFr:fr.lucene", "category", "tags",
	"address/streetAddress", "address/city", "address/stateProvince", "address/postalCode", "address/country",
	"rooms/description:en.lucene", "rooms/descriptionFr:fr.lucene", "rooms/type", "rooms/bedOptions", "rooms/tags",
}

func analyzer(t testing.TB, name string) analysis.Analyzer {
	c, err := analysis.New(analysis.Definition{})
	require.NoError(t, err)
	a, err := c.Analyzer(name)
	require.NoError(t, err)
	return a
}

// fieldsOf parses "path:analyzer"; the default analyzer is standard.lucene.
func fieldsOf(t testing.TB, specs []string) []textindex.Field {
	fields := make([]textindex.Field, len(specs))
	for i, spec := range specs {
		path, name, ok := strings.Cut(spec, ":")
		if !ok {
			name = "standard.lucene"
		}
		a := analyzer(t, name)
		fields[i] = textindex.Field{Path: path, Index: a, Search: a}
	}
	return fields
}

// hotel is a document as uploaded.
type hotel map[string]any

func readHotels(t testing.TB, file string) []hotel {
	data, err := os.ReadFile(recordings + "testdata/" + file)
	require.NoError(t, err)
	var hotels []hotel
	if data[0] == '{' {
		var batch struct{ Value []hotel }
		require.NoError(t, json.Unmarshal(data, &batch))
		return batch.Value
	}
	require.NoError(t, json.Unmarshal(data, &hotels))
	return hotels
}

// texts returns the texts of a field.
func texts(value any, path string) []string {
	name, rest, nested := strings.Cut(path, "/")
	switch v := value.(type) {
	case []any:
		var all []string
		for _, element := range v {
			all = append(all, texts(element, path)...)
		}
		return all
	case hotel:
		return texts(map[string]any(v), path)
	case map[string]any:
		if nested {
			return texts(v[name], rest)
		}
		return texts(v[name], "")
	case string:
		return []string{v}
	}
	return nil
}

func nestedIn(h hotel) int {
	rooms, _ := h["Rooms"].([]any)
	if rooms == nil {
		rooms, _ = h["rooms"].([]any)
	}
	return len(rooms)
}

// hotelIndex has the hotels of a file with the ids 1, 2, …, in file order.
func hotelIndex(t testing.TB, file string, specs []string, s textindex.Similarity) (*textindex.Index, []hotel) {
	hotels := readHotels(t, file)
	fields := fieldsOf(t, specs)
	x := textindex.New(textindex.Config{Fields: fields, Similarity: s})
	for i, h := range hotels {
		d := textindex.Document{Nested: nestedIn(h)}
		for _, f := range fields {
			d.Values = append(d.Values, texts(h, f.Path))
		}
		x.Put(uint32(i+1), d)
	}
	return x, hotels
}
