package redisqueue

import (
	"sync"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// adders remembers the last call of each adder that this object has appended, with its answer. For the next call of
// such an adder not all shards need to be asked, which would be most of the work for one document.
//
// Another object may have appended this same call in the meantime, because an adder repeats a call before it makes its
// next one. Then a shard reports the repeat, and all shards are asked whether there were later calls.
type adders struct {
	mu    sync.Mutex
	known map[queue.ID]lastCall
}

type lastCall struct {
	number      uint64
	generations []int64 // by shard, of this call and those before it
}

// mostAdders is the maximum number of adders remembered: usually an object has one, or a few.
const mostAdders = 256

// take returns the entry for the call before number and removes it, so that nothing is known while the call is
// unanswered.
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
