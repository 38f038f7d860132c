package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// end removes a relay that no loop runs.
func (h *hub) end(queue string) {
	if conn := h.exit(queue); conn != nil {
		closeConn(conn)
	}
}

// many starts a relay for each of n queues in one process, all with one sender, until its context ends.
func many(t *testing.T, db *sql.DB, n int, opts RelayOptions) (relays []*Relay, tables []*Table, to *scripted, stop func()) {
	t.Helper()
	to = newScripted()
	to.info.RequestTimeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, n)
	for i := range n {
		table := &Table{Dialect: SQLite, Queue: fmt.Sprint("q", i)}
		relay, err := NewRelay(db, table, to, &opts)
		require.NoError(t, err)
		relays, tables = append(relays, relay), append(tables, table)
		go func() { ended <- relay.Run(ctx) }()
	}
	return relays, tables, to, func() {
		cancel()
		for range n {
			require.NoError(t, <-ended)
		}
	}
}

// One poll each Poll and one renewal each three seconds, whatever the number of queues; each queue is read completely
// every two minutes.
func TestManyIdleRelaysAskTheDatabaseAsSeldomAsOne(t *testing.T) {
	testkit.Long(t)
	const queues, minutes = 40, 4
	for name, row := range map[string]struct {
		wake bool
		most int
	}{
		"with Wake":    {true, minutes * (4 + 2*20)},
		"without Wake": {false, minutes * (240 + 2*20)},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, db database) {
				notes, pool := statementsOf(t, db)
				opts := RelayOptions{Logger: quiet()}
				if row.wake {
					opts.Wake = make(chan struct{})
				}
				relays, tables, to, stop := many(t, pool.DB, queues, opts)
				defer stop()
				uploads(t, db, tables[7], gadget{ID: "a"})
				passes(2 * time.Minute)
				require.Equal(t, []string{"a"}, to.keys())
				for _, r := range relays {
					require.EqualValues(t, ranges, r.Stats().Ranges)
					require.NoError(t, r.Ready())
				}
				was, _ := notes.since(0)
				passes(minutes * time.Minute)
				n, setUp := notes.since(was)
				t.Logf("%d statements in %d minutes", n-setUp, minutes)
				require.LessOrEqual(t, n-setUp, row.most+queues*(minutes/2+1)+minutes)
			})
		})
	}
}

// earlier is a relay of the version that renews each range by itself, and knows nothing of rows of processes.
type earlier struct {
	db    *sql.DB
	owner string
	slot  int64
	text  func(string) string
}

// tick renews, joins and takes free ranges. It returns how many it has.
func (e *earlier) tick(t *testing.T) (held, members int) {
	t.Helper()
	const lease = 15_000
	of := `FROM {t}_lease m WHERE m.queue = ?1 AND m.expires > {now} AND m.slot `
	renew := func() {
		held, members = 0, 1
		require.NoError(t, sqlkit.Each(t.Context(), e.db, func(rows *sql.Rows) error {
			var slot int64
			err := rows.Scan(&slot, &members)
			if members++; slot < ranges {
				held++
			}
			return err
		}, e.text(`WITH mine AS MATERIALIZED (SELECT slot FROM {t}_lease WHERE queue = ?1 AND owner = ?2 AND expires > {now} ORDER BY slot {server: FOR UPDATE})
			UPDATE {t}_lease SET expires = {now} + ?3, epoch = epoch + CASE WHEN slot < 64 THEN 0 ELSE 1 END WHERE queue = ?1 AND slot IN (SELECT slot FROM mine) RETURNING slot,
			(SELECT count(*) `+of+`BETWEEN 64 AND 562949953421311 AND m.slot <> ?4)`), "q0", e.owner, lease, e.slot))
	}
	renew()
	_, err := e.db.ExecContext(t.Context(), e.text(`INSERT INTO {t}_lease (queue, slot, owner, epoch, expires) VALUES (?1, ?2, ?3, 0, {now} + ?4)
		ON CONFLICT (queue, slot) DO UPDATE SET owner = excluded.owner, expires = excluded.expires`), "q0", e.slot, e.owner, lease)
	require.NoError(t, err)
	if want := share(ranges, members, 0) - held; want > 0 {
		_, err := e.db.ExecContext(t.Context(), e.text(`WITH free AS MATERIALIZED (SELECT slot FROM {t}_lease WHERE queue = ?1 AND slot < 64 AND expires <= {now} ORDER BY slot LIMIT ?4 {server: FOR UPDATE SKIP LOCKED})
			UPDATE {t}_lease SET owner = ?2, epoch = epoch + 1, expires = {now} + ?3 WHERE queue = ?1 AND slot IN (SELECT slot FROM free)`), "q0", e.owner, lease, int64(want))
		require.NoError(t, err)
	}
	renew()
	return held, members
}

