package connect

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/sleep"
)

// queries limits concurrent queries: it begins with one, and allows more up to a maximum as long as the service is
// neither busy nor slower than before. So a command that reads an index leaves room for the users of the service, and
// its goroutines do not use up their attempts by making each other wait. It does not limit writes; the sender does.
type queries struct {
	most  int
	began time.Time

	mu      sync.Mutex // guards the fields below
	control tuning.Controller
	pace    tuning.Pace
	under   int           // queries in flight
	waiting int           // queries that wait for others to end
	next    time.Time     // start of the next query
	wake    chan struct{} // closed when a query ends
}

func newQueries(most int) *queries {
	q := &queries{most: most, began: time.Now(), wake: make(chan struct{})}
	q.control = tuning.Adaptive(nil).New(tuning.Bounds{Max: tuning.Pace{BatchActions: 1, BatchBytes: 1, InFlight: most, Interval: time.Second}})
	q.pace = q.control.Pace()
	return q
}

// Do implements policy.Policy. It is called for each attempt.
func (q *queries) Do(req *policy.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.Raw().URL.Path, "/docs/search.post.search") {
		return req.Next()
	}
	wait, err := q.begin(req.Raw().Context())
	if err != nil {
		return nil, err
	}
	if err := sleep.For(req.Raw().Context(), wait); err != nil {
		q.end(nil)
		return nil, err
	}
	o := tuning.Observation{Started: time.Since(q.began), Actions: 1, Bytes: 1}
	resp, err := req.Next()
	switch {
	case err != nil:
		o.Broken = true
	case resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests:
		o.Refused = true
	default:
		o.Broken, o.Done = resp.StatusCode >= http.StatusInternalServerError, 1
	}
	q.end(&o)
	return resp, err
}

// begin blocks until there is room for another query. It returns how long that one must wait before it starts.
func (q *queries) begin(ctx context.Context) (time.Duration, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.under >= q.pace.InFlight {
		wake := q.wake
		q.waiting++
		q.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
		}
		q.mu.Lock()
		q.waiting--
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	q.under++
	now := time.Now()
	start := q.next
	if start.Before(now) {
		start = now
	}
	q.next = start.Add(q.pace.Interval)
	return start.Sub(now), nil
}

// end counts the end of a query. o is nil if it was not sent.
func (q *queries) end(o *tuning.Observation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if o != nil {
		o.Now, o.InFlight, o.Backlog = time.Since(q.began), q.under, q.waiting
		if q.under == q.most {
			o.Backlog++ // the command would send more
		}
		q.pace = q.control.Observe(*o)
	}
	q.under--
	close(q.wake)
	q.wake = make(chan struct{})
}
