package digesttree

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/journal"
)

// Tree records what the service has confirmed of one index. It is safe for concurrent use. Confirmed, Deleted and Stats
// never wait for a disk.
type Tree struct {
	options Options
	shape   shape
	loop    *journal.Loop // writes and folds
	logs    logs          // of the loop's goroutine
	life    context.Context
	end     context.CancelCauseFunc // of life: by Close

	mu       sync.Mutex
	told     journal.Frames // changes since the base; views share the sealed frames
	written  int            // how many of those are durable in the logs
	since    time.Time      // lower bound for the time of the oldest change that is not durable
	refold   bool           // changes found by Open, or damage, must be folded soon
	base     *base
	built    []int64 // by segment, in seconds since 1970; 0: unknown; dueSince: due
	rebuild  *rebuild
	watchers []*watcher

	most      int         // how many keys a Compare returns at most
	after     string      // the last key that Compare has returned
	fruitless map[int]int // by segment, fruitless comparisons in a row

	stats Stats // counters only
}

// dueSince in built marks a segment that is compared but must be built again soon.
const dueSince = 1

// Confirmed records that the service has confirmed this version of a document: it is in the index. The last call of a
// key counts, so calls must come in the order of the confirmations, as handlers of a sender do. version is that of
// models.Row in the source. It never waits for a disk.
//
// A key that is empty, longer than 1024 bytes or not UTF-8 cannot be in an index; it is ignored and counted in
// Stats.Refused. After Close calls have no effect.
func (t *Tree) Confirmed(key string, version int64) { t.tell(key, version, false) }

// Deleted records that the service has confirmed that there is no document of the key. Otherwise it is like Confirmed.
func (t *Tree) Deleted(key string) { t.tell(key, 0, true) }

func (t *Tree) tell(key string, version int64, deleted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.record(key, version, deleted)
}

// record is `tell` for a caller that has the lock.
func (t *Tree) record(key string, version int64, deleted bool) {
	if t.life.Err() != nil {
		return
	}
	if !journal.IsKey(key) {
		t.stats.Refused++
		return
	}
	for _, w := range t.watchers {
		if w.wants(key) {
			w.told[strings.Clone(key)] = true // the key may be a part of a document
		}
	}
	if t.told.Size+int64(len(key)) > t.options.MaxPending {
		t.stats.Dropped++
		t.forget(t.shape.segment(hashOf(key)))
		return
	}
	t.put(appendKey(t.told.Room(&format), key, version, deleted))
}

// put stores the slice of `told.Room`, which now has one more record. The caller has the lock.
func (t *Tree) put(b []byte) {
	if t.loop.Changes == t.loop.Durable {
		t.since = time.Now()
		t.loop.Wake()
	}
	t.loop.Changes++
	if t.told.Put(&format, b) {
		t.loop.Wake()
	}
}

// `forget` makes a segment unknown. The caller has the lock. It adds no record for a segment that is unknown already,
// so repeated calls take no memory.
func (t *Tree) forget(segment int) {
	if t.rebuild != nil {
		t.rebuild.dropped[segment] = true
	}
	if t.built[segment] != 0 {
		t.build(segment, 0)
	}
}

// build sets the time at which a segment was built. The caller has the lock.
func (t *Tree) build(segment int, at int64) {
	t.built[segment] = at
	t.put(appendBuilt(t.told.Room(&format), uint32(segment), at)) //nolint:gosec // less than 2^20
	delete(t.fruitless, segment)
}

// isDue reports whether a segment must be built. The caller has the lock.
func (t *Tree) isDue(segment int, now time.Time) bool {
	built := t.built[segment]
	age := now.Sub(time.Unix(built, 0)).Abs() // a wrong clock may have set a time in the future
	return built <= dueSince || t.options.expireAfter > 0 && age > t.options.expireAfter
}

// Stats returns a consistent snapshot. It never waits for a disk.
func (t *Tree) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats
	now := time.Now()
	for i, built := range t.built {
		if built == 0 {
			s.Unknown++
		}
		if t.isDue(i, now) {
			s.Due++
		}
	}
	s.Segments = len(t.built)
	s.Keys, s.FileBytes, s.PendingBytes = t.base.keys, t.base.size, t.told.Size
	s.Unsynced, _, s.Err = t.loop.State()
	return s
}

// Sync waits until all changes recorded before are durable and survive a crash of the machine. If the disk has failed,
// Sync retries at once and returns the error; later retries follow. ctx bounds the wait. After Close it returns an
// error if changes are not durable.
func (t *Tree) Sync(ctx context.Context) error { return t.loop.Sync(ctx, errClosed) }

// Close writes all changes, ends a Rebuild under way, and unlocks the folder. ctx bounds the wait; if it ends first,
// because of the disk or the rows of the Rebuild, closing continues in the background. After an error the last changes
// may be lost, and the next Open reports Stats.Unclean. Close may be called again.
func (t *Tree) Close(ctx context.Context) error {
	t.mu.Lock()
	t.end(errClosed)
	t.mu.Unlock()
	return t.loop.Close(ctx)
}
