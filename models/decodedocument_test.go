package models_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

type depth float64

type tide struct {
	Height  float64  `json:"height"`
	Mean    *float64 `json:"mean"`
	Minutes int      `json:"minutes"`
}

type station struct {
	tide
	ID      string             `json:"id"`
	Depth   depth              `json:"depth"`
	Single  float32            `json:"single"`
	Tides   []tide             `json:"tides"`
	ByName  map[string]*tide   `json:"byName"`
	Plain   map[string]float64 `json:"plain"`
	Pair    [2]float64         `json:"pair"`
	Any     any                `json:"any"`
	Raw     json.RawMessage    `json:"raw"`
	Own     ownFloat           `json:"own"`
	Nothing *tide              `json:"nothing"`
}

// ownFloat implements json.Unmarshaler.
type ownFloat float64

func (o *ownFloat) UnmarshalJSON(b []byte) error {
	*o = ownFloat(len(b))
	return nil
}

func TestDecodeDocumentReadsInfinitiesIntoFloats(t *testing.T) {
	var s station
	require.NoError(t, models.DecodeDocument([]byte(`{"id":"INF","height":"-INF","mean":"INF","minutes":7,"DEPTH":"NaN","single":"INF",
		"tides":[{"height":1.5},{"height":"INF","mean":"NaN","minutes":2}],"byName":{"a<b":{"mean":"-INF","height":2}},"plain":{"x":"INF","y":3},
		"pair":[0.5,"-INF","INF"],"any":"INF","raw":"NaN","own":"INF","nothing":null,"unknown":"INF"}`), &s))
	assert.Equal(t, "INF", s.ID)
	assert.True(t, math.IsInf(s.Height, -1) && math.IsInf(*s.Mean, 1) && s.Minutes == 7)
	assert.True(t, math.IsNaN(float64(s.Depth)) && math.IsInf(float64(s.Single), 1))
	assert.True(t, s.Tides[0].Height == 1.5 && s.Tides[0].Mean == nil && math.IsInf(s.Tides[1].Height, 1) && math.IsNaN(*s.Tides[1].Mean) && s.Tides[1].Minutes == 2)
	assert.True(t, math.IsInf(*s.ByName["a<b"].Mean, -1) && s.ByName["a<b"].Height == 2)
	assert.Equal(t, map[string]float64{"x": math.Inf(1), "y": 3}, s.Plain)
	assert.Equal(t, [2]float64{0.5, math.Inf(-1)}, s.Pair)
	assert.Equal(t, "INF", s.Any)
	assert.Equal(t, `"NaN"`, string(s.Raw))
	assert.EqualValues(t, 5, s.Own)
	assert.Nil(t, s.Nothing)

	var one *tide
	require.NoError(t, models.DecodeDocument([]byte(`{"height":"INF"}`), &one))
	assert.True(t, math.IsInf(one.Height, 1))
	var wide map[string][]float64
	require.NoError(t, models.DecodeDocument([]byte(`{"a":[1,"NaN"],"b":null}`), &wide))
	assert.True(t, wide["a"][0] == 1 && math.IsNaN(wide["a"][1]))
}

func TestDecodeDocumentLeavesWhatDoesNotFitToItsError(t *testing.T) {
	for _, b := range []string{
		`{"height":"inf"}`, `{"height":"1.5"}`, `{"height":"INF","minutes":"INF"}`, `{"height":"INF","tides":"NaN"}`, `{"height":"INF",`, `[]`, `{"height":"INF","byName":[1]}`,
	} {
		s := station{ID: "before"}
		var plain station
		want := json.Unmarshal([]byte(b), &plain)
		require.Error(t, want)
		require.IsType(t, want, models.DecodeDocument([]byte(b), &s), b)
		assert.Equal(t, station{}, s)
	}
}

func ExampleDecodeDocument() {
	type Tide struct {
		Height float64 `json:"height"`
	}
	var t Tide
	err := models.DecodeDocument([]byte(`{"height":"-INF"}`), &t)
	fmt.Println(t.Height, err)
	// Output: -Inf <nil>
}
