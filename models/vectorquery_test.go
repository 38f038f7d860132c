package models_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func TestVectorsAreListsOfNumbersOfTheirType(t *testing.T) {
	type half float32
	for want, v := range map[string]models.Vector{
		`[1,0.1,-2.5e-7,3.4028235e+38]`: models.VectorOf([]float32{1, 0.1, -2.5e-7, math.MaxFloat32}),
		`[0.1,1e-7]`:                    models.VectorOf([]float64{0.1, 1e-7}),
		`[0.1,2]`:                       models.VectorOf([]half{0.1, 2}),
		`[-128,0,127]`:                  models.VectorOf([]int8{-128, 0, 127}),
		`[-32768,32767]`:                models.VectorOf([]int16{-32768, 32767}),
		`[0,255]`:                       models.VectorOf([]uint8{0, 255}),
	} {
		got, err := v.AppendJSON([]byte("x"))
		require.NoError(t, err)
		assert.Equal(t, "x"+want, string(got))
		var back []float64
		require.NoError(t, json.Unmarshal(got[1:], &back))
		assert.Len(t, back, v.Len())
	}
}

func TestVectorThatIsNoneIsAnError(t *testing.T) {
	for text, v := range map[string]models.Vector{
		"the vector is empty": {},
		"empty":               models.VectorOf([]float32{}),
		"element 1 of the vector is NaN, which is not a finite number": models.VectorOf([]float32{0, float32(math.NaN())}),
		"element 0 of the vector is -Inf":                              models.VectorOf([]float64{math.Inf(-1)}),
	} {
		got, err := v.AppendJSON([]byte("x"))
		require.ErrorContains(t, err, text)
		assert.Equal(t, "x", string(got), "dst is returned as it was")
		_, err = json.Marshal(v)
		require.Error(t, err)
	}
}
