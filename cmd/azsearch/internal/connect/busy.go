package connect

import (
	"net/http"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// queries bounds how many queries are under way, once the service has answered that it is busy: by half of those that
// were, and by one more with each round of other answers. Commands ask by many goroutines, and
// each would only wait longer between its attempts. What is written is not counted: the sender does the same for it.
type queries struct {
	mu    sync.Mutex // guards the following
	under int        // way
	most  float64    // at once; 0: any number
	old   int        // those under way that began before most was halved: their answers do not halve it again
	wake  chan struct{}
}

// Do implements policy.Policy, for each attempt.
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

// begin returns nil if a query may begin, and otherwise what is closed when the next one may.
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
