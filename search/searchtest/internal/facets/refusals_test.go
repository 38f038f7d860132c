package facets

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExpressionsAreRefused(t *testing.T) {
	rows := []struct {
		expression, message string
		unsupported         bool
	}{
		{"Nothing", "Unknown field 'Nothing' in facet specification.", false}, // reported by users of the service
		{"", "Unknown field '' in facet specification.", false},
		{"Address/Street", "Unknown field 'Address/Street' in facet specification.", false},
		{"Description", "Only facetable fields can be used in facet specifications. Field 'Description' is not marked as 'facetable'.", false},
		{"Rooms", "Only facetable fields can be used in facet specifications. Field 'Rooms' is not marked as 'facetable'.", false},
		{"Location", "Fields of type 'Edm.GeographyPoint' cannot be used in facet specifications. Field 'Location' is of that type.", false},
		{"Address/City > Category", "Hierarchical facets are not supported: found '>' in facet specification 'Address/City > Category'.", true},
		{"(Category,count:1)", "Hierarchical facets are not supported: found '(' in facet specification '(Category,count:1)'.", true},
		{"Rating, metric: sum", "The facet parameter 'metric' of preview versions is not supported.", true},
		{"Rating,metric:sum,default:2", "The facet parameter 'metric' of preview versions is not supported.", true},
		{"Category,includeTermFilter:/a/", "The facet parameter 'includeTermFilter' of preview versions is not supported.", true},
		{"Category,excludeTermFilter:/a/", "The facet parameter 'excludeTermFilter' of preview versions is not supported.", true},
		{"Category,top:5", "Unknown parameter 'top' in facet specification for field 'Category'.", false},
		{"Category,count", "Invalid parameter 'count' in facet specification 'Category,count'. Parameters must be of the form name:value.", false},
		{"Category,count:", "Invalid parameter 'count:' in facet specification 'Category,count:'. Parameters must be of the form name:value.", false},
		{"Category,count:1,count:2", "The parameter 'count' is given more than once in facet specification 'Category,count:1,count:2'.", false},
		{"Category,count:-1", "Invalid value '-1' of the parameter 'count' in facet specification for field 'Category' of type 'Edm.String'. It must be a number that is not negative.", false},
		{"Category,sort:up", "Invalid value 'up' of the parameter 'sort' in facet specification for field 'Category' of type 'Edm.String'. It must be one of 'count', '-count', 'value' and '-value'.", false},
		{"Category,values:a|b", "The facet parameter 'values' is only supported for fields of numbers and times. Field 'Category' is of type 'Edm.String'.", false},
		{"Tags,interval:5", "The facet parameter 'interval' is only supported for fields of numbers and times. Field 'Tags' is of type 'Collection(Edm.String)'.", false},
		{"Rating,values:1|x", "Invalid value '1|x' of the parameter 'values' in facet specification for field 'Rating' of type 'Edm.Int32'. It must be values of that type with '|' between them.", false},
		{"Rating,values:2|1", "Invalid value '2|1' of the parameter 'values' in facet specification for field 'Rating' of type 'Edm.Int32'. It must be in ascending order.", false},
		{"Price,values:1|1", "Invalid value '1|1' of the parameter 'values' in facet specification for field 'Price' of type 'Edm.Double'. It must be in ascending order.", false},
		{"Price,values:NaN", "Invalid value 'NaN' of the parameter 'values' in facet specification for field 'Price' of type 'Edm.Double'. It must be values of that type with '|' between them.", false},
		{"Rating,interval:0", "Invalid value '0' of the parameter 'interval' in facet specification for field 'Rating' of type 'Edm.Int32'. It must be a whole number greater than zero.", false},
		{"Rating,interval:year", "Invalid value 'year' of the parameter 'interval' in facet specification for field 'Rating' of type 'Edm.Int32'. It must be a whole number greater than zero.", false},
		{"LastRenovationDate,interval:decade", "Invalid value 'decade' of the parameter 'interval' in facet specification for field 'LastRenovationDate' of type 'Edm.DateTimeOffset'. It must be one of 'minute', 'hour', 'day', 'week', 'month', 'quarter' and 'year'.", false},
		{"Rating,interval:5,values:1", "The parameters 'interval' and 'values' cannot be combined in a facet specification. Field: 'Rating'.", false},
		{"Rating,interval:5,count:1", "The parameters 'count' and 'interval' cannot be combined in a facet specification. Field: 'Rating'.", false},
		{"Rating,sort:value,values:1", "The parameters 'sort' and 'values' cannot be combined in a facet specification. Field: 'Rating'.", false},
		{"LastRenovationDate,timeoffset:+01:00", "The parameter 'timeoffset' can only be combined with 'interval', and only for fields of type 'Edm.DateTimeOffset'. Field: 'LastRenovationDate'.", false},
		{"Rating,interval:5,timeoffset:+01:00", "The parameter 'timeoffset' can only be combined with 'interval', and only for fields of type 'Edm.DateTimeOffset'. Field: 'Rating'.", false},
	}
	for _, offset := range []string{"1", "01:00", "+1", "+1:00", "+15", "+01:60", "+01:000", "+-1", "+0:100", "++01"} {
		rows = append(rows, struct {
			expression, message string
			unsupported         bool
		}{"LastRenovationDate,interval:day,timeoffset:" + offset, "Invalid value '" + offset + "' of the parameter 'timeoffset' in facet specification for field 'LastRenovationDate' of type 'Edm.DateTimeOffset'. It must be of the form '+hh:mm', '+hhmm' or '+hh', or the same with '-'.", false})
	}
	for _, row := range rows {
		_, err := Compile(row.expression, hotel)
		var refusal *Error
		if assert.ErrorAs(t, err, &refusal, row.expression) {
			assert.Equal(t, row.message, refusal.Message, row.expression)
			assert.Equal(t, row.unsupported, refusal.Unsupported, row.expression)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"Category", "Tags,count:5,sort:-value", "Rating,values:1|2|3", "Price,interval:10", "Rooms/BaseRate,values:1.5|2e3",
		"LastRenovationDate,interval:week,timeoffset:-05:30", "LastRenovationDate,values:2020-01-01T00:00:00Z|2021-01-01T00:00Z", "A>B", "Rating,metric:sum,default:2", "Tags,metric:cardinality,precisionThreshold:5",
	} {
		f.Add(s)
	}
	docs := [][]byte{
		encode(hotelFields, document{"Category": "a", "Tags": []any{"x"}, "Rating": -3.0, "Price": 1e300, "LastRenovationDate": "0001-01-01T00:00:00Z", "Visits": -9e18}),
		encode(hotelFields, document{"Rooms": []any{document{"BaseRate": math.Copysign(0, -1)}}, "Price": math.Inf(-1), "LastRenovationDate": "9999-12-31T23:59:59Z"}),
	}
	f.Fuzz(func(t *testing.T, expression string) {
		facet, err := Compile(expression, hotelMetrics)
		if err != nil {
			var refusal *Error
			if !errors.As(err, &refusal) || refusal.Message == "" {
				t.Fatalf("%q: %v", expression, err)
			}
			return
		}
		c := facet.NewCounter()
		for _, d := range docs {
			c.Add(d)
		}
		var total int64
		for _, b := range c.Buckets() {
			total += b.Count
		}
		if total > int64(len(docs)) {
			t.Fatalf("%q: %d documents counted of %d", expression, total, len(docs))
		}
	})
}
