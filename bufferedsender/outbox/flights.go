package outbox

import (
	"slices"

	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

// flight is a group of rows of a key that become one action, or those of an export.
type flight struct {
	entry   *entry
	rows    []row
	step    kind  // what is next for it when it is planned
	seq     int64 // of the last row
	actions []models.RawAction
	left    int            // actions without an outcome
	worst   models.Outcome // so far, and what it means
	verdict relay.Verdict
	lease   *lease // under which it is sent
	made    int64  // bytes of actions that are not bodies of rows
}

// flights are those that are planned and have not ended. The loop owns them.
type flights struct {
	next    [kindExport + 1][]*flight // by what is next for them
	offered int                       // actions that the sender has
	made    int64                     // bytes of documents of the Loader and of Export that have no outcome
}

// planned is how many there are, at least: the sender has actions.
func (s *flights) planned() int {
	n := s.offered
	for _, flights := range s.next {
		n += len(flights)
	}
	return n
}

// sending reports whether outcomes are to come.
func (s *flights) sending() bool { return s.offered+len(s.next[kindOffer]) > 0 }

// unsent is how many actions wait for being offered.
func (s *flights) unsent() (n int) {
	for _, f := range s.next[kindOffer] {
		n += len(f.actions)
	}
	return n
}

// cut takes the first n that wait for a kind of work, but for those that were forgotten.
func (s *flights) cut(k kind, n int) []*flight {
	s.next[k] = slices.DeleteFunc(s.next[k], func(f *flight) bool {
		if f.entry == nil {
			s.release(f)
		}
		return f.entry == nil
	})
	return cut(&s.next[k], n)
}

// putBack has flights wait in front of the others.
func (s *flights) putBack(k kind, flights []*flight) {
	s.next[k] = append(slices.Clone(flights), s.next[k]...)
}

// release notes that documents which were made for a flight are not needed any more.
func (s *flights) release(f *flight) {
	s.made -= f.made
	f.made = 0
}

// cut takes the first n.
func cut[T any](from *[]T, n int) []T {
	n = min(n, len(*from))
	taken := slices.Clone((*from)[:n])
	*from = slices.Delete(*from, 0, n)
	return taken
}
