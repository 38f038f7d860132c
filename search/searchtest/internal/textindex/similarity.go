package textindex

import "math"

// Similarity is how the matches of a term become a score. The service has two;
// both are computed as Lucene computed them when the recorded scores were made:
// in 32 bits, in its order, with the length of a text rounded to one byte. The
// conversions to float32 that seem to do nothing keep compilers from computing
// two operations at once, which rounds differently.
type Similarity interface {
	// idf is what a term is worth that is in df of n documents.
	idf(df, n int) float32
	// normTable says for each rounded length how much it takes from a match, in a
	// field whose average length is average.
	normTable(average float32) *[256]float32
	// score is that of a match with a weight, by how often it is there (a fraction
	// for a phrase that is not exact) and the entry of the length in the table.
	score(weight, f, norm float32) float32
	// classic says that scores are made comparable between queries and that
	// documents which match few of the clauses lose for it.
	classic() bool
}

// BM25 is the similarity of new indexes. The service's defaults are k1 1.2 and b
// 0.75.
func BM25(k1, b float64) Similarity {
	return bm25{float32(k1), float32(b)}
}

// Classic is TF-IDF, which indexes made before July 2020 have.
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
	// No document has length 0; 1/0 must not spread where one would.
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

// The byte of a length holds 1/sqrt(length) with 3 bits of mantissa and 5 of
// exponent, the smallest of which is 2^-15... so that texts of 3 and 4 words are
// equally long. Recorded scores show this rounding.
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
