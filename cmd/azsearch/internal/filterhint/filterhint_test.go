package filterhint

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func TestHintSaysWhatToWriteInstead(t *testing.T) {
	var fields []models.SearchField
	require.NoError(t, json.Unmarshal([]byte(`[{"name":"id","type":"Edm.String"},{"name":"country","type":"Edm.String"},{"name":"stars","type":"Edm.Int32"},
		{"name":"closed","type":"Edm.DateTimeOffset"},{"name":"open","type":"Edm.Boolean"},{"name":"tags","type":"Collection(Edm.String)"},
		{"name":"code","type":"Edm.String","searchable":false},{"name":"labels","type":"Collection(Edm.String)","searchable":false},
		{"name":"secret","type":"Edm.String","filterable":false},{"name":"address","type":"Edm.ComplexType","fields":[{"name":"city","type":"Edm.String"}]},
		{"name":"rooms","type":"Collection(Edm.ComplexType)","fields":[{"name":"beds","type":"Edm.Int32"}]}]`), &fields))
	for filter, hint := range map[string]string{
		"country eq XX":                               `text stands in single quotes, and the shell removes those around a word: -filter "country eq 'XX'"`,
		"stars gt 3 and country eq XX or 1":           `text stands in single quotes, and the shell removes those around a word: -filter "stars gt 3 and country eq 'XX' or 1"`,
		`country eq "XX"`:                             `text stands in straight single quotes: -filter "country eq 'IT'"`,
		"country eq ‘XX’":                             `text stands in straight single quotes: -filter "country eq 'IT'"`,
		"country eq 'O'Brien'":                        "each value has a quote at both ends, and a quote inside it is doubled, as in 'O''Brien'",
		"country = 'a = b'":                           "write eq instead of =",
		"country == 'XX'":                             "write eq instead of ==",
		"country != 'XX'":                             "write ne instead of !=",
		"stars > 3":                                   "write gt instead of >",
		"stars <= 3":                                  "write le instead of <=",
		"stars eq 3 && open eq true":                  "write and instead of &&",
		"stars eq 3 AND open eq true":                 "write and instead of AND",
		"country is null":                             "write eq null instead of is null",
		"stars IN (4,5)":                              "write stars eq 4 or stars eq 5 instead of IN (",
		"stars in ('4', '5')":                         "write stars eq 4 or stars eq 5 instead of in (",
		"not open and stars in (1,2,3,4)":             "write (stars eq 1 or stars eq 2 or stars eq 3 or …) instead of in (",
		"stars NOT IN (4,5)":                          "write stars ne 4 and stars ne 5 instead of NOT IN (",
		"country in ('a','b')":                        "write search.in(FIELD, 'a,b') instead of in (",
		"country not in ('a','b')":                    "write not search.in(FIELD, 'a,b') instead of not in (",
		"tags in ('a','b')":                           "write tags/any(x: search.in(x, 'a,b')) instead of in (",
		"tolower(country) in ('a','b')":               "write search.in(FIELD, 'a,b') instead of in (",
		"country like 'X%'":                           "write search.ismatch('TEXT*', 'country') instead of like: it finds words that begin with TEXT",
		"country NOT LIKE 'X%'":                       "write search.ismatch('TEXT*', 'country') instead of NOT LIKE: it finds words that begin with TEXT",
		"startswith(country, 'X')":                    "write search.ismatch('TEXT*', 'country') instead of startswith(: it finds words that begin with TEXT",
		"substringof('X', country)":                   "write search.ismatch('TEXT*', 'FIELD') instead of substringof(: it finds words that begin with TEXT",
		"contains(tags, 'X')":                         "write search.ismatch('TEXT*', 'tags') instead of contains(: it finds words that begin with TEXT",
		"address/city like 'X%'":                      "write search.ismatch('TEXT*', 'address/city') instead of like: it finds words that begin with TEXT",
		"stars like '4%'":                             "like is for text, and stars is Edm.Int32: compare it with eq, ne, gt, ge, lt or le",
		"open eq true and startswith(closed, '2024')": "startswith( is for text, and closed is Edm.DateTimeOffset: compare it with eq, ne, gt, ge, lt or le",
		"code like 'X%'":                              "write code ge 'TEXT' and code lt 'TEXU' instead of like: the field is not searchable, and this finds what begins with TEXT",
		"contains(labels, 'X')":                       "contains( needs a searchable field, and labels is not",
		"open eq True":                                "write true instead of True",
		"contry eq 'XX'":                              "the index has no field contry: did you mean country?",
		"Country eq 'XX'":                             "the index has no field Country: did you mean country?",
		"address.city eq 'x'":                         "the index has no field address.city: did you mean address/city?",
		"price gt 3":                                  "the index has no field price; it has: address, address/city, closed, code, country, id, labels, open, rooms, rooms/beds, stars, tags",
		"secret eq 'x'":                               "field secret is not filterable: azsearch apply says what a change of that needs",
		"stars eq '3'":                                "stars is Edm.Int32: its value has no quotes",
		"country eq 39":                               "country is text: '39'",
		"closed lt 2020-01-01":                        "closed is a time, without quotes and with a zone: 2024-01-31T00:00:00Z",
		"closed lt '2020-01-01T00:00:00Z'":            "closed is a time, without quotes and with a zone: 2024-01-31T00:00:00Z",
		"tags eq 'wifi'":                              `tags is a collection: -filter "tags/any(x: x eq 'VALUE')"`,
		"country eq 'a' and tags eq 'b'":              `tags is a collection: -filter "tags/any(x: x eq 'VALUE')"`,
		"tags/any(t: t eq 'a') and id eq 'b":          "each value has a quote at both ends, and a quote inside it is doubled, as in 'O''Brien'",

		// Nothing to say.
		"stars eq 3 and (country eq 'contry AND' or not open)":                   "",
		"tags/any(t: t eq 'a' or t eq 'b') and rooms/all(r: r/beds gt 2)":        "",
		"search.in(country, 'a,b', ',') and closed lt 2020-01-01T00:00:00+01:00": "",
		"country eq null and id ne 'O''Brien'":                                   "",
		"":                                                                       "",
		"))((":                                                                   "",
	} {
		assert.Equal(t, hint, Of(filter, fields), filter)
	}
}

// A query key may read no definition.
func TestHintWithoutFieldsIsOfSignsOnly(t *testing.T) {
	for filter, hint := range map[string]string{
		"stars eq 4": "", "stars eq": "", "country eq XX": "",
		"stars = 4":        "write eq instead of =",
		"stars in (4, 5)":  "write stars eq 4 or stars eq 5 instead of in (",
		"stars like '4%'":  "write search.ismatch('TEXT*', 'FIELD') instead of like: it finds words that begin with TEXT",
		"country in ('a')": "write search.in(FIELD, 'a,b') instead of in (",
	} {
		assert.Equal(t, hint, Of(filter, nil), filter)
	}
}