// A relay of the version before does not know the row of a process, and one of this version takes nothing that the
// other has.
func TestARelayOfAnEarlierVersionSharesTheRangesAndTakesNoneThatIsHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		p := &process{}
		own := p.database(db.Driver(), db.url)
		defer own.Close()
		relays, tables, _, stop := many(t, own, 1, RelayOptions{Logger: quiet()})
		defer stop()
		passes(20 * time.Second)
		require.EqualValues(t, ranges, relays[0].Stats().Ranges)
		e := &earlier{db.DB, "an earlier one", 1<<placeBits + 7, tables[0].text}
		passes(time.Hour) // the rows of ranges are stretched by then
		held, members := e.tick(t)
		require.Zero(t, held, "all are held")
		require.Equal(t, 2, members)
		for range 4 {
			passes(3 * time.Second)
			held, _ = e.tick(t)
		}
		require.Equal(t, ranges/2, held)
		require.EqualValues(t, ranges/2, relays[0].Stats().Ranges)

		p.kill()
		for range 20 {
			passes(3 * time.Second)
			held, _ = e.tick(t)
		}
		require.Equal(t, ranges/2, held, "for an earlier version its rows are valid")
		again, _, _, stopAgain := many(t, db.DB, 1, RelayOptions{Logger: quiet()})
		defer stopAgain()
		passes(5 * time.Second)
		held, members = e.tick(t)
		require.Equal(t, 2, members, "a dead relay counts no more")
		require.EqualValues(t, ranges/2, again[0].Stats().Ranges, "what the dead one had")
		require.Equal(t, ranges/2, held)
		passes(20 * time.Second)
		require.EqualValues(t, ranges, again[0].Stats().Ranges, "the earlier one has not renewed its ranges")
	})
}

// owned returns how many ranges of a queue an owner has.
func (db database) owned(t *testing.T, queue, owner string) (n int) {
	t.Helper()
	require.NoError(t, sqlkit.One(t.Context(), db, &n, (&Table{Dialect: db.dialect, data: dialects[db.dialect]}).text(
		`SELECT count(*) FROM {t}_lease WHERE queue = ?1 AND owner = ?2 AND slot < 64 AND expires > {now}`), queue, owner))
	return n
}

// Two processes with some queues in common: when one dies, the other takes its ranges of these after a lease, and those
// of another queue as soon as it has a relay for it.
func TestARelayTakesOverTheRangesOfAProcessThatHasDied(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		p := &process{}
		own := p.database(db.Driver(), db.url)
		defer own.Close()
		dying, tables, _, stop := many(t, own, 3, RelayOptions{Logger: quiet()})
		defer stop()
		passes(10 * time.Second)
		living, _, _, stopLiving := many(t, db.DB, 2, RelayOptions{Logger: quiet()})
		defer stopLiving()
		passes(time.Minute)
		for i, r := range dying {
			require.EqualValues(t, map[bool]int{true: ranges / 2, false: ranges}[i < 2], r.Stats().Ranges)
		}
		h := dying[0].hub(t)
		p.kill()
		passes(10 * time.Second)
		require.EqualValues(t, ranges/2, living[0].Stats().Ranges, "the leases of the dead process have not ended")
		passes(9 * time.Second)
		for _, r := range living {
			require.EqualValues(t, ranges, r.Stats().Ranges)
		}
		require.Equal(t, ranges, db.owned(t, "q2", h.owner), "nobody needs them")
		to := newScripted()
		relay := tryRelay(t, db, tables[2], to, RelayOptions{})
		passes(time.Second)
		require.EqualValues(t, ranges, relay.Stats().Ranges)
		require.Same(t, living[0].hub(t), relay.hub(t))
	})
}

// hub returns the hub of a relay that runs.
func (r *Relay) hub(t *testing.T) *hub {
	t.Helper()
	hubs.Lock()
	defer hubs.Unlock()
	for _, h := range hubs.all[hubKey{r.db, r.table.Dialect, r.table.prefix()}] {
		if _, is := h.members[r.table.Queue]; is {
			return h
		}
	}
	t.Fatal("the relay has no hub")
	return nil
}

