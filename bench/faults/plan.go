package faults

import (
	"math/rand/v2"
	"strconv"

	"github.com/go-azsearch/azsearch/models"
)

// producers is the number of adding goroutines. Each has its own keys, so that the order of acceptance of each key is
// known.
const producers = 4

// action is one planned action. Its number, from 1, is its position in the plan.
type action struct {
	typ  models.ActionType
	key  int32
	sets fields
	size int32 // of the body, in bytes
}

// plan has all actions of a row in advance. It is the same for the same row, number of documents and seed.
type plan struct {
	text    *text
	actions []action
	first   [producers + 1]int // producer p adds actions[first[p]:first[p+1]]
	keys    int
	giants  []int32 // keys with one giant document each
}

// shape configures a plan.
type shape struct {
	documents int
	size      int     // of a body, in bytes
	hot       float64 // share of actions on one key
	giants    []int   // bodies of giant documents, in bytes
	once      bool    // each key has one upload, because a queue drops superseded changes
	unranked  int     // number of producers, from the first, whose documents have no rank
	seed      uint64
}

// text returns the text that contains all bodies.
func (s shape) text() *text {
	longest := s.size
	for _, giant := range s.giants {
		longest = max(longest, giant)
	}
	return newText(s.documents, longest)
}

func newPlan(s shape) *plan {
	p := &plan{text: s.text(), actions: make([]action, 0, s.documents+len(s.giants))}
	for i := range producers {
		p.first[i] = len(p.actions)
		p.addProducer(i, s)
	}
	p.first[producers] = len(p.actions)
	return p
}

// addProducer plans the actions of producer i. It merges only into documents that exist if all earlier actions
// completed, so a 404 always follows from an earlier failure.
func (p *plan) addProducer(i int, s shape) {
	r := rand.New(rand.NewPCG(s.seed, uint64(i)))
	n := s.documents/producers + btoi(i < s.documents%producers)
	firstKey, keys := p.keys, max(n/3, 1)
	if s.once {
		keys = n
	}
	p.keys += keys
	exists := make([]bool, keys)
	for k := range n {
		key := r.IntN(keys)
		if i == 0 && r.Float64() < s.hot*producers {
			key = 0
		}
		if s.once {
			key = k
		}
		a := action{key: int32(firstKey + key), sets: allFields, size: int32(s.size)}
		draw := r.IntN(10)
		switch {
		case s.once, !exists[key] && draw < 7, exists[key] && draw < 3:
			a.typ = models.ActionTypeUpload
		case !exists[key], draw < 5:
			a.typ = models.ActionTypeMergeOrUpload
			a.sets = someFields(r)
		case draw < 8:
			a.typ = models.ActionTypeMerge
			a.sets = someFields(r)
		default:
			a.typ, a.sets = models.ActionTypeDelete, 0
		}
		if i < s.unranked {
			a.sets &^= fieldRank
		}
		exists[key] = a.typ != models.ActionTypeDelete
		p.actions = append(p.actions, a)
		if i == 0 && k == n/2 {
			for _, size := range s.giants {
				p.actions = append(p.actions, action{typ: models.ActionTypeUpload, key: int32(p.keys), sets: allFields, size: int32(size)})
				p.giants = append(p.giants, int32(p.keys))
				p.keys++
			}
		}
	}
}

// someFields returns a random non-empty set.
func someFields(r *rand.Rand) fields { return fields(1 + r.IntN(int(allFields))) }

// action returns the action with a number, and whether it exists.
func (p *plan) action(rev int64) (action, bool) {
	if rev < 1 || rev > int64(len(p.actions)) {
		return action{}, false
	}
	return p.actions[rev-1], true
}

// key returns the key of a document number; keyNumber is the inverse.
func (p *plan) key(number int32) string { return "d" + strconv.Itoa(int(number)) }

func (p *plan) keyNumber(key string) (int32, bool) {
	if len(key) < 2 || key[0] != 'd' {
		return 0, false
	}
	n, err := strconv.Atoi(key[1:])
	return int32(n), err == nil && n >= 0 && n < p.keys && p.key(int32(n)) == key
}

// send returns the action with a number in the sender's type.
func (p *plan) send(rev int64) models.IndexDocumentsAction[document] {
	a := p.actions[rev-1]
	return models.IndexDocumentsAction[document]{Type: a.typ, Document: p.text.document(p.key(a.key), a, rev)}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
