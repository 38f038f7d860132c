package facets

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkThreeFacets counts 100 000 documents by three facets.
func BenchmarkThreeFacets(b *testing.B) {
	categories := []string{"Luxury", "Budget", "Boutique", "Resort and Spa", "Suite"}
	docs := make([][]byte, 100_000)
	for i := range docs {
		seed := uint32(i) * 2654435761
		docs[i] = encode(hotelFields, document{
			"Category": categories[seed>>8%5], "Description": strings.Repeat("Best hotel in town. ", 6), "Rating": float64(seed>>16%5 + 1),
			"Tags": []any{"pool", "view", "wifi", categories[seed>>9%5]}, "Price": float64(seed % 1000), "SmokingAllowed": true, "LastRenovationDate": fmt.Sprintf("%d-01-01T00:00:00Z", 1970+seed>>4%50),
			"Rooms": []any{document{"BaseRate": float64(seed % 300)}, document{"BaseRate": float64(seed >> 3 % 300)}},
		})
	}
	for _, expressions := range [][]string{
		{"Category", "Rating", "Tags"},
		{"Category,sort:value", "Rooms/BaseRate,values:80|150|220", "LastRenovationDate,interval:year"},
	} {
		b.Run(strings.Join(expressions, "/"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, e := range expressions {
					f, err := Compile(e, hotel)
					if err != nil {
						b.Fatal(err)
					}
					c := f.NewCounter()
					for _, d := range docs {
						c.Add(d)
					}
					if len(c.Buckets()) == 0 {
						b.Fatal(e)
					}
				}
			}
		})
	}
}
