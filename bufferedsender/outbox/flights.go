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
	step    kind  // next kind of work for a planned flight
	seq     int64 // of the last row
	actions []models.RawAction
	left    int            // actions without an outcome
	worst   models.Outcome // worst outcome so far, and its verdict
	verdict relay.Verdict
	lease   *lease // under which it is sent
	made    int64  // bytes of actions other than bodies of rows
}

// flights are the planned flights that have not ended. The loop owns them.
type flights struct {
	next    [kindExport + 1][]*flight // by the next kind of work
	offered int                       // actions that the sender has
	made    int64                     // bytes of documents from the Loader and Export without an outcome
}

// planned returns at least the number of flights: the sender has actions, which may share a flight.
func (s *flights) planned() int {
	n := s.offered
	for _, flights := range s.next {
		n += len(flights)
	}
	return n
}

// sending reports whether outcomes will come.
func (s *flights) sending() bool { return s.offered+len(s.next[kindOffer]) > 0 }

// unsent returns how many actions wait to be offered.
func (s *flights) unsent() (n int) {
	for _, f := range s.next[kindOffer] {
		n += len(f.actions)
	}
	return n
}

// cut takes the first n flights that wait for a kind of work, without those that were dropped.
func (s *flights) cut(k kind, n int) []*flight {
	s.next[k] = slices.DeleteFunc(s.next[k], func(f *flight) bool {
		if f.entry == nil {
			s.release(f)
		}
		return f.entry == nil
	})
	return cut(&s.next[k], n)
}

// putBack puts flights in front of the others.
func (s *flights) putBack(k kind, flights []*flight) {
	s.next[k] = append(slices.Clone(flights), s.next[k]...)
}

// release frees the accounted documents made for a flight.
func (s *flights) release(f *flight) {
	s.made -= f.made
	f.made = 0
}

// cut takes the first n elements.
func cut[T any](from *[]T, n int) []T {
	n = min(n, len(*from))
	taken := slices.Clone((*from)[:n])
	*from = slices.Delete(*from, 0, n)
	return taken
}
