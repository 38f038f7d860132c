package models_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func buckets(t *testing.T, text string) []models.FacetResult {
	t.Helper()
	var list []models.FacetResult
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	return list
}

func TestFacetsHaveTheTypeOfTheirField(t *testing.T) {
	texts, err := models.ValueFacets[string](buckets(t, `[{"count":5,"value":"Budget"},{"count":1,"value":""}]`))
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[string]{{"Budget", 5}, {"", 1}}, texts)

	bools, err := models.ValueFacets[bool](buckets(t, `[{"count":4,"value":false},{"count":2,"value":true}]`))
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[bool]{{false, 4}, {true, 2}}, bools)

	ints, err := models.ValueFacets[int64](buckets(t, `[{"count":1,"value":9007199254740993},{"count":2,"value":5.0}]`))
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[int64]{{9007199254740993, 1}, {5, 2}}, ints)

	floats, err := models.ValueFacets[float64](buckets(t, `[{"count":1,"value":2.44},{"count":1,"value":"INF"}]`))
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[float64]{{2.44, 1}, {math.Inf(1), 1}}, floats)

	times, err := models.ValueFacets[time.Time](buckets(t, `[{"count":1,"value":"1970-01-01T00:00:00Z"}]`))
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[time.Time]{{time.Unix(0, 0).UTC(), 1}}, times)
}

// The ranges are recordings of the service. Their times have an offset that RFC 3339 does not allow.
func TestRangesAreOpenAtTheirEnds(t *testing.T) {
	ranges, err := models.RangeFacets[float64](buckets(t, `[{"count":1,"to":5.0},{"count":2,"from":5.0,"to":8.0},{"count":0,"from":8.0}]`))
	require.NoError(t, err)
	five, eight := 5., 8.
	assert.Equal(t, []models.RangeFacet[float64]{{nil, &five, 1}, {&five, &eight, 2}, {&eight, nil, 0}}, ranges)

	times, err := models.RangeFacets[time.Time](buckets(t, `[{"count":5,"to":"2000-01-01T00:00:00.000+0000"},{"count":2,"from":"2000-01-01T01:00:00.500+0100"}]`))
	require.NoError(t, err)
	assert.Equal(t, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), *times[0].To)
	assert.True(t, times[1].From.Equal(time.Date(2000, 1, 1, 0, 0, 0, 5e8, time.UTC)))
}

func TestFacetOfAnotherTypeIsAnError(t *testing.T) {
	valueOf := func(text string) []models.FacetResult { return buckets(t, `[{"count":1,"value":`+text+`}]`) }
	_, err := models.ValueFacets[int64](valueOf(`"five"`))
	require.EqualError(t, err, `bucket 0 of the facet: "five" is not an Edm.Int64`)
	_, err = models.ValueFacets[int64](valueOf(`5.5`))
	require.ErrorContains(t, err, "5.5 is not an Edm.Int64: 5.5 is not an integer")
	_, err = models.ValueFacets[float64](valueOf(`true`))
	require.ErrorContains(t, err, "true is not an Edm.Double")
	_, err = models.ValueFacets[float64](valueOf(`"x"`))
	require.ErrorContains(t, err, `"x" is not an Edm.Double`)
	_, err = models.ValueFacets[bool](valueOf(`"true"`))
	require.ErrorContains(t, err, `"true" is not an Edm.Boolean`)
	_, err = models.ValueFacets[string](valueOf(`1`))
	require.ErrorContains(t, err, "1 is not an Edm.String")
	_, err = models.ValueFacets[time.Time](valueOf(`"yesterday"`))
	require.ErrorContains(t, err, "it is not a time")
	_, err = models.ValueFacets[time.Time](valueOf(`1`))
	require.ErrorContains(t, err, "1 is not an Edm.DateTimeOffset")
	_, err = models.RangeFacets[float64](buckets(t, `[{"count":1,"to":1},{"count":1,"from":true}]`))
	require.ErrorContains(t, err, "bucket 1 of the facet: true is not an Edm.Double")

	_, err = models.RangeFacets[float64](valueOf(`1`))
	require.EqualError(t, err, "bucket 0 of the facet does not count a range")
	_, err = models.ValueFacets[float64](buckets(t, `[{"count":1,"to":1}]`))
	require.EqualError(t, err, "bucket 0 of the facet does not count a value")
	_, err = models.ValueFacets[float64](buckets(t, `[{"sum":1.5}]`))
	require.Error(t, err)
	_, err = models.ValueFacets[string](buckets(t, `[{"value":"x"}]`))
	require.Error(t, err, "a value without a count")
}

func TestFacetsOfPreviewsSurviveReadingAndWriting(t *testing.T) {
	const text = `[{"sum":1.5,"avg":2.5,"min":0,"max":9,"cardinality":3},{"count":1,"value":"a","@search.facets":{"b":[{"count":1,"value":9007199254740993}]},"new":[1]}]`
	list := buckets(t, text)
	assert.InDelta(t, 1.5, *list[0].Sum, 0)
	assert.Nil(t, list[0].Count)
	assert.Equal(t, "9007199254740993", list[1].Facets["b"][0].Value.String())
	got, err := json.Marshal(list)
	require.NoError(t, err)
	assert.JSONEq(t, text, string(got))
	assert.Contains(t, string(got), "9007199254740993")
}

func TestFacetValuesCanBeCompared(t *testing.T) {
	list := buckets(t, `[{"value":"5"},{"value":5},{"value":"5"},{"value":null},{}]`)
	assert.NotEqual(t, list[0].Value, list[1].Value)
	assert.True(t, list[0].Value == list[2].Value)
	assert.True(t, list[3].Value.IsZero())
	assert.Equal(t, list[3], list[4])
	got, err := json.Marshal(models.FacetValue{})
	require.NoError(t, err)
	assert.Equal(t, "null", string(got))
}
