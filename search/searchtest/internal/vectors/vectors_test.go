package vectors

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// encode encodes a vector in its stored form.
func encode(element stored.Type, v []float32) []byte {
	var dst []byte
	for _, x := range v {
		switch element {
		case stored.Int16:
			dst = binary.LittleEndian.AppendUint16(dst, uint16(int16(x)))
		case stored.SByte:
			dst = append(dst, byte(int8(x)))
		case stored.Byte:
			dst = append(dst, byte(x))
		default:
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	}
	return dst
}

func newIndex(t testing.TB, element stored.Type, metric Metric, vectors ...[]float32) *Index {
	t.Helper()
	ix, err := NewIndex(element, len(vectors[0]), metric)
	require.NoError(t, err)
	for id, v := range vectors {
		require.NoError(t, ix.Put(uint32(id), encode(element, v)))
	}
	return ix
}

func search(t testing.TB, ix *Index, query []float32, k int) []Neighbor {
	t.Helper()
	found, err := ix.Search(query, k, nil)
	require.NoError(t, err)
	return found
}

func TestScoresAreThoseOfTheService(t *testing.T) {
	vectors := [][]float32{{1, 0}, {0, 2}, {-3, 0}, {1, 1}, {0, 0}}
	// Documented: 1/(1+d), from 0.333 to 1.
	ids, scores := idsAndScores(search(t, newIndex(t, stored.Single, Cosine, vectors...), []float32{5, 0}, 5))
	assert.Equal(t, []uint32{0, 3, 1, 4, 2}, ids)
	assert.InDeltaSlice(t, []float64{1, 1 / (2 - math.Sqrt2/2), 0.5, 0.5, 1. / 3}, scores, 1e-7)

	ids, scores = idsAndScores(search(t, newIndex(t, stored.Single, DotProduct, vectors...), []float32{1, 1}, 5))
	assert.Equal(t, []uint32{1, 3, 0, 4, 2}, ids)
	assert.InDeltaSlice(t, []float64{1.5, 1.5, 1, 0.5, 0.2}, scores, 1e-12)

	ids, scores = idsAndScores(search(t, newIndex(t, stored.Single, Euclidean, vectors...), []float32{1, 0}, 3))
	assert.Equal(t, []uint32{0, 3, 4}, ids)
	assert.InDeltaSlice(t, []float64{1, 0.5, 0.5}, scores, 1e-12)

	ids, scores = idsAndScores(search(t, newIndex(t, stored.Byte, Hamming, []float32{255, 0, 1}, []float32{0, 0, 0}, []float32{254, 0, 1}), []float32{255, 0, 1}, 2))
	assert.Equal(t, []uint32{0, 2}, ids)
	assert.Equal(t, []float64{1, 0.5}, scores)
}

func idsAndScores(found []Neighbor) (ids []uint32, scores []float64) {
	for _, n := range found {
		ids, scores = append(ids, n.ID), append(scores, n.Score)
	}
	return ids, scores
}

func TestBetterAlwaysScoresHigher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-1e3, 1e3).Draw(t, "a"), rapid.Float64Range(-1e3, 1e3).Draw(t, "b")
		if math.Abs(a-b) < 1e-6 {
			return
		}
		require.Equal(t, a > b, DotProduct.score(a) > DotProduct.score(b))
		require.Equal(t, math.Abs(a) < math.Abs(b), Euclidean.score(math.Abs(a)) > Euclidean.score(math.Abs(b)) || math.Abs(a) == math.Abs(b))
	})
}

// model keeps vectors in a map and computes in double precision.
type model map[uint32][]float32

func (m model) measure(metric Metric, q, v []float32) float64 {
	var dot, qq, vv, square float64
	different := 0
	for i := range q {
		a, b := float64(q[i]), float64(v[i])
		dot, qq, vv, square = dot+a*b, qq+a*a, vv+b*b, square+(a-b)*(a-b)
		different += bits.OnesCount8(uint8(q[i]) ^ uint8(v[i]))
	}
	switch metric {
	case Cosine:
		if dot == 0 {
			return 0
		}
		return dot / math.Sqrt(qq*vv)
	case DotProduct:
		return dot
	case Euclidean:
		return math.Sqrt(square)
	}
	return float64(different)
}

