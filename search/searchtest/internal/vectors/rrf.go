package vectors

import (
	"cmp"
	"slices"
)

// rankConstant is the k of reciprocal rank fusion. The documentation has 1/(rank+k) with a k "like 60"; its example
// score of 0.0333 for a document that is first in two lists implies ranks from 0.
const rankConstant = 60

// Ranking is a ranked list of documents: of one vector query and field, or of the text query.
type Ranking struct {
	IDs    []uint32 // best first, without duplicates
	Weight float64  // of the vector query; 1 for text
}

// Fused is a document in the fused list.
type Fused struct {
	ID    uint32
	Score float64 // @search.score
}

// Fuse merges rankings by reciprocal rank fusion: a document scores weight/(60+rank) for each list that contains it,
// with ranks from 0. The result is ordered by descending score, then by id.
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
