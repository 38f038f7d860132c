package connect

import (
	"net/http"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// queries limits concurrent queries once the service has replied that it is busy: a busy reply halves the limit, and
// each round of other replies raises it by one. Without it the goroutines of a command would only make each other
// wait longer between attempts. It does not limit writes; the sender does that itself.
type queries struct {
	mu    sync.Mutex // guards the fields below
	under int        // queries in flight
	most  float64    // limit of under; 0: none
	old   int        // queries in flight that started before most was halved; their busy replies do not halve it again
	wake  chan struct{}
}

// Do implements policy.Policy. It is called for each attempt.
func (q *queries) Do(req *policy.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.Raw().URL.Path, "/docs/search.post.search") {
		return req.Next()
	}
	for {
		wait := q.begin()
		if wait == nil {
			break
		}
		select {
		case <-wait:
		case <-req.Raw().Context().Done():
			return nil, req.Raw().Context().Err()
		}
	}
	resp, err := req.Next()
	q.end(err == nil && (resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests))
	return resp, err
}

// begin counts a new query and returns nil, or returns a channel that is closed when the caller should try again.
func (q *queries) begin() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.most > 0 && q.under >= int(q.most) {
		if q.wake == nil {
			q.wake = make(chan struct{})
		}
		return q.wake
	}
	q.under++
	return nil
}

func (q *queries) end(busy bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case busy && q.old == 0:
		q.most, q.old = max(1, float64(q.under/2)), q.under
	case !busy && q.most > 0:
		q.most += 1 / q.most
	}
	q.under--
	q.old = max(0, q.old-1)
	if q.wake != nil {
		close(q.wake)
		q.wake = nil
	}
}
