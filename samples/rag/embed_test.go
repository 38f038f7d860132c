package main

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func embed(t require.TestingT, text string) []float32 {
	vectors, err := hashing{}.Embed(context.Background(), []string{text})
	require.NoError(t, err)
	require.Len(t, vectors, 1)
	return vectors[0]
}

func TestVectorsHaveLengthOneAndAreTheSameEveryTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		v := embed(t, text)
		require.Len(t, v, dimensions)
		require.InDelta(t, 1, cosine(v, v), 1e-5)
		require.Equal(t, v, embed(t, text))
	})
	definition, err := indexDefinition("passages")
	require.NoError(t, err)
	for _, f := range definition.Fields {
		if f.Name == "vector" {
			require.Equal(t, dimensions, *f.Dimensions)
			return
		}
	}
	t.Fatal("the index has no vector")
}

const vectorOfReadFile = -25.563989

// Vectors must not change between versions: an index may contain old ones.
func TestVectorsDoNotChange(t *testing.T) {
	v := embed(t, "ReadFile")
	sum := 0.0
	for i, x := range v {
		sum += float64(i) * float64(x)
	}
	require.InDelta(t, vectorOfReadFile, sum, 1e-3)
}

func TestTextsAreNearAsFarAsTheyAreSpelledAlike(t *testing.T) {
	file := embed(t, "read the file")
	require.InDelta(t, 1, cosine(file, embed(t, "ReadFile")), 1e-5, "names are taken apart, and frequent words left out")
	require.Greater(t, cosine(file, embed(t, "reading files")), 0.2)
	require.Less(t, math.Abs(cosine(file, embed(t, "jump quickly"))), 0.3)
	require.Greater(t, cosine(file, embed(t, "read a directory")), cosine(file, embed(t, "jump over a directory")))
	require.Equal(t, embed(t, ""), embed(t, "the of and"))
}

func TestWordsOfNames(t *testing.T) {
	require.Equal(t, []string{"read", "file", "http", "utf8", "été"}, words("ReadFile: the HTTP, utf8 (Été)"))
}
