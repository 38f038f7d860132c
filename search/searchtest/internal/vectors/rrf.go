package vectors

import (
	"cmp"
	"slices"
)

// rankConstant is the k of reciprocal rank fusion. The documentation says
// 1/(rank+k) with a k "like 60"; the scores that it shows, 0.0333 for a document
// that is first in two lists, are those of a rank that begins at 0.
const rankConstant = 60

// Ranking is a ranked list of documents: one of a vector query and a field, or
// that of the text.
type Ranking struct {
	IDs    []uint32 // the best first, none of them twice
	Weight float64  // of the vector query; 1 for text
}

// Fused is a document of several rankings.
type Fused struct {
	ID    uint32
	Score float64 // @search.score
}

// Fuse merges rankings by reciprocal rank fusion: a document scores
// weight/(60+rank) in each list that it is in, ranks beginning at 0. The best
// come first, ties by id.
func Fuse(rankings ...Ranking) []Fused {
	scores := make(map[uint32]float64)
	for _, r := range rankings {
		for rank, id := range r.IDs {
			scores[id] += r.Weight / float64(rankConstant+rank)
		}
	}
	fused := make([]Fused, 0, len(scores))
	for id, score := range scores {
		fused = append(fused, Fused{id, score})
	}
	slices.SortFunc(fused, func(a, b Fused) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return fused
}
