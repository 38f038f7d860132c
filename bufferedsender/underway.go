package bufferedsender

import (
	"sync"
	"time"
)

// underWay knows whether requests hang: some are under way, and none has ended for long. The network of this process
// may lose what it sends, while others that share its queue work. Calls of the queue and the Loader are watched alike.
type underWay struct {
	mu    sync.Mutex
	n     int
	since time.Time // one has ended, or the first has begun
}

// begin notes a request, and returns what notes its end.
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

// hang reports whether requests are under way and none has ended for so long, and since when.
func (u *underWay) hang(long time.Duration) (since time.Time, hangs bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.since, u.n > 0 && time.Since(u.since) > long
}
