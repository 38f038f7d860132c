package outbox

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// hub shares the polls of the running relays of one process that have the same *sql.DB and prefix, so that polls cost
// the same for one queue and for many. It decides nothing. Two relays of one queue have two hubs.
type hub struct {
	key     hubKey
	looks   shared[look]
	members []string // queues of the relays; guarded by hubs
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
		if !slices.Contains(h.members, r.table.Queue) {
			h.members = append(h.members, r.table.Queue)
			return h
		}
	}
	h := &hub{key: key, members: []string{r.table.Queue}}
	if hubs.all == nil {
		hubs.all = make(map[hubKey][]*hub)
	}
	hubs.all[key] = append(hubs.all[key], h)
	return h
}

// exit removes a relay that ends.
func (h *hub) exit(queue string) {
	hubs.Lock()
	defer hubs.Unlock()
	h.members = slices.DeleteFunc(h.members, func(q string) bool { return q == queue })
	if len(h.members) > 0 {
		return
	}
	if hubs.all[h.key] = slices.DeleteFunc(hubs.all[h.key], func(other *hub) bool { return other == h }); len(hubs.all[h.key]) == 0 {
		delete(hubs.all, h.key)
	}
}

// look returns a look with a number above after that began since then, and the number above which the next is newer.
func (h *hub) look(ctx context.Context, q *reading, after uint64, since time.Time) (l look, past uint64, err error) {
	c, err := h.looks.get(ctx, after, since, func(c *call[look]) error {
		return sqlkit.OnConn(c.ctx, h.key.db, func(conn *sql.Conn) (err error) {
			c.result, err = q.look(c.ctx, conn, c.last)
			c.result.began = c.began
			return err
		})
	})
	if err != nil {
		return look{}, 0, err
	}
	return c.result, c.past, nil
}

// joins is how old a running call may be for another relay to wait for its result. A relay that waits longer makes a
// call of its own, so that one connection that hangs does not stop all queues.
const joins = 2 * time.Second

// shared is a call of the database whose result serves several relays. One of those that need a newer result makes the
// call, the others wait for it. Calls are numbered: times may be equal.
type shared[T any] struct {
	mu        sync.Mutex
	n         uint64        // number of the last call that began
	last      *call[T]      // the newest one that succeeded; nil: none
	running   *call[T]      // the newest one that runs; nil: none
	succeeded chan struct{} // closed when last changes; nil: no relay waits for that
}

// call is one call. Only the goroutine that makes it writes to it, until done is closed.
type call[T any] struct {
	n      uint64
	past   uint64 // number of the last call that began before the end of this one: only later ones have newer results
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

// get returns a call with a number above after that began since then, or calls do. All relays that wait get the error
// of a call that fails; if the relay that made the call ends, or abandons it, another one calls.
func (s *shared[T]) get(ctx context.Context, after uint64, since time.Time, do func(c *call[T]) error) (*call[T], error) {
	serves := func(c *call[T]) bool { return c.n > after && !c.began.Before(since) }
	for {
		s.mu.Lock()
		if c := s.last; c != nil && serves(c) {
			s.mu.Unlock()
			return c, nil
		}
		c := s.running
		if c == nil || c.ctx.Err() != nil || time.Since(c.began) >= joins {
			s.n++
			c = &call[T]{n: s.n, began: time.Now(), ctx: ctx, done: make(chan struct{})}
			if s.last != nil {
				c.last = s.last.result
			}
			s.running = c
			s.mu.Unlock()
			c.err = do(c)
			s.ended(c)
			return c, c.err
		}
		if s.succeeded == nil {
			s.succeeded = make(chan struct{})
		}
		succeeded := s.succeeded
		s.mu.Unlock()
		late := time.NewTimer(joins - time.Since(c.began))
		select {
		case <-late.C:
		case <-succeeded: // the call, or one that it has replaced
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ctx.Done():
		case <-c.done:
			if c.err != nil && c.ctx.Err() == nil && serves(c) {
				return nil, c.err
			}
		}
		late.Stop()
	}
}

// ended records the result of a call. One that another call has replaced serves the relays that wait, too: if each call
// takes longer than joins, every one of them is replaced.
func (s *shared[T]) ended(c *call[T]) {
	s.mu.Lock()
	c.past = s.n
	if s.running == c {
		s.running = nil
	}
	if c.err == nil && (s.last == nil || s.last.n < c.n) {
		s.last = c
		if s.succeeded != nil {
			close(s.succeeded)
			s.succeeded = nil
		}
	}
	s.mu.Unlock()
	close(c.done)
}
