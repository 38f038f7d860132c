package outbox

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// hanging is a pool whose calls hang while the process is stopped, whatever their contexts.
func hanging(t *testing.T, db database) (database, *process) {
	t.Helper()
	p := &process{}
	pool := p.database(db.Driver(), db.url)
	t.Cleanup(func() {
		p.goOn()
		synctest.Wait() // for abandoned calls, which write into the directory of the test
		require.NoError(t, pool.Close())
	})
	return database{pool, db.dialect, db.url}, p
}

func TestARelayEndsAlthoughTheDriverDoesNotReturn(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		stuck, p := hanging(t, db)
		log := new(lockedBuffer)
		o := calm(RelayOptions{})
		o.Logger = logTo(log)
		r := tryRelay(t, stuck, &Table{Dialect: SQLite, Queue: "q"}, newScripted(), o)
		passes(time.Minute)
		p.stop()
		passes(time.Second)
		began := time.Now()
		require.NoError(t, r.end())
		require.Less(t, time.Since(began), 20*time.Second)
		require.Contains(t, log.String(), "leases not given away")
		p.goOn()
	})
}

func TestARelayGoesOnAfterCallsThatDidNotReturn(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		stuck, p := hanging(t, db)
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		r := tryRelay(t, stuck, table, to, calm(RelayOptions{}))
		passes(time.Minute)
		for i := range 5 {
			p.stop()
			passes(35 * time.Second)
			require.ErrorContains(t, r.Ready(), "abandoned")
			p.goOn()
			uploads(t, db, table, gadget{ID: string(rune('a' + i))})
			passes(time.Minute)
			require.NoError(t, r.Ready())
			require.Len(t, to.all(), i+1)
		}
	})
}

func TestARelayStopsWhenCallsDoNotReturnAgainAndAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		stuck, p := hanging(t, db)
		relay, err := NewRelay(stuck.DB, &Table{Dialect: SQLite, Queue: "q"}, newScripted(), quick(calm(RelayOptions{})))
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() { ended <- relay.Run(t.Context()) }()
		passes(time.Minute)
		p.stop()
		passes(10 * time.Minute)
		err = <-ended
		require.ErrorContains(t, err, "8 calls are abandoned")
		require.Equal(t, 1, strings.Count(err.Error(), "abandoned"))
		p.goOn()
	})
}
