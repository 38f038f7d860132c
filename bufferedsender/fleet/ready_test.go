package fleet

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// The breaker of the service opens only if several senders are suspended, and most.
func TestAFleetIsNotReadyWhileAllThatIsSentFails(t *testing.T) {
	for _, status := range []int{401, 403, 503} {
		for _, c := range []struct{ used, of int }{{1, 1}, {1, 5}, {2, 5}} {
			t.Run(fmt.Sprintf("%d of %d, %d", c.used, c.of, status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					names := indexes(0, c.of)
					s := newService(names...)
					f := newFleet(t, s, nil)
					for _, name := range names {
						upload(t, senderOf(t, f, name, nil), 1)
					}
					require.NoError(t, f.Flush(t.Context()))
					require.NoError(t, f.Health().Ready())
					time.Sleep(time.Hour)
					s.answers(sendertest.StatusError(status), names...)
					used := names[:c.used]
					for _, name := range used {
						upload(t, senderOf(t, f, name, nil), 20)
					}
					time.Sleep(5 * time.Minute)
					for _, name := range used {
						require.Error(t, senderOf(t, f, name, nil).Health().Ready())
					}
					h := f.Health()
					require.ErrorContains(t, h.Ready(), `index "index-0"`)
					require.Error(t, h.Err())
					s.answers(nil, names...)
					require.NoError(t, f.Flush(sendertest.Within(t, time.Hour)))
					require.NoError(t, f.Health().Ready())
				})
			})
		}
	}
}

// An index that sends, or sent lately, shows that the service and the credentials work; one that is missing does too.
func TestAFleetIsReadyWhileOneOfItsIndexesIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService("sick", "well", "gone", "paused")
		f := newFleet(t, s, nil)
		s.answers(sendertest.StatusError(403), "sick")
		upload(t, senderOf(t, f, "sick", nil), 5)
		time.Sleep(5 * time.Minute)
		require.Error(t, f.Health().Ready())
		require.NoError(t, f.Pause("paused"))
		upload(t, senderOf(t, f, "paused", nil), 5)
		require.Error(t, f.Health().Ready(), "a paused index shows nothing")

		well := senderOf(t, f, "well", nil)
		upload(t, well, 1)
		require.NoError(t, well.Flush(t.Context(), nil))
		for range 5 {
			time.Sleep(11 * time.Second)
			assert.NoError(t, f.Health().Ready())
		}
		time.Sleep(2 * time.Minute)
		require.Error(t, f.Health().Ready(), "nothing was sent lately")

		s.answers(sendertest.StatusError(404), "gone")
		upload(t, senderOf(t, f, "gone", nil), 1)
		time.Sleep(5 * time.Minute)
		require.NoError(t, f.Health().Ready(), "404 is the answer of a service that works")
		require.NoError(t, f.Resume())
		f.Breaker().Disable()
		require.Error(t, f.Health().Ready())
		f.Breaker().Enable()
		s.answers(nil, "sick", "gone")
	})
}
