package textindex

import "math"

// Similarity computes scores from matches. The service has two; both reproduce the computation of Lucene at the time
// of the recorded scores: in 32 bits, in its order, with lengths rounded to one byte. Conversions to float32 that
// seem redundant prevent compilers from fusing two operations, which rounds differently.
type Similarity interface {
	// idf returns the weight of a term that occurs in df of n documents.
	idf(df, n int) float32
	// normTable returns the length factor for each rounded length, in a field with the given average length.
	normTable(average float32) *[256]float32
	// score returns the score of a match: f is the number of occurrences (fractional for sloppy phrases), norm the
	// entry of the length in the table.
	score(weight, f, norm float32) float32
	// classic reports whether scores are normalized to be comparable between queries, and reduced for documents that
	// match few clauses.
	classic() bool
}

// BM25 returns the similarity of new indexes. The service's defaults are k1 1.2 and b 0.75.
func BM25(k1, b float64) Similarity {
	return bm25{float32(k1), float32(b)}
}

// Classic returns TF-IDF, the similarity of indexes created before July 2020.
func Classic() Similarity { return tfIDF{} }

type bm25 struct{ k1, b float32 }

func (bm25) idf(df, n int) float32 {
	return float32(math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5)))
}

func (s bm25) normTable(average float32) *[256]float32 {
	var table [256]float32
	for i := range table {
		f := decodeNorm(byte(i))
		length := 1 / float32(f*f)
		table[i] = s.k1 * ((1 - s.b) + float32(s.b*length)/average)
	}
	// No document has length 0; this avoids 1/0 in the table.
	table[0] = s.k1
	return &table
}

func (s bm25) score(weight, f, norm float32) float32 {
	return float32(weight*(s.k1+1)) * f / (f + norm)
}

func (bm25) classic() bool { return false }

type tfIDF struct{}

func (tfIDF) idf(df, n int) float32 {
	return float32(math.Log(float64(n)/float64(df+1)) + 1)
}

func (tfIDF) normTable(float32) *[256]float32 {
	var table [256]float32
	for i := range table {
		table[i] = decodeNorm(byte(i))
	}
	return &table
}

func (tfIDF) score(weight, f, norm float32) float32 {
	return float32(float32(math.Sqrt(float64(f)))*weight) * norm
}

func (tfIDF) classic() bool { return true }

// The byte of a length encodes 1/sqrt(length) with 3 bits of mantissa and 5 of exponent, so that for example texts
// of 3 and 4 words have the same length. Recorded scores show this rounding.
const (
	normMantissa = 3
	normZero     = (63 - 15) << normMantissa
)

func encodeNorm(length uint32) byte {
	bits := int32(math.Float32bits(float32(1 / math.Sqrt(float64(length)))))
	small := bits >> (24 - normMantissa)
	if small <= normZero {
		return 1
	}
	return byte(min(small-normZero, 255))
}

func decodeNorm(b byte) float32 {
	if b == 0 {
		return 0
	}
	return math.Float32frombits(uint32(b)<<(24-normMantissa) + (63-15)<<24)
}
