package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

func confirming(models.RawAction) models.Outcome { return models.Outcome{} }

func TestARelayThatSettlesNothingGivesItsRangesToOneThatWorks(t *testing.T) {
	testkit.Long(t)
	denied := func(models.RawAction) models.Outcome { return failing(models.ReasonUnreachable) } // a 403, for example
	loader := LoadRaw(func(context.Context, []string) ([]models.RawAction, error) { return nil, nil })
	for name, of := range map[string]struct {
		loader Loader
		answer func(models.RawAction) models.Outcome
	}{
		"without a Loader": {Loader{}, confirming}, "refused by its service": {loader, denied},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, db database) {
				table, to, log := &Table{Dialect: SQLite, Queue: "q"}, newScripted(), new(lockedBuffer)
				to.answer = of.answer
				o := calm(RelayOptions{Loader: of.loader})
				o.Poll = time.Second
				o.Logger = logTo(log)
				ill := tryRelay(t, db, table, to, o)
				well := tryRelay(t, db, table, newScripted(), calm(RelayOptions{Loader: loader}))
				passes(30 * time.Second)
				require.EqualValues(t, ranges/2, ill.Stats().Ranges)
				write := func() {
					var keys []string
					for i := range 130 {
						keys = append(keys, fmt.Sprint("k", i))
					}
					db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, keys...) })
				}
				empty := func(within time.Duration) {
					passes(within)
					lag, err := table.Lag(t.Context(), db)
					require.NoError(t, err)
					require.Zero(t, lag.Rows)
				}
				write()
				empty(90 * time.Second)
				require.LessOrEqual(t, ill.Stats().Ranges, int64(1))
				require.GreaterOrEqual(t, well.Stats().Ranges, int64(ranges-1))
				for range 4 { // every probe fails, and delays its rows by one probe only
					write()
					empty(45 * time.Second)
				}
				require.Equal(t, 1, strings.Count(log.String(), "ranges given away"))
				require.NotContains(t, log.String(), "ranges taken again")
				if name == "without a Loader" {
					return
				}
				to.set(func() { to.answer = confirming })
				for range 40 {
					write()
					passes(3 * time.Second)
				}
				require.EqualValues(t, ranges/2, ill.Stats().Ranges, "the failed relay works again")
				require.Equal(t, 1, strings.Count(log.String(), "ranges taken again"))
				require.Equal(t, 1, strings.Count(log.String(), "ranges given away"))
				empty(time.Minute)
			})
		})
	}
}

func TestARelayThatSettlesNothingKeepsItsRangesWhileNoOtherShares(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table := &Table{Dialect: SQLite, Queue: "q"}
		r := tryRelay(t, db, table, newScripted(), calm(RelayOptions{}))
		db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, "k") })
		passes(time.Minute)
		require.EqualValues(t, ranges, r.Stats().Ranges)
		other := tryRelay(t, db, table, newScripted(), calm(RelayOptions{}))
		passes(5 * time.Minute)
		require.GreaterOrEqual(t, r.Stats().Ranges+other.Stats().Ranges, int64(ranges-1), "neither relay works")
		require.NoError(t, other.end())
		passes(time.Minute)
		require.EqualValues(t, ranges, r.Stats().Ranges, "the relay is alone again")
	})
}

func TestAPlaceChangesAsRowsAreSettledAndProbesFail(t *testing.T) {
	began := time.Now()
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	var s stuck
	move := func(seconds, held int, failed int64, alone bool) place {
		s.move(at(seconds), alone, 30*time.Second, held, failed)
		return s.place
	}
	s.hand(true, time.Time{}, at(0))
	require.Equal(t, sharing, move(29, 32, 9, false))
	s.hand(false, time.Time{}, at(29))
	require.Equal(t, sharing, move(30, 32, 9, false), "the relay has nothing to do")
	s.hand(true, time.Time{}, at(30))
	s.hand(true, at(40), at(41))
	require.Equal(t, sharing, move(69, 32, 9, false), "a row was settled")
	require.Equal(t, sharing, move(70, 32, 9, true), "no other relay shares the ranges")
	require.Equal(t, aside, move(70, 32, 9, false))
	s.hand(true, at(40), at(70))
	require.Equal(t, aside, move(79, 0, 9, false))
	require.Equal(t, probing, move(80, 0, 9, false))
	require.Equal(t, probing, move(500, 0, 9, false), "the relay waits for a range")
	require.Equal(t, probing, move(501, 1, 9, false))
	require.Equal(t, aside, move(502, 1, 10, false), "the probe has failed")
	require.Equal(t, aside, move(521, 0, 10, false), "the relay pauses for twice as long")
	require.Equal(t, probing, move(522, 0, 10, false))
	require.Equal(t, probing, move(522, 1, 10, false))
	require.Equal(t, aside, move(532, 1, 10, false), "the relay had no row to try")
	s.hand(true, at(533), at(534))
	require.Equal(t, sharing, move(534, 0, 10, false), "a request in flight has succeeded")
	require.True(t, s.works)
}

// The count of renewals shows that the SQLite file went back.
func TestARelayThatStepsAsideKeepsItsCountOfRenewals(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		relay, err := NewRelay(db.DB, &Table{Dialect: db.dialect, Queue: "q"}, newScripted(), short(RelayOptions{}))
		require.NoError(t, err)
		leases := newLeasing(relay)
		defer leases.close()
		last := int64(0)
		tick := func(at place) tally {
			got, err := leases.tick(t.Context(), db.DB, at, 0)
			require.NoError(t, err)
			require.Equal(t, last+1, got.renewals)
			last++
			return got
		}
		require.Len(t, tick(sharing).acquired, ranges)
		tick(aside)
		got := tick(aside)
		require.Equal(t, 1, got.members, "a relay that has stepped aside counts as a member only for itself")
		tick(probing)
		require.Equal(t, 1, tick(probing).probing)
		tick(sharing)
		got = tick(sharing)
		require.Zero(t, got.probing)
		require.Equal(t, 1, got.members)
		require.NoError(t, leases.leave(t.Context(), db.DB))
		last = 0
		tick(aside)
	})
}

// A relay whose pool is used up, or closed, renews its leases by the connection that it has.
func TestARelayThatCannotReadGivesItsRangesAway(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newPostgres(t))
	pool := openPool(t, r.db.dialect, r.db.url)
	ill, err := NewRelay(pool, r.table, r.sender(t).Raw(), short(RelayOptions{}))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- ill.Run(ctx) }()
	well := r.run(t, RelayOptions{})
	testkit.Eventually(t, func() bool { return ill.Stats().Ranges == ranges/2 && well.Stats().Ranges == ranges/2 })
	require.NoError(t, pool.Close())
	for i := range 100 {
		r.db.inTx(t, func(tx *sql.Tx) error {
			key := fmt.Sprint("k", i)
			return errors.Join(r.put(t.Context(), tx, key, 1), Write(t.Context(), tx, r.table, models.UploadAction(entity{key, 1, 0})))
		})
	}
	r.empty(t)
	r.same(t)
	require.Error(t, ill.Ready())
	cancel()
	require.NoError(t, <-ended)
}