func TestARelayWhoseSenderIsStuckHoldsUpNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		stuck := newScripted()
		stuck.room = make(chan struct{})
		a, b := &Table{Dialect: SQLite, Queue: "a"}, &Table{Dialect: SQLite, Queue: "b"}
		tryRelay(t, db, a, stuck, RelayOptions{})
		to := newScripted()
		tryRelay(t, db, b, to, RelayOptions{})
		for i := range 100 {
			uploads(t, db, a, gadget{ID: fmt.Sprint("a", i)})
			uploads(t, db, b, gadget{ID: fmt.Sprint("b", i)})
			passes(time.Second)
			require.Len(t, to.keys(), i+1)
		}
		require.Empty(t, stuck.keys())
		close(stuck.room)
	})
}

// Two relays of one queue compete, also in one process.
func TestTwoRelaysOfAQueueHaveTwoHubs(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table := &Table{Dialect: SQLite, Queue: "q"}
		a := tryRelay(t, db, table, newScripted(), RelayOptions{})
		passes(time.Second)
		b := tryRelay(t, db, table, newScripted(), RelayOptions{})
		passes(5 * time.Second)
		require.EqualValues(t, ranges/2, a.Stats().Ranges)
		require.EqualValues(t, ranges/2, b.Stats().Ranges)
		require.NoError(t, a.end())
		passes(5 * time.Second)
		require.EqualValues(t, ranges, b.Stats().Ranges)
		require.NoError(t, b.end())
		hubs.Lock()
		defer hubs.Unlock()
		require.Empty(t, hubs.all[hubKey{db.DB, SQLite, defaultPrefix}])
	})
}

// stillHub returns the hub of a relay that does not run, with all ranges of its queue.
func stillHub(t *testing.T, db database, queue string) (*hub, *leasing) {
	t.Helper()
	relay, err := NewRelay(db.DB, &Table{Dialect: db.dialect, Queue: queue}, newScripted(), short(RelayOptions{}))
	require.NoError(t, err)
	h := enter(relay)
	t.Cleanup(func() { h.end(queue) })
	leases := newLeasing(relay, h)
	got, err := leases.tick(t.Context(), sharing, 0, h.beats.begun(), time.Time{})
	require.NoError(t, err)
	require.Len(t, got.acquired, ranges)
	return h, leases
}

// A driver's call that was abandoned may take a range when nobody looks any more.
func TestARangeThatIsTakenAfterTheEndOfItsRelayEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		h, _ := stillHub(t, db, "a")
		other, b := stillHub(t, db, "b")
		require.Same(t, h, other)
		require.Nil(t, h.exit("a"))
		require.Equal(t, ranges, db.owned(t, "a", h.owner))
		_, err := b.tick(t.Context(), sharing, 0, h.beats.begun(), time.Time{})
		require.NoError(t, err)
		require.Zero(t, db.owned(t, "a", h.owner))
		require.Equal(t, ranges, db.owned(t, "a", ""), "for a lease nobody has them: a request may be under way")
		require.Equal(t, ranges, db.owned(t, "b", h.owner))
	})
}

// Otherwise a poll that gives it one in the middle of a beat would look like another server.
func TestABeatGivesAServerItsIdentity(t *testing.T) {
	t.Parallel()
	db := newPostgres(t)
	h, _ := stillHub(t, db, "a")
	for range 2 {
		b, err := h.beat(t.Context(), "a", h.beats.begun(), time.Time{})
		require.NoError(t, err)
		require.NotEmpty(t, b.server)
		_, err = db.ExecContext(t.Context(), `TRUNCATE azsearch_outbox_nonce`)
		require.NoError(t, err)
	}
}

func TestARelayThatAsksForNoBeatLosesItsRanges(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		h, a := stillHub(t, db, "a")
		_, b := stillHub(t, db, "b")
		h.members["a"] = time.Now().Add(-h.lease - time.Second)
		_, err := b.tick(t.Context(), sharing, 0, h.beats.begun(), time.Time{})
		require.NoError(t, err)
		require.Zero(t, db.owned(t, "a", h.owner))
		require.Equal(t, ranges, db.owned(t, "b", h.owner))
		db.exec(t, `UPDATE azsearch_outbox_lease SET expires = 0 WHERE queue = 'a'`) // a lease has passed
		got, err := a.tick(t.Context(), sharing, 0, h.beats.begun(), time.Time{})
		require.NoError(t, err)
		require.Len(t, got.acquired, ranges)
	})
}

