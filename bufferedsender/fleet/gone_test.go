package fleet

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// The service replies that the indexes do not exist, so the service itself is up.
func TestIndexesThatAreMissingDoNotHoldOneThatIsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.answers(sendertest.StatusError(404), "gone1", "gone2")
		f := newFleet(t, s, nil)
		well := senderOf(t, f, "well", nil)
		upload(t, senderOf(t, f, "gone1", nil), 1)
		upload(t, senderOf(t, f, "gone2", nil), 1)
		time.Sleep(5 * time.Minute)
		assert.Equal(t, breaker.Closed, f.Breaker().Status().State)
		began := time.Now()
		upload(t, well, 1)
		require.NoError(t, well.Flush(sendertest.Within(t, time.Hour), nil))
		assert.Less(t, time.Since(began), time.Second)
	})
}
