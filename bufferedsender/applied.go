package bufferedsender

import (
	"sync"

	"github.com/go-azsearch/azsearch/internal/publisher"
)

// applied holds the highest applied version of each key that has a dead letter. A dead letter that is sent again must
// not overwrite a newer version. It has one entry for each such key, and is nil without Folding.Version.
type applied struct {
	mu       sync.Mutex
	versions map[string]int64 // guarded by mu; 0 until something is applied
}

// failed registers the key of a dead letter that has a version.
func (a *applied) failed(key string, version int64) {
	if a == nil || version == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.versions[key] = max(a.versions[key], 0)
}

// settled records the version of an applied action.
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
