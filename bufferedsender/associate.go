package bufferedsender

import (
	"fmt"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// associate pairs the results of a reply with the items of its batch, by key:
// the service answers in the order of the request but does not promise to.
// results[i] is nil if the reply says nothing about items[i], or contradicts
// itself. strange counts the results that belong to no item, or repeat one.
func associate[V any](items []publisher.Item[V], reply []models.IndexingResult) (results []*models.IndexingResult, strange int) {
	results = make([]*models.IndexingResult, len(items))
	inOrder := len(reply) == len(items)
	for i := 0; inOrder && i < len(items); i++ {
		inOrder = reply[i].Key == items[i].Key
		results[i] = &reply[i]
	}
	if inOrder {
		return results, 0 // keys are unique in a batch, so this is a pairing
	}
	clear(results)
	position := make(map[string]int, len(items))
	for i := range items {
		position[items[i].Key] = i
	}
	contradicted := make(map[int]bool)
	for i := range reply {
		at, ok := position[reply[i].Key]
		switch {
		case !ok:
			strange++
		case results[at] == nil:
			results[at] = &reply[i]
		default:
			strange++
			if !sameAnswer(results[at], &reply[i]) {
				contradicted[at] = true
			}
		}
	}
	for at := range contradicted {
		results[at] = nil
	}
	return results, strange
}

func sameAnswer(a, b *models.IndexingResult) bool {
	return a.Succeeded == b.Succeeded && a.StatusCode == b.StatusCode
}

// checkResult returns an error if a result contradicts itself: it can then not
// be told what became of the action.
func checkResult(r *models.IndexingResult) error {
	success := r.StatusCode >= 200 && r.StatusCode <= 299
	if r.Succeeded != success {
		return fmt.Errorf("%w that can be understood: status is %t but statusCode is %d", ErrNoResult, r.Succeeded, r.StatusCode)
	}
	return nil
}
