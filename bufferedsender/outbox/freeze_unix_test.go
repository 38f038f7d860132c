//go:build unix

package outbox

import (
	"errors"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// A process that is frozen in the middle of a request for longer than its lease changes neither index nor table when
// it resumes.
func TestAProcessThatWasFrozenPastItsLeaseSendsNothing(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	r := newRig(t, newPostgres(t))
	c := r.child(t)
	var once sync.Once
	frozen := make(chan struct{})
	r.intercept(func(_ *http.Request, _ []entity, next func() (*http.Response, error)) (*http.Response, error) {
		reply, err := next()
		once.Do(func() { // its first request is applied; it is frozen before it reads the reply
			err = errors.Join(err, c.Process.Signal(syscall.SIGSTOP))
			close(frozen)
		})
		return reply, err
	})
	r.oneRow(t, 1)
	<-frozen
	other := r.run(t, RelayOptions{})
	for v := 2; v < 5; v++ {
		r.oneRow(t, v)
	}
	r.empty(t) // the other relay has taken over the ranges
	r.same(t)
	require.EqualValues(t, ranges, other.Stats().Ranges)
	require.NoError(t, c.Process.Signal(syscall.SIGCONT))
	// It reads the reply and loses its leases at the next renewal. Then it shares the ranges with the other relay.
	testkit.Eventually(t, func() bool { return other.Stats().Ranges == ranges/2 })
	for v := 5; v < 8; v++ {
		r.oneRow(t, v)
	}
	r.empty(t)
	r.same(t)
	require.Empty(t, r.goesBack())
	require.Zero(t, other.Stats().LeasesLost)
}