func TestSearchAgreesWithANaiveOneAfterAnyWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		element := rapid.SampledFrom([]stored.Type{stored.Single, stored.Half, stored.Int16, stored.SByte, stored.Byte}).Draw(t, "element")
		metric := Hamming
		number := rapid.Float32Range(-2, 2)
		switch element {
		case stored.Byte:
			number = rapid.Map(rapid.Uint8(), func(b uint8) float32 { return float32(b) })
		case stored.Int16:
			number = rapid.Map(rapid.Int16(), func(n int16) float32 { return float32(n) })
		case stored.SByte:
			number = rapid.Map(rapid.Int8(), func(n int8) float32 { return float32(n) })
		}
		if element != stored.Byte {
			metric = rapid.SampledFrom([]Metric{Cosine, DotProduct, Euclidean}).Draw(t, "metric")
		}
		dimensions := rapid.IntRange(1, 35).Draw(t, "dimensions")
		vector := rapid.SliceOfN(number, dimensions, dimensions)
		ix, err := NewIndex(element, dimensions, metric)
		require.NoError(t, err)
		m := model{}
		for range rapid.IntRange(0, 30).Draw(t, "writes") {
			id := uint32(rapid.IntRange(0, 9).Draw(t, "id"))
			if rapid.IntRange(0, 2).Draw(t, "write") == 0 {
				ix.Delete(id)
				delete(m, id)
				continue
			}
			m[id] = vector.Draw(t, "vector")
			require.NoError(t, ix.Put(id, encode(element, m[id])))
		}
		require.Equal(t, len(m), ix.Len())

		query := vector.Draw(t, "query")
		k := rapid.IntRange(0, 12).Draw(t, "k")
		var accept func(uint32) bool
		if rapid.Bool().Draw(t, "filtered") {
			accept = func(id uint32) bool { return id%3 != 0 }
		}
		var want []float64
		scale := 1.0
		for id, v := range m {
			if accept == nil || accept(id) {
				want = append(want, m.measure(metric, query, v))
			}
			if metric != Cosine {
				scale = max(scale, math.Sqrt(m.measure(DotProduct, v, v)*m.measure(DotProduct, query, query)))
			}
		}
		slices.SortFunc(want, func(a, b float64) int {
			if metric == Cosine || metric == DotProduct {
				return cmp.Compare(b, a)
			}
			return cmp.Compare(a, b)
		})
		want = want[:min(k, len(want))]
		got, err := ix.Search(query, k, accept)
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i, n := range got {
			// The index compares in single precision, so its choice may be slightly worse.
			require.InDelta(t, want[i], n.Measure, 1e-5*scale, "neighbor %d", i)
			require.InDelta(t, m.measure(metric, query, m[n.ID]), n.Measure, 1e-6*scale, "document %d", n.ID)
			require.True(t, accept == nil || accept(n.ID))
			require.Equal(t, metric.score(n.Measure), n.Score)
		}
	})
}

func TestTiesGoToTheSmallerID(t *testing.T) {
	same := []float32{1, 2}
	ix := newIndex(t, stored.Single, Euclidean, same, same, same, same)
	ix.Delete(0)
	require.NoError(t, ix.Put(7, encode(stored.Single, same)))
	ids, _ := idsAndScores(search(t, ix, same, 3))
	assert.Equal(t, []uint32{1, 2, 3}, ids)
}

