package bufferedsender

import (
	"sync"

	"github.com/go-azsearch/azsearch/internal/publisher"
)

// applied is the highest version that was applied of each key of which there is a dead letter:
// sent again, that must not take the place of what has been written since. It has as many
// entries as there are such keys. nil is what a sender without Folding.Version has.
type applied struct {
	mu       sync.Mutex
	versions map[string]int64 // guarded by mu; 0 until something is applied
}

// failed notes the keys of dead letters, which have versions.
func (a *applied) failed(key string, version int64) {
	if a == nil || version == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.versions[key] = max(a.versions[key], 0)
}

// settled notes what was applied.
func (a *applied) settled(s *settlement) {
	if a == nil || s.Outcome != publisher.Completed || s.Superseded || s.Item.Value.version == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if newest, watched := a.versions[s.Item.Key]; watched {
		a.versions[s.Item.Key] = max(newest, s.Item.Value.version)
	}
}

func (a *applied) of(key string) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.versions[key]
}
