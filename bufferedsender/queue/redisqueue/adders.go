package redisqueue

import (
	"sync"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// adders is what this object knows of those whose last call it has brought itself, with its answer: for the next
// call of such an adder not all shards need be asked, which for one document would be most of the work.
//
// What another object may have brought meanwhile is this very call, because an adder repeats a call before it makes
// its next one: then a shard says so, and all are asked after all, whether there were later ones.
type adders struct {
	mu    sync.Mutex
	known map[queue.ID]lastCall
}

type lastCall struct {
	number      uint64
	generations []int64 // by shard, of this call and those before it
}

// mostAdders is how many adders are remembered: an object has one, or a few.
const mostAdders = 256

// take returns what is known of the call before number. While that one has no answer nothing is known.
func (a *adders) take(adder queue.ID, number uint64) (generations []int64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, ok := a.known[adder]
	delete(a.known, adder)
	if !ok || last.number+1 != number {
		return nil, false
	}
	return last.generations, true
}

func (a *adders) answered(adder queue.ID, number uint64, generations []int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil || len(a.known) >= mostAdders {
		a.known = map[queue.ID]lastCall{}
	}
	a.known[adder] = lastCall{number, generations}
}
