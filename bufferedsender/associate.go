package bufferedsender

import (
	"fmt"

	"github.com/go-azsearch/azsearch/models"
)

// pairing maps the results of a reply to the items of its batch.
type pairing struct {
	reply   []models.IndexingResult
	byItem  []*models.IndexingResult // nil if the reply is in the order of the batch
	strange int                      // results that belong to no item, or repeat a result
}

// of returns the result of item i, or nil if the reply does not have exactly one.
func (p *pairing) of(i int) *models.IndexingResult {
	if p.byItem == nil {
		return &p.reply[i]
	}
	return p.byItem[i]
}

// associate pairs the results of a reply with the items of its batch by key: the service answers in request order, but
// does not guarantee it.
func associate(items []item, reply []models.IndexingResult) pairing {
	inOrder := len(reply) == len(items)
	for i := 0; inOrder && i < len(items); i++ {
		inOrder = reply[i].Key == items[i].Key
	}
	if inOrder {
		return pairing{reply: reply} // keys are unique in a batch, so order is enough
	}
	p := pairing{reply: reply, byItem: make([]*models.IndexingResult, len(items))}
	position := make(map[string]int, len(items))
	for i := range items {
		position[items[i].Key] = i
	}
	repeated := make(map[int]bool)
	for i := range reply {
		at, ok := position[reply[i].Key]
		switch {
		case !ok:
			p.strange++
		case p.byItem[at] == nil:
			p.byItem[at] = &reply[i]
		default:
			p.strange++
			repeated[at] = true
		}
	}
	for at := range repeated { // a reply that answers one action twice may be that to another request
		p.byItem[at] = nil
	}
	return p
}

// checkResult returns an error if a result contradicts itself. Then the action's outcome is unknown.
func checkResult(r *models.IndexingResult) error {
	success := r.StatusCode >= 200 && r.StatusCode <= 299
	switch {
	case r.Succeeded != success:
		return fmt.Errorf("%w that can be understood: status is %t but statusCode is %d", ErrNoResult, r.Succeeded, r.StatusCode)
	case success && r.ErrorMessage != "":
		return fmt.Errorf("%w that can be understood: status is true, but there is an error message", ErrNoResult)
	}
	return nil
}
