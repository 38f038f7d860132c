package odata

import (
	"fmt"
	"testing"
)

// benchmarkHotels returns documents like those of the service's samples.
func benchmarkHotels(n int) [][]byte {
	categories := []string{"Luxury", "Budget", "Boutique", "Resort and Spa", "Suite"}
	out := make([][]byte, n)
	for i := range out {
		seed := uint32(i) * 2654435761
		out[i] = encode(hotelFields, document{
			"HotelId": fmt.Sprint(i), "HotelName": fmt.Sprintf("Hotel %08x", seed), "Category": categories[seed>>8%5],
			"Description": "Best hotel in town if you like luxury hotels. They have an amazing infinity pool, a spa, and a really helpful concierge.",
			"Tags":        words("pool", "view", "wifi"), "Rating": int64(seed>>16%5 + 1), "Price": float64(seed%100_000) / 100,
			"Parking": seed&64 != 0, "Renovated": date("2010-06-27T00:00:00Z") + int64(seed), "Location": point{float64(seed % 180), float64(seed % 90)},
			"Address": document{"City": "Paris"},
			"Rooms":   []any{document{"Type": "Deluxe", "Rate": 150.0}, document{"Type": "Budget", "Rate": float64(seed % 300)}},
		})
	}
	return out
}

// BenchmarkFilterSortTop filters 100 000 documents, sorts the matches and takes the first 50.
func BenchmarkFilterSortTop(b *testing.B) {
	docs := benchmarkHotels(100_000)
	cases := []struct{ filter, orderby string }{
		{"Rating ge 3 and Category ne 'Budget'", "Price desc"},
		{"Rating ge 3 and Category ne 'Budget'", "Rating desc,HotelName"},
		{"Rooms/any(r: r/Type eq 'Budget' and r/Rate lt 100)", "Renovated desc,HotelId"},
		{"geo.distance(Location, geography'POINT(10 10)') lt 5000", "geo.distance(Location, geography'POINT(10 10)')"},
	}
	for _, c := range cases {
		b.Run(c.filter+"/"+c.orderby, func(b *testing.B) {
			filter, err := CompileFilter(c.filter, hotel)
			if err != nil {
				b.Fatal(err)
			}
			order, err := CompileOrder(c.orderby, hotel)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				top := NewTop(order, 50)
				for id, doc := range docs {
					if filter.Match(doc, uint32(id), nil) {
						top.Add(Row{ID: uint32(id), Score: 1, Document: doc})
					}
				}
				if len(top.Rows()) != 50 {
					b.Fatal(len(top.Rows()))
				}
			}
		})
	}
}

func BenchmarkCompileFilter(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := CompileFilter("Rating ge 3 and Category ne 'Budget' or Rooms/any(r: r/Type eq 'Budget' and r/Rate lt 100)", hotel); err != nil {
			b.Fatal(err)
		}
	}
}
