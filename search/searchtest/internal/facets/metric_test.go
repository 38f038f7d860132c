package facets

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hotelMetrics is hotel in a version with metrics.
var hotelMetrics = &Options{Fields: hotel.Fields, Metrics: true}

func TestMetricsAreMadeOfAllValues(t *testing.T) {
	docs := []document{
		{"Rating": 5.0, "Visits": 10.0, "Price": 0.1, "Scores": []any{1.0, 2.0, 2.0}, "Category": "Luxury", "Tags": []any{"pool", "bar"}},
		{"Rating": 2.0, "Price": 0.2, "Scores": []any{}, "Category": "Budget", "Tags": []any{"bar"}, "Rooms": []any{document{"BaseRate": 2.5}, document{"BaseRate": 4.5}, document{}}},
		{"Rating": 2.0, "Visits": -4.0, "Price": 0.3, "LastRenovationDate": "2020-01-01T00:00:00Z", "SmokingAllowed": true},
	}
	for expression, want := range map[string]Figure{
		"Rating,metric:sum":                                {Sum, 9, true},
		"Rating,metric:avg":                                {Average, 3, true},
		"Rating , metric : min":                            {Minimum, 2, true},
		"Rating,metric:max":                                {Maximum, 5, true},
		"Rating,metric:cardinality":                        {Cardinality, 2, true},
		"Visits,metric:min":                                {Minimum, -4, true},
		"Visits,metric:avg":                                {Average, 3, true},
		"Visits,metric:avg,default:0":                      {Average, 2, true},
		"Visits,metric:max,default:99.5":                   {Maximum, 99.5, true},
		"Scores,metric:sum":                                {Sum, 5, true},
		"Scores,metric:sum,default:7":                      {Sum, 19, true},
		"Scores,metric:cardinality":                        {Cardinality, 2, true},
		"Price,metric:sum":                                 {Sum, 0.6000000000000001, true}, // added in order, in 64 bits
		"Rooms/BaseRate,metric:sum":                        {Sum, 7, true},
		"Rooms/BaseRate,metric:max,default:1":              {Maximum, 4.5, true},
		"Category,metric:cardinality":                      {Cardinality, 2, true},
		"Tags,metric:cardinality":                          {Cardinality, 2, true},
		"LastRenovationDate,metric:cardinality":            {Cardinality, 1, true},
		"SmokingAllowed,metric:cardinality":                {Cardinality, 1, true},
		"Address/City,metric:cardinality":                  {Cardinality, 0, true},
		"Tags,metric:cardinality,precisionThreshold:40000": {Cardinality, 2, true},
	} {
		f, err := Compile(expression, hotelMetrics)
		require.NoError(t, err, expression)
		require.True(t, f.IsMetric())
		c := f.NewCounter()
		for _, d := range docs {
			c.Add(encode(hotelFields, d))
		}
		buckets := c.Buckets()
		require.Len(t, buckets, 1)
		assert.Equal(t, Bucket{Figure: &want}, buckets[0], expression)
	}
	for metric, known := range map[Metric]bool{Sum: true, Average: false, Minimum: false, Maximum: false, Cardinality: true} {
		f, err := Compile("Price,metric:"+string(metric), hotelMetrics)
		require.NoError(t, err)
		assert.Equal(t, &Figure{metric, 0, known}, f.NewCounter().Buckets()[0].Figure, "zero for documents without any value")
	}
}

func TestMetricsThatCannotBeAreRefused(t *testing.T) {
	for expression, message := range map[string]string{
		"Rating,metric:median":                            "Invalid value 'median' of the parameter 'metric' in facet specification for field 'Rating' of type 'Edm.Int32'. It must be one of 'sum', 'avg', 'min', 'max' and 'cardinality'.",
		"Category,metric:sum":                             "The metric 'sum' is only supported for fields of numbers. Field 'Category' is of type 'Edm.String'.",
		"LastRenovationDate,metric:max":                   "The metric 'max' is only supported for fields of numbers. Field 'LastRenovationDate' is of type 'Edm.DateTimeOffset'.",
		"Rating,metric:sum,default:x":                     "Invalid value 'x' of the parameter 'default' in facet specification for field 'Rating' of type 'Edm.Int32'. It must be a number.",
		"Rating,metric:sum,default:Inf":                   "Invalid value 'Inf' of the parameter 'default' in facet specification for field 'Rating' of type 'Edm.Int32'. It must be a number.",
		"Rating,default:1":                                "The parameter 'default' can only be combined with the metrics 'sum', 'avg', 'min' and 'max'. Field: 'Rating'.",
		"Rating,metric:cardinality,default:1":             "The parameter 'default' can only be combined with the metrics 'sum', 'avg', 'min' and 'max'. Field: 'Rating'.",
		"Rating,metric:sum,precisionThreshold:5":          "The parameter 'precisionThreshold' can only be combined with the metric 'cardinality'. Field: 'Rating'.",
		"Rating,metric:cardinality,precisionThreshold:-1": "Invalid value '-1' of the parameter 'precisionThreshold' in facet specification for field 'Rating' of type 'Edm.Int32'. It must be a whole number from 0 to 40000.",
		"Rating,count:5,metric:sum":                       "The parameters 'metric' and 'count' cannot be combined in a facet specification. Field: 'Rating'.",
		"Rating,metric:sum,interval:5":                    "The parameters 'metric' and 'interval' cannot be combined in a facet specification. Field: 'Rating'.",
	} {
		_, err := Compile(expression, hotelMetrics)
		var refusal *Error
		require.ErrorAs(t, err, &refusal, expression)
		assert.Equal(t, Error{Message: message}, *refusal, expression)
	}
	assert.True(t, math.IsNaN(figureOf(t, "Price,metric:max", document{"Price": math.NaN()}, document{"Price": 1.0})), "NaN propagates as in arithmetic")
}

func figureOf(t *testing.T, expression string, docs ...document) float64 {
	f, err := Compile(expression, hotelMetrics)
	require.NoError(t, err)
	c := f.NewCounter()
	for _, d := range docs {
		c.Add(encode(hotelFields, d))
	}
	return c.Buckets()[0].Figure.Value
}
