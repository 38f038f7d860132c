package bufferedsender

import (
	"sync"
	"time"
)

// underWay detects requests that hang: some are in flight, and none has ended for long. This process may have lost its
// network while other processes of the queue work. It also tracks calls of the queue and the Loader.
type underWay struct {
	mu    sync.Mutex
	n     int
	since time.Time // when the last one ended, or the first one began
}

// begin records the start of a request and returns the function that records its end.
func (u *underWay) begin() (end func()) {
	if u == nil {
		return func() {}
	}
	u.note(1)
	return func() { u.note(-1) }
}

func (u *underWay) note(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n == 0 || n < 0 {
		u.since = time.Now()
	}
	u.n += n
}

// hang reports whether requests are in flight and none has ended for longer than long, and since when.
func (u *underWay) hang(long time.Duration) (since time.Time, hangs bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.since, u.n > 0 && time.Since(u.since) > long
}