func TestVectorsOfAnotherLengthAreRefused(t *testing.T) {
	ix := newIndex(t, stored.Single, Cosine, []float32{1, 2})
	require.Error(t, ix.Put(1, encode(stored.Single, []float32{1})))
	_, err := ix.Search([]float32{1, 2, 3}, 1, nil)
	require.Error(t, err)
	_, err = newIndex(t, stored.Byte, Hamming, []float32{1}).Search([]float32{1.5}, 1, nil)
	require.Error(t, err)
	_, err = newIndex(t, stored.Byte, Hamming, []float32{1}).Search([]float32{-1}, 1, nil)
	require.Error(t, err)
	for _, metric := range []Metric{Cosine, DotProduct, Euclidean} {
		_, err = NewIndex(stored.Byte, 8, metric)
		require.Error(t, err)
	}
	_, err = NewIndex(stored.Single, 8, Hamming)
	require.Error(t, err)
	_, err = NewIndex(stored.String, 8, Cosine)
	require.Error(t, err)
	_, err = NewIndex(stored.Single, 0, Cosine)
	require.Error(t, err)
}

func TestMetricsAreSpelledAsInDefinitions(t *testing.T) {
	for name, want := range map[string]Metric{"cosine": Cosine, "dotProduct": DotProduct, "euclidean": Euclidean, "hamming": Hamming} {
		m, ok := ParseMetric(name)
		assert.True(t, ok, name)
		assert.Equal(t, want, m, name)
	}
	_, ok := ParseMetric("Cosine")
	assert.False(t, ok)
}

// The scores are those of the documentation's quickstart: the text query ranks hotels 4 and 13 first, the vector
// query 48, 49, 4 and 13.
func TestFusionGivesTheScoresThatTheDocumentationShows(t *testing.T) {
	first := Fuse(Ranking{[]uint32{1}, 1}, Ranking{[]uint32{1}, 1})
	assert.Equal(t, float32(0.03333333507180214), float32(first[0].Score))

	hotel := Fuse(Ranking{[]uint32{4, 13}, 1}, Ranking{[]uint32{48, 49, 4, 13}, 1})
	require.Equal(t, uint32(4), hotel[0].ID)
	assert.Equal(t, float32(0.03279569745063782), float32(hotel[0].Score)) // 1/60 + 1/62

	assert.Equal(t, []Fused{{3, 2. / 60}, {1, 1. / 60}, {2, 1. / 60}, {9, 1. / 61}}, Fuse(Ranking{[]uint32{1, 9}, 1}, Ranking{[]uint32{2}, 1}, Ranking{[]uint32{3}, 2}))
	assert.Empty(t, Fuse())
}

// BenchmarkSearch finds the 10 nearest of 10 000 vectors.
func BenchmarkSearch(b *testing.B) {
	cases := []struct {
		element stored.Type
		metric  Metric
		name    string
	}{
		{stored.Single, Cosine, "cosine"}, {stored.Single, DotProduct, "dotProduct"}, {stored.Single, Euclidean, "euclidean"}, {stored.Byte, Hamming, "hamming"},
	}
	const count, dimensions = 10_000, 1536
	for _, c := range cases {
		n := dimensions
		if c.metric == Hamming {
			n /= 8
		}
		b.Run(fmt.Sprintf("%s/%dx%d", c.name, count, dimensions), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			vector := func() []float32 {
				v := make([]float32, n)
				for i := range v {
					v[i] = random.Float32()*2 - 1
					if c.metric == Hamming {
						v[i] = float32(random.IntN(256))
					}
				}
				return v
			}
			ix, err := NewIndex(c.element, n, c.metric)
			require.NoError(b, err)
			for id := range count {
				require.NoError(b, ix.Put(uint32(id), encode(c.element, vector())))
			}
			query := vector()
			b.ReportAllocs()
			for b.Loop() {
				if found, err := ix.Search(query, 10, nil); err != nil || len(found) != 10 {
					b.Fatal(err, len(found))
				}
			}
		})
	}
}

func BenchmarkPut(b *testing.B) {
	ix, err := NewIndex(stored.Single, 1536, Cosine)
	require.NoError(b, err)
	value := encode(stored.Single, make([]float32, 1536))
	b.ReportAllocs()
	for id := uint32(0); b.Loop(); id++ {
		if err := ix.Put(id%10_000, value); err != nil {
			b.Fatal(err)
		}
	}
}
