package digesttree

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/journal"
)

// Tree is what one index was confirmed to have. It may be used by many goroutines at once. Confirmed, Deleted and
// Stats wait for no disk.
type Tree struct {
	options Options
	shape   shape
	loop    *journal.Loop // writes, and folds
	logs    logs          // of the goroutine that runs the loop
	life    context.Context
	end     context.CancelCauseFunc // of life: by Close

	mu       sync.Mutex
	told     journal.Frames // since the base; views share those that are sealed
	written  int            // of those, so many are durable in the logs
	since    time.Time      // the oldest that is not durable was told then, or later
	refold   bool           // what was found must be folded as soon as possible
	base     *base
	built    []int64 // by segment, in seconds since 1970; 0: unknown; 1: due
	rebuild  *rebuild
	watchers []*watcher

	most      int         // keys that a Compare finds
	after     string      // the last key that Compare has reported
	fruitless map[int]int // by segment, how often in a row

	stats Stats // its counters
}

// dueSince is when a segment was built that is compared, and must be built as soon as possible.
const dueSince = 1

// Confirmed says that the service has confirmed the document of a key in this version: it is in the index. What was
// said last of a key counts, so say it in the order in which the service has confirmed, as the handlers of a sender
// are called. The version is that which the source has in models.Row. It never waits for a disk.
//
// A key that is empty, longer than 1024 bytes or not UTF-8 cannot be in an index: it is counted in Stats.Refused.
// After Close nothing is done.
func (t *Tree) Confirmed(key string, version int64) { t.tell(key, version, false) }

// Deleted says that the service has confirmed that there is no document of the key. It is otherwise like Confirmed.
func (t *Tree) Deleted(key string) { t.tell(key, 0, true) }

func (t *Tree) tell(key string, version int64, deleted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.record(key, version, deleted)
}

// record is tell for a caller that has the lock.
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
			w.told[strings.Clone(key)] = true // it may be a part of a document
		}
	}
	if t.told.Size+int64(len(key)) > t.options.MaxPending {
		t.stats.Dropped++
		t.forget(t.shape.segment(hashOf(key)))
		return
	}
	t.put(appendKey(t.told.Room(&format), key, version, deleted))
}

// put takes what told.Room has returned with a record more. The caller has the lock.
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

// forget makes a segment unknown. The caller has the lock. It needs no room if the segment is that already, so there
// is a bound to what it adds.
func (t *Tree) forget(segment int) {
	if t.rebuild != nil {
		t.rebuild.dropped[segment] = true
	}
	if t.built[segment] != 0 {
		t.build(segment, 0)
	}
}

// build says of a segment when it was built. The caller has the lock.
func (t *Tree) build(segment int, at int64) {
	t.built[segment] = at
	t.put(appendBuilt(t.told.Room(&format), uint32(segment), at)) //nolint:gosec // less than 2^20
	delete(t.fruitless, segment)
}

// isDue reports whether a segment must be built. The caller has the lock.
func (t *Tree) isDue(segment int, now time.Time) bool {
	built := t.built[segment]
	age := now.Sub(time.Unix(built, 0)).Abs() // by a clock that was wrong it may be built in the future
	return built <= dueSince || t.options.expireAfter > 0 && age > t.options.expireAfter
}

// Stats returns a consistent snapshot.
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

// Sync waits until all that was told before is durable: it is there after a crash of the machine. If the disk fails,
// Sync has it tried at once, and returns the error; it is tried again later. ctx bounds the waiting. After Close it
// returns an error if something is not durable.
func (t *Tree) Sync(ctx context.Context) error { return t.loop.Sync(ctx, errClosed) }

// Close writes what is not written yet, ends a Rebuild that is under way, and gives the folder back. ctx bounds the
// waiting: if the disk does not come to an end, or the rows of the Rebuild, that goes on. After an error what was told
// last may be lost, and the next Open says that the end was unclean. Close may be called more than once.
func (t *Tree) Close(ctx context.Context) error {
	t.mu.Lock()
	t.end(errClosed)
	t.mu.Unlock()
	return t.loop.Close(ctx)
}
