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

// Embedder turns texts into vectors that are close if the texts are related. Implement it with a model: it should
// embed all texts in one request, and Passage.Vector must have its dimensions. Use one Embedder for passages and
// questions.
type Embedder interface {
	// Embed returns a vector for each text.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// dimensions is the length of the vectors. The tag of Passage.Vector has the same number.
const dimensions = 256

// hashing is an Embedder without a model, so it knows spelling only: "file" and "files" are close, "big" and "large"
// are not. Each word, and each substring of three to five characters, is hashed to a dimension and a sign, and adds
// its weight there (feature hashing, Weinberger et al. 2009).
type hashing struct{}

// Embed never returns an error.
func (hashing) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = hashText(text)
	}
	return vectors, nil
}

// hashText returns a vector of length 1. All texts without words have the same vector.
func hashText(text string) []float32 {
	counts := map[string]int{}
	for _, word := range words(text) {
		counts[word]++
		marked := "<" + word + ">" // so that prefixes and suffixes differ from inner substrings
		for n := 3; n <= 5; n++ {
			for at := 0; at+n <= len(marked); at++ {
				counts[" "+marked[at:at+n]]++ // a space separates substrings from words
			}
		}
	}
	sums := make([]float64, dimensions)
	for feature, count := range counts {
		weight := 1.0
		if feature[0] == ' ' {
			weight = 0.3 // a word of eight characters has about fifteen substrings
		}
		hash := fnv.New64a()
		hash.Write([]byte(feature))
		sum := hash.Sum64()
		if sum>>63 == 1 {
			weight = -weight
		}
		// Ten occurrences do not make a word ten times as important.
		sums[sum%dimensions] += weight * (1 + math.Log(float64(count)))
	}
	var square float64
	for _, x := range sums {
		square += x * x
	}
	if square == 0 {
		sums[0], square = 1, 1 // cosine similarity is undefined for a zero vector
	}
	vector := make([]float32, dimensions)
	for i, x := range sums {
		vector[i] = float32(x / math.Sqrt(square))
	}
	return vector
}

// frequent are stop words.
var frequent = strings.Fields("a an and are as at be but by can do does for from has have how i if in into is it its may my not of on or that the then there this to was what when which while will with you your")

var camel = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// words returns the words of a text in lower case. Names are split: ReadFile gives read and file.
func words(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(camel.ReplaceAllString(text, "$1 $2")), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(all, func(word string) bool { return slices.Contains(frequent, word) })
}
