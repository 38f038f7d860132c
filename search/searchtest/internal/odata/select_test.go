package odata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

func TestSelectNamesFieldsByPath(t *testing.T) {
	rooms, address := hotel.Fields["Rooms"], hotel.Fields["Address"]
	rows := map[string][][]*stored.Field{
		"":                      nil,
		" ":                     nil,
		"*":                     nil,
		"HotelId,*":             nil,
		"HotelId":               {{hotel.Fields["HotelId"]}},
		" HotelId , Rooms/Tags": {{hotel.Fields["HotelId"]}, {rooms, rooms.ByName["Tags"]}},
		"Address,Address/Country/Code": {
			{address},
			{address, address.ByName["Country"], address.ByName["Country"].ByName["Code"]},
		},
	}
	for text, want := range rows {
		paths, err := CompileSelect(text, hotel.Fields)
		require.NoError(t, err, text)
		assert.Equal(t, want, paths, text)
	}
}

func TestSelectIsRefusedInTheWordsOfTheService(t *testing.T) {
	rows := map[string]string{
		"ThisFieldDoesNotExist":   "Could not find a property named 'ThisFieldDoesNotExist' on type 'search.document'.", // recorded
		"*,ThisFieldDoesNotExist": "Could not find a property named 'ThisFieldDoesNotExist' on type 'search.document'.",
		"Address/Street":          "Could not find a property named 'Street' on type 'search.complex.Address'.",
		"HotelId,,Rating":         "An identifier was expected at position 8.",
		"HotelId,":                "An identifier was expected at position 8.",
		"HotelId Rating":          "Term 'HotelId Rating' is not valid in a $select or $expand expression.",
		"'HotelId'":               "An identifier was expected at position 0.",
		"$count":                  "Found system token '$count' in select or expand clause '$count'.",
		"Address/":                "An identifier was expected at position 8.",
		"Description":             "'Description' is not a retrievable field. Only fields marked as retrievable in the index can be used in $select.",
		"HotelId#":                "Syntax error: character '#' is not valid at position 7 in 'HotelId#'.",
	}
	for text, message := range rows {
		_, err := CompileSelect(text, hotel.Fields)
		assert.EqualError(t, err, message, text)
	}
}
