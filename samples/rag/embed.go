package main

import (
	"context"
	"hash/fnv"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Embedder turns texts into vectors that are the nearer the more the texts have to
// do with one another. This is where a model comes in: an implementation that calls
// one sends all texts in one request, and Passage.Vector has its dimensions. The
// same Embedder makes the vectors of passages and of questions.
type Embedder interface {
	// Embed returns a vector for each text.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// dimensions is the length of the vectors, the same as in the tag of
// Passage.Vector.
const dimensions = 256

// hashing is an Embedder that needs nothing, and not a language model: "file" and "files" are near, "big" and "large"
// are not. Each word and each piece of three to five characters adds 1 or -1, as its hash says, to the dimension that
// its hash says (feature hashing, Weinberger and others 2009).
type hashing struct{}

// Embed never fails.
func (hashing) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = hashText(text)
	}
	return vectors, nil
}

// hashText returns a vector of length 1, and for a text without words one that is
// as far from all others as from its opposite.
func hashText(text string) []float32 {
	counts := map[string]int{}
	for _, word := range words(text) {
		counts[word]++
		marked := "<" + word + ">" // so that beginnings and ends are pieces of their own
		for n := 3; n <= 5; n++ {
			for at := 0; at+n <= len(marked); at++ {
				counts[" "+marked[at:at+n]]++ // no word has a space
			}
		}
	}
	sums := make([]float64, dimensions)
	for feature, count := range counts {
		weight := 1.0
		if feature[0] == ' ' {
			weight = 0.3 // a word of eight letters has some fifteen pieces
		}
		hash := fnv.New64a()
		hash.Write([]byte(feature))
		sum := hash.Sum64()
		if sum>>63 == 1 {
			weight = -weight
		}
		// A word that comes ten times is not ten times as important.
		sums[sum%dimensions] += weight * (1 + math.Log(float64(count)))
	}
	var square float64
	for _, x := range sums {
		square += x * x
	}
	if square == 0 {
		sums[0], square = 1, 1 // cosine needs a direction
	}
	vector := make([]float32, dimensions)
	for i, x := range sums {
		vector[i] = float32(x / math.Sqrt(square))
	}
	return vector
}

// frequent are words that say nothing about a text.
var frequent = strings.Fields("a an and are as at be but by can do does for from has have how i if in into is it its may my not of on or that the then there this to was what when which while will with you your")

var camel = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// words returns the words of a text in lower case, names taken apart: ReadFile is
// read and file.
func words(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(camel.ReplaceAllString(text, "$1 $2")), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(all, func(word string) bool { return slices.Contains(frequent, word) })
}
