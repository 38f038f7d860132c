package pool

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func TestSlotsAreSpacedOutInTheOrderOfClasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, slots(4, 4))
		p.SetLimit(0, time.Second)
		m := join(t, p, "m")
		first := m.takes(t, models.ClassExpedited)
		q := &queue{t: t}
		q.asks(m, models.ClassBestEffort, 1)
		q.asks(join(t, p, "other"), models.ClassExpedited, 1)
		first.Release(true)
		synctest.Wait()
		require.Empty(t, q.granted, "a second has not passed")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"other expedited"}, q.granted)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"other expedited", "m best effort"}, q.granted)
		time.Sleep(time.Minute)
		m.takes(t, models.ClassExpedited) // no wait after a time without requests
		q.asks(m, models.ClassExpedited, 1)
		synctest.Wait()
		require.Len(t, q.granted, 2, "and no credit for it")
	})
}

func TestASlotThatIsNotUsedDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, slots(4, 4))
		p.SetLimit(0, time.Hour)
		m := join(t, p, "m")
		first := m.takes(t, models.ClassExpedited)
		q := &queue{t: t}
		q.asks(m, models.ClassExpedited, 1)
		first.GiveBack()
		require.Len(t, q.granted, 1)
		q.asks(m, models.ClassExpedited, 1)
		time.Sleep(time.Minute)
		require.Len(t, q.granted, 1)
		p.SetLimit(0, time.Minute)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, q.granted, 2, "a shorter interval applies to those who wait")
	})
}
