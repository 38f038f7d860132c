package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

func TestARelayBehindADeadOneNamesItAndUntilWhenItWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, log := &Table{Dialect: SQLite, Queue: "q"}, new(lockedBuffer)
		dead, err := NewRelay(db.DB, table, newScripted(), &RelayOptions{Lease: 25 * time.Second})
		require.NoError(t, err)
		died := time.Now()
		_, err = newLeasing(dead).tick(t.Context(), db.DB, sharing, 0)
		require.NoError(t, err)
		uploads(t, db, table, gadget{ID: "a"})
		r := tryRelay(t, db, table, newScripted(), RelayOptions{Logger: logTo(log)})
		waits := func() int { return strings.Count(log.String(), "waiting for ranges of another relay") }
		passes(time.Second)
		require.ErrorContains(t, r.Ready(), dead.owner+" holds them until "+died.Add(25*time.Second).Format(time.RFC3339))
		require.Equal(t, 1, strings.Count(log.String(), "relay started"))
		require.Equal(t, 1, waits())
		require.Contains(t, log.String(), fmt.Sprintf("holder=%q until=", dead.owner))
		for n := range 2 {
			passes(10 * time.Second)
			require.Equal(t, 2+n, waits(), "the relay is never silent for more than ten seconds")
		}
		passes(10 * time.Second)
		require.NoError(t, r.Ready())
		emptied(t, db, table)
		require.Equal(t, 3, waits())
		require.Equal(t, 1, strings.Count(log.String(), "share of ranges changed\" queue=q ranges=64"))
		require.NoError(t, r.end())
		require.Equal(t, 1, strings.Count(log.String(), "relay ending"))
		require.Equal(t, 1, strings.Count(log.String(), "relay stopped"))
	})
}

func TestARelayOfAPausedQueueSaysThatRowsWait(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, log := &Table{Dialect: SQLite, Queue: "q"}, new(lockedBuffer)
		require.NoError(t, table.Pause(t.Context(), db))
		r := tryRelay(t, db, table, newScripted(), RelayOptions{Logger: logTo(log)})
		waits := func() int { return strings.Count(log.String(), "queue paused while rows wait") }
		passes(time.Minute)
		require.NoError(t, r.Ready(), "nothing waits")
		require.Zero(t, waits())
		require.Equal(t, 1, strings.Count(log.String(), `msg="outbox: queue paused" `))
		uploads(t, db, table, gadget{ID: "a"})
		passes(time.Second)
		require.ErrorIs(t, r.Ready(), errPaused)
		require.Equal(t, 1, waits())
		passes(10 * time.Second)
		require.Equal(t, 2, waits())
		require.NoError(t, table.Resume(t.Context(), db))
		emptied(t, db, table)
		require.NoError(t, r.Ready())
		require.Equal(t, 1, strings.Count(log.String(), `msg="outbox: queue resumed" `))
	})
}

func TestARelayWhoseRowsAreNotSettledSaysSo(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to, log := &Table{Dialect: SQLite, Queue: "q"}, newScripted(), new(lockedBuffer)
		to.holds = true
		tryRelay(t, db, table, to, RelayOptions{Logger: logTo(log)})
		says := func() int { return strings.Count(log.String(), "buffered rows, none settled") }
		passes(time.Minute)
		require.Zero(t, says(), "there are no rows")
		db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, "no-loader") })
		passes(time.Minute)
		require.Zero(t, says(), "the key is in back-off, which was logged")
		uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "b"})
		passes(9 * time.Second)
		require.Zero(t, says())
		for n := range 3 {
			passes(10 * time.Second)
			require.Equal(t, n+1, says())
		}
		require.Contains(t, log.String(), "rows=3 in_sender=2")
		to.release()
	})
}

// The default Lease: the keys of a relay that died have waited no longer than 13 s when they are sent.
func TestKeysOfADeadRelayAreSentAfterTwelveSeconds(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		to.info.RequestTimeout, to.info.UnknownWait = bufferedsender.DefaultRequestTimeout, bufferedsender.DefaultUnknownWait
		dead, err := NewRelay(db.DB, table, to, nil)
		require.NoError(t, err)
		_, err = newLeasing(dead).tick(t.Context(), db.DB, sharing, 0)
		require.NoError(t, err)
		uploads(t, db, table, gadget{ID: "a"})
		r, err := NewRelay(db.DB, table, to, &RelayOptions{Logger: quiet()})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		passes(11900 * time.Millisecond)
		require.Empty(t, to.keys())
		passes(1100 * time.Millisecond)
		require.Equal(t, []string{"a"}, to.keys())
		cancel()
		require.NoError(t, <-ended)
	})
}

func TestARelayThatTakesNoRangeAfterAServerChangeSaysUntilWhen(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	l.begun("", "a test", time.Now())
	l.ticked(nil)
	require.ErrorContains(t, l.r.Ready(), "no ranges until "+l.back.quiet.Format(time.RFC3339))
	require.Equal(t, earlier, l.waits.on)
	l.back.quiet = time.Now()
	l.ticked(map[int]int64{0: 2})
	require.NoError(t, l.r.Ready())
}
