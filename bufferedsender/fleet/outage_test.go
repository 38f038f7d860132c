package fleet

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The breakers of the indexes have ten minutes to wait when somebody says that the service works.
func TestAllGoOnSoonAfterTheBreakerOfTheServiceHasClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := []string{"a", "b", "c", "d"}
		s := newService(names...)
		s.answers(sendertest.StatusError(403), names...)
		f := newFleet(t, s, &Options{Breaker: &breaker.Options{OpenFor: 10 * time.Minute, MaxOpenFor: 10 * time.Minute, Jitter: -1}})
		for _, name := range names {
			upload(t, senderOf(t, f, name, nil), 5)
		}
		require.Error(t, f.Flush(sendertest.Within(t, time.Minute)))
		require.Equal(t, breaker.Open, f.Breaker().Status().State)
		s.answers(nil, names...)
		f.Breaker().Reset()
		began := time.Now()
		require.NoError(t, f.Flush(sendertest.Within(t, time.Hour)))
		assert.Less(t, time.Since(began), time.Second)
	})
}
