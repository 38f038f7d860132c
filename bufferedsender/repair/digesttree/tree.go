package digesttree

import (
	"strings"
	"sync"
	"time"
)

// Tree is what one index was confirmed to have. It may be used by many goroutines at once. Confirmed, Deleted and
// Stats wait for no disk.
type Tree struct {
	options Options
	shape   shape
	writer  *writer
	closing chan struct{} // closed by Close

	mu     sync.Mutex
	closed bool
	// What was told since the base. Chunks do not change but for their headers, which are the writer's; so views
	// share them.
	open    []byte    // the chunk that grows, with room for its header; nil: there is none
	chunks  []chunk   // those that do not
	written int       // of chunks, so many are durable in the logs
	pending int64     // bytes of all of them
	since   time.Time // the oldest that is not durable was told then, or later
	refold  bool      // what was found is to be folded as soon as possible
	base    *base
	built   []int64 // by segment, in seconds since 1970; 0: unknown; 1: due
	rebuild *rebuilding
	looks   []*Look

	after     place       // the last key that Compare has reported
	fruitless map[int]int // by segment, how often in a row

	stats Stats // its counters
}

// chunk is a frame of records.
type chunk struct {
	data []byte // with its header
	end  int64  // changes up to its end
}

// dueSince is when a segment was built that is compared, and to be built as soon as possible.
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
	if t.closed {
		return
	}
	t.stats.Told++
	if !valid(key) {
		t.stats.Refused++
		return
	}
	if t.rebuild != nil {
		t.rebuild.told(t.shape.segment(hashOf(key)), key)
	}
	for _, l := range t.looks {
		l.told(key)
	}
	if t.pending+int64(len(key)) > t.options.MaxPending {
		t.stats.Dropped++
		t.forget(t.shape.segment(hashOf(key)))
		return
	}
	if deleted {
		t.append(appendDeleted(t.room(), key))
	} else {
		t.append(appendSet(t.room(), key, version))
	}
}

// room returns the chunk that grows. The caller has the lock, and passes it to append with a record more.
func (t *Tree) room() []byte {
	if t.open == nil {
		size := 512
		if n := len(t.chunks); n > 0 { // one that was full is followed by others
			size = max(size, min(2*len(t.chunks[n-1].data), header+maxPayload))
		}
		t.open = make([]byte, header, size)
	}
	return t.open
}

func (t *Tree) append(b []byte) {
	t.pending += int64(len(b) - len(t.open))
	t.open = b
	if t.writer.Changes == t.writer.Durable {
		t.since = time.Now()
		t.writer.Wake()
	}
	t.writer.Changes++
	if len(b) >= header+fullChunk {
		t.seal()
		t.writer.Wake()
	}
}

// seal begins a new chunk. The caller has the lock.
func (t *Tree) seal() {
	if t.open != nil {
		t.chunks = append(t.chunks, chunk{t.open, t.writer.Changes})
		t.open = nil
	}
}

// forget makes a segment unknown. The caller has the lock. It needs no room if the segment is that already, so there
// is a bound to what it adds.
func (t *Tree) forget(segment int) {
	if t.rebuild != nil {
		t.rebuild.due[segment] = false
	}
	delete(t.fruitless, segment)
	if t.built[segment] != 0 {
		t.built[segment] = 0
		t.append(appendBuilt(t.room(), uint32(segment), 0)) //nolint:gosec // less than 2^20
	}
}

// isDue reports whether a segment is to be built. The caller has the lock.
func (t *Tree) isDue(segment int, now time.Time) bool {
	built := t.built[segment]
	age := now.Sub(time.Unix(built, 0)).Abs() // by a clock that was wrong it may be built in the future
	return built <= dueSince || t.options.ExpireAfter > 0 && age > t.options.ExpireAfter
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
	s.Keys, s.FileBytes = t.base.keys, t.base.size
	s.PendingBytes = t.pending
	s.Unsynced, s.Failures, s.Err = t.writer.State()
	return s
}

// rebuilding is a Rebuild under way. The mutex of the tree guards it.
type rebuilding struct {
	due   []bool              // by segment: it is to be built
	keys  map[string]struct{} // of those, what was told since the beginning
	ended chan struct{}       // closed at the end
}

func (r *rebuilding) told(segment int, key string) {
	if r.due[segment] {
		if _, ok := r.keys[key]; !ok {
			r.keys[strings.Clone(key)] = struct{}{} // it may be a part of a document
		}
	}
}