func TestAProcessWhoseRowHasEndedTakesNoRange(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		h, leases := stillHub(t, db, "a")
		db.exec(t, `UPDATE azsearch_outbox_lease SET expires = 0`)
		_, err := db.ExecContext(t.Context(), leases.acquire, "a", h.owner, stands.Milliseconds(), int64(ranges))
		require.NoError(t, err)
		require.Zero(t, db.owned(t, "a", h.owner))
		got, err := leases.tick(t.Context(), sharing, 0, h.beats.begun(), time.Time{})
		require.NoError(t, err)
		require.Len(t, got.acquired, ranges)
		require.EqualValues(t, 2, got.acquired[0])
	})
}

// A renewal that is not committed yet shows nothing; a delete locks the rows of ranges for as long as it takes.
func TestABeatWaitsForNoDeleteAndTakesNothingFromAProcessThatIsRenewing(t *testing.T) {
	t.Parallel()
	db := newPostgres(t)
	h, _ := stillHub(t, db, "a")
	pool := database{openPool(t, PostgreSQL, db.url), PostgreSQL, db.url}
	other, err := NewRelay(pool.DB, &Table{Dialect: PostgreSQL, Queue: "a"}, newScripted(), short(RelayOptions{}))
	require.NoError(t, err)
	second := enter(other)
	defer second.end("a")
	tick := func() tally {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		got, err := newLeasing(other, second).tick(ctx, sharing, 0, second.beats.begun(), time.Time{})
		require.NoError(t, err)
		return got
	}
	ends := newLeasing(other, second).table.text(`UPDATE {t}_lease SET expires = {now} - 1 WHERE queue = '' AND owner = '` + h.owner + `'`)
	db.exec(t, ends)
	renews, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = renews.ExecContext(t.Context(), `UPDATE azsearch_outbox_lease SET expires = 99999999999999 WHERE queue = '' AND owner = $1`, h.owner)
	require.NoError(t, err)
	require.Empty(t, tick().acquired, "it is renewing")
	require.NoError(t, renews.Commit())
	require.Empty(t, tick().acquired)

	db.exec(t, ends)
	deletes, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = deletes.ExecContext(t.Context(), `SELECT 1 FROM azsearch_outbox_lease WHERE queue = 'a' AND slot = 5 FOR SHARE`)
	require.NoError(t, err)
	require.Equal(t, ranges-1, len(tick().acquired)+len(tick().acquired), "all but the one that is being used")
	require.NoError(t, deletes.Commit())
	require.Len(t, tick().acquired, 1)
	require.Equal(t, ranges, db.owned(t, "a", second.owner))
}

func TestARelayThatEndsLeavesACallToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared[int]
		var calls atomic.Int64
		hangs := make(chan struct{})
		call := func(ctx context.Context, after uint64, hang bool) (int, error) {
			return s.get(ctx, after, time.Time{}, func(c *call[int]) error {
				c.result = int(calls.Add(1))
				if time.Sleep(time.Second); hang {
					<-hangs // also when its context has ended
				}
				return nil
			})
		}
		results := make(chan int, 100)
		several := func(n int, ctx context.Context, after uint64, hang bool) {
			for range n {
				go func() {
					if got, err := call(ctx, after, hang); err == nil {
						results <- got
					}
				}()
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		several(10, t.Context(), 0, false)
		require.EqualValues(t, 1, calls.Load())
		require.Len(t, results, 10)
		several(10, t.Context(), 0, false)
		require.EqualValues(t, 1, calls.Load(), "it serves later ones too")
		ctx, end := context.WithCancel(t.Context())
		several(1, ctx, s.begun(), true)
		several(10, t.Context(), 1, false)
		require.Len(t, results, 20, "they wait")
		end()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, results, 30)
		close(hangs)
		synctest.Wait()
		got, err := call(t.Context(), 0, false)
		require.NoError(t, err)
		require.Equal(t, 3, got, "not that of the call that was abandoned")
		require.EqualValues(t, 3, s.begun())
	})
}

func TestAFailedCallIsOneForAllWhoWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared[int]
		failures := make(chan error, 10)
		for range 10 {
			go func() {
				_, err := s.get(t.Context(), 0, time.Time{}, func(*call[int]) error {
					time.Sleep(time.Second)
					return errors.New("no")
				})
				failures <- err
			}()
		}
		time.Sleep(2 * time.Second)
		require.Len(t, failures, 10)
		require.EqualValues(t, 1, s.begun())
	})
}
