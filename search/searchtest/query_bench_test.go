package searchtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkQueries measures searches of 100 000 documents through the in-process transport, from the bytes of the
// request to those of the reply. Caches are filled by a first search of each kind.
func BenchmarkQueries(b *testing.B) {
	const documents = 100_000
	s := NewServer(&Options{KeepChanges: -1, KeepRequests: -1, MaxBatchActions: -1, MaxBatchBytes: -1})
	defer s.Close()
	if err := s.CreateIndex(hotelsIndex); err != nil {
		b.Fatal(err)
	}
	send := func(b *testing.B, path, body string) {
		req, _ := http.NewRequest(http.MethodPost, s.URL()+"/indexes('hotels')/docs/"+path+"?api-version="+latest.String(), strings.NewReader(body))
		req.Header.Set("Api-Key", AdminKey)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json;odata.metadata=none")
		resp, err := s.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		reply, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			b.Fatal(err, resp.Status, string(reply[:min(len(reply), 300)]))
		}
	}
	for from := 0; from < documents; from += 10_000 {
		var batch strings.Builder
		for i := range 10_000 {
			if i > 0 {
				batch.WriteByte(',')
			}
			batch.WriteString(hotelDocument(from + i))
		}
		send(b, "search.index", `{"value":[`+batch.String()+`]}`)
	}
	for _, c := range []struct{ name, path, body string }{
		{"filter, sort, top 50", "search.post.search", `{"filter":"rating ge 3 and parking eq true","orderby":"rating desc, renovated","top":50}`},
		{"filter in collections, top 50", "search.post.search", `{"filter":"tags/any(t: t eq 'pool') and rooms/any(r: r/rate lt 100)","top":50}`},
		{"three facets", "search.post.search", `{"facets":["category","tags,count:20","rating,interval:1"],"top":0}`},
		{"two words", "search.post.search", `{"search":"quiet harbour","top":50}`},
		{"two words, filter, facet, highlights", "search.post.search", `{"search":"quiet harbour","filter":"rating ge 3","facets":["category"],"highlight":"description","top":50}`},
		{"a page of a walk by keys", "search.post.search", `{"filter":"id gt 'h05'","orderby":"id","top":50}`},
		{"suggest", "search.post.suggest", `{"search":"grand ho","suggesterName":"sg"}`},
		{"autocomplete", "search.post.autocomplete", `{"search":"grand ho","suggesterName":"sg"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			send(b, c.path, c.body) // fills the caches
			b.ReportAllocs()
			for b.Loop() {
				send(b, c.path, c.body)
			}
		})
	}
}

// hotelsIndex is an index like that of the service's samples.
const hotelsIndex = `{"name":"hotels","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"name","type":"Edm.String"},
	{"name":"description","type":"Edm.String","analyzer":"en.lucene","filterable":false,"sortable":false,"facetable":false},
	{"name":"category","type":"Edm.String"},
	{"name":"tags","type":"Collection(Edm.String)"},
	{"name":"parking","type":"Edm.Boolean"},
	{"name":"rating","type":"Edm.Double"},
	{"name":"renovated","type":"Edm.DateTimeOffset"},
	{"name":"rooms","type":"Collection(Edm.ComplexType)","fields":[
		{"name":"type","type":"Edm.String"},{"name":"rate","type":"Edm.Double"}]}],
	"suggesters":[{"name":"sg","searchMode":"analyzingInfixMatching","sourceFields":["name"]}]}`

// hotelDocument returns document n.
func hotelDocument(n int) string {
	pick := func(salt int, of ...string) string {
		return of[(uint32(n)*2654435761+uint32(salt)*40503)>>7%uint32(len(of))]
	}
	words := strings.Fields("quiet harbour view garden old town station museum market river bridge park family business spa breakfast terrace modern classic lively")
	var description strings.Builder
	for i := range 30 {
		description.WriteString(pick(i, words...))
		description.WriteByte(' ')
	}
	return fmt.Sprintf(`{"id":"%d","name":"%s %s Hotel %d","description":"%s","category":"%s","tags":["%s","%s"],"parking":%t,"rating":%d.5,`+
		`"renovated":"20%02d-0%d-01T00:00:00Z","rooms":[{"type":"single","rate":%d.25},{"type":"suite","rate":%d.75}]}`,
		n, pick(31, "Grand", "Little", "Royal", "Old"), pick(32, "Harbour", "Garden", "Station", "Park"), n, description.String(),
		pick(33, "Budget", "Boutique", "Luxury", "Resort"), pick(34, "pool", "wifi", "bar"), pick(35, "view", "gym", "quiet"), n%3 == 0, n%5,
		n%26, 1+n%9, 60+n%200, 150+n%400)
}
