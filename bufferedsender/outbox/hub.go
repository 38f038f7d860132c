package outbox

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// hub has the polls and the renewals of the running relays of one process with the same *sql.DB and prefix, so that
// they cost the same for one queue and for many. It decides nothing: each relay has its own loop, sender and epochs, so
// a failing sender or a slow delete holds up no other queue. Two relays of one queue have two hubs.
type hub struct {
	key   hubKey
	owner string // of the leases of its relays
	looks shared[look]
	beats shared[beat]
	text  beating

	mu      sync.Mutex
	members map[string]time.Time // when the relay of each queue has last asked for a beat
	left    map[string]time.Time // queues of relays that have ended, until when to look for ranges of theirs
	lease   time.Duration        // the longest of its relays
	conn    *sql.Conn            // for beats, on PostgreSQL; nil while it is used, or until needed
}

// hubKey is the tables that a hub is about.
type hubKey struct {
	db      *sql.DB
	dialect Dialect
	prefix  string
}

// hubs are those of this process.
var hubs struct {
	sync.Mutex

	all map[hubKey][]*hub
}

// enter returns the hub of a relay that starts.
func enter(r *Relay) *hub {
	key := hubKey{r.db, r.table.Dialect, r.table.prefix()}
	hubs.Lock()
	defer hubs.Unlock()
	for _, h := range hubs.all[key] {
		if h.add(r) {
			return h
		}
	}
	host, _ := os.Hostname() // readable name; the number makes it unique
	id := unique()
	h := &hub{key: key, owner: fmt.Sprintf("process %d on %s %x", os.Getpid(), host, id), members: make(map[string]time.Time), left: make(map[string]time.Time)}
	h.text = newBeating(r.table, int64(sharing+1)<<placeBits+id)
	_ = h.add(r) // it has no other relay
	if hubs.all == nil {
		hubs.all = make(map[hubKey][]*hub)
	}
	hubs.all[key] = append(hubs.all[key], h)
	return h
}

// unique returns a random number of placeBits bits.
func unique() (n int64) {
	var random [placeBits / 8]byte
	_, _ = rand.Read(random[:]) // never fails
	for _, b := range random {
		n = n<<8 | int64(b)
	}
	return n
}

func (h *hub) add(r *Relay) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, is := h.members[r.table.Queue]; is {
		return false
	}
	h.members[r.table.Queue], h.lease = time.Now(), max(h.lease, r.opts.Lease)
	delete(h.left, r.table.Queue)
	return true
}

// leftFor is how long after the end of a relay its hub looks for ranges that a late call has taken.
const leftFor = time.Minute

// exit removes a relay that ends. It returns a connection to close if it was the last one.
func (h *hub) exit(queue string) (conn *sql.Conn) {
	hubs.Lock()
	defer hubs.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.members, queue)
	if h.left[queue] = time.Now().Add(leftFor); len(h.members) > 0 {
		return nil
	}
	if hubs.all[h.key] = slices.DeleteFunc(hubs.all[h.key], func(other *hub) bool { return other == h }); len(hubs.all[h.key]) == 0 {
		delete(hubs.all, h.key)
	}
	conn, h.conn = h.conn, nil
	return conn
}

// look returns a look with a number above after that began since then. A relay whose timer is due accepts one of the
// last half Poll, and counts the next from its start, so all relays meet. After a notification, or after rows were
// read, an earlier look must not serve: its number may be below theirs. A relay that leaves looks out loses nothing: a
// transaction that its last list lacks draws numbers above the number before that list.
func (h *hub) look(ctx context.Context, q *reading, after uint64, since time.Time) (look, error) {
	return h.looks.get(ctx, after, since, func(c *call[look]) error {
		return sqlkit.OnConn(c.ctx, h.key.db, func(conn *sql.Conn) (err error) {
			c.result, err = q.look(c.ctx, conn, c.last)
			c.result.began, c.result.n = c.began, c.n
			return err
		})
	})
}

// shared is a call of the database whose result serves several relays. One of those that need a newer result makes the
// call, the others wait for it. Calls are numbered: times may be equal.
type shared[T any] struct {
	mu      sync.Mutex
	n       uint64   // number of the last call that began
	last    *call[T] // the last one that succeeded; nil: none
	running *call[T] // nil: none
}

// call is one call. Only the goroutine that makes it writes to it, until done is closed.
type call[T any] struct {
	n      uint64
	began  time.Time
	ctx    context.Context //nolint:containedctx // of the relay that makes it
	last   T               // result of the call before
	result T
	err    error
	done   chan struct{}
}

// begun returns the number of the last call that has begun: a call with a higher number begins after now.
func (s *shared[T]) begun() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// get returns the result of a call with a number above after that began since then, or calls do. A failure concerns all
// relays that wait. If the relay that made the call ends, or abandons it, another one calls.
func (s *shared[T]) get(ctx context.Context, after uint64, since time.Time, do func(c *call[T]) error) (result T, err error) {
	serves := func(c *call[T]) bool { return c.n > after && !c.began.Before(since) }
	for {
		s.mu.Lock()
		if c := s.last; c != nil && serves(c) {
			s.mu.Unlock()
			return c.result, nil
		}
		c := s.running
		if c == nil || c.ctx.Err() != nil {
			s.n++
			c = &call[T]{n: s.n, began: time.Now(), ctx: ctx, done: make(chan struct{})}
			if s.last != nil {
				c.last = s.last.result
			}
			s.running = c
			s.mu.Unlock()
			c.err = do(c)
			s.ended(c)
			return c.result, c.err
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return result, ctx.Err()
		case <-c.ctx.Done():
		case <-c.done:
			if c.err != nil && c.ctx.Err() == nil && serves(c) {
				return result, c.err
			}
		}
	}
}

// ended records the result of a call. The result of one that another call has replaced is only that of its relay.
func (s *shared[T]) ended(c *call[T]) {
	s.mu.Lock()
	if s.running == c {
		if s.running = nil; c.err == nil {
			s.last = c
		}
	}
	s.mu.Unlock()
	close(c.done)
}
