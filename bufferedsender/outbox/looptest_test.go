package outbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

// accepting is a sender that records its actions.
type accepting struct {
	got         []models.RawAction
	closed      bool
	unknownWait time.Duration
}

func (a *accepting) Offer(_ context.Context, actions []models.RawAction) (int, error) {
	a.got = append(a.got, actions...)
	return len(actions), nil
}
func (a *accepting) Withdraw(func(key string, tag any) bool) int { return 0 }
func (a *accepting) Info() models.SenderInfo {
	return models.SenderInfo{MaxBufferedActions: 1000, MaxBufferedBytes: 1 << 20, RequestTimeout: testTimeout, UnknownWait: a.unknownWait, Closed: a.closed}
}

// still returns a loop that does not run and holds all ranges.
func still(t *testing.T, to Sender, o RelayOptions) *loop {
	t.Helper()
	db := newSQLite(t)
	table := &Table{Dialect: SQLite, Queue: "entities"}
	relay, err := NewRelay(db.DB, table, to, short(o))
	require.NoError(t, err)
	l := newLoop(relay)
	l.work, l.cancel = context.WithCancel(t.Context())
	l.asking, l.stop = context.WithCancel(l.work)
	l.jobs[kindTick].retry.At = time.Now().Add(time.Hour)
	t.Cleanup(func() { l.cancel(); l.beside.Wait() })
	got := make(map[int]int64)
	for i := range ranges {
		got[i] = 1
	}
	l.ticked(got)
	return l
}

// ticked reports acquired ranges to the loop, as a tick does.
func (l *loop) ticked(acquired map[int]int64) {
	l.tickedOff(tally{began: time.Now(), acquired: acquired, members: 1, life: l.progress.life}, [ranges]int64{}, nil)
}

// rowsWith returns rows of one range as read.
func rowsWith(keys ...string) (rows []row) {
	for i, k := range keys {
		rows = append(rows, row{seq: int64(i + 1), key: k, op: models.ActionTypeUpload, body: []byte(`{"id":"` + k + `"}`)})
	}
	return rows
}

func (l *loop) give(rows []row) { l.desk.take(rows, &l.holds.gens, [classes]int64{}) }

// settle waits for the goroutines that the loop has started.
func (l *loop) settle() {
	l.beside.Wait()
	l.takeInbox()
}

// The clock of the database jumped: by that clock the lease had expired, and another relay may have held the range.
func TestARangeThatIsTakenAgainBeforeItsLeaseHasEndedHereIsAnotherLease(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	old := l.holds.parts[0].lease
	l.give(rowsWith("k"))
	l.plan(time.Now())
	require.Len(t, l.flights.next[kindOffer], 1)
	l.ticked(map[int]int64{0: 3})
	require.NotSame(t, old, l.holds.parts[0].lease)
	require.Negative(t, old.until(), "actions of the old lease are no longer sent")
	require.True(t, old.GoesBack())
	require.True(t, l.holds.withdraw)
	require.Empty(t, l.desk.entries, "another relay may have sent these rows, and newer ones")
	require.Empty(t, l.flights.cut(kindOffer, 1))
}

// A dead letter written after a later row of its key was deleted would not be marked, and Retry would overwrite the
// newer row.
func TestDeadLettersAreWrittenBeforeLaterRowsAreDeleted(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	for i := range maxBury + 1 {
		l.desk.settling.dead = append(l.desk.settling.dead, letter{row: row{seq: int64(i + 1), key: "k"}})
	}
	l.desk.settling.done = []row{{seq: 1000, key: "k"}}
	l.begin(kindFinish, time.Now())
	require.Len(t, l.desk.settling.now.dead, maxBury)
	require.Empty(t, l.desk.settling.now.done)
	l.settle()
	l.begin(kindFinish, time.Now())
	require.Len(t, l.desk.settling.now.dead, 1)
	require.Len(t, l.desk.settling.now.done, 1)
	require.True(t, l.desk.settling.now.marks)
	l.settle()
}

// A tick that started before the first dead letter was written has not seen it.
func TestATickThatIsOlderThanADeadLetterDoesNotDenyIt(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	began := time.Now()
	l.desk.settling.dead = []letter{{row: row{seq: 1, key: "k"}}}
	l.begin(kindFinish, time.Now())
	l.settle()
	renewed := make(map[int]int64)
	for i := range ranges {
		renewed[i] = 1
	}
	l.tickedOff(tally{began: began, renewed: renewed, members: 1}, [ranges]int64{}, nil)
	require.True(t, l.desk.settling.letters)
	l.tickedOff(tally{began: time.Now().Add(time.Millisecond), renewed: renewed, members: 1}, [ranges]int64{}, nil)
	require.False(t, l.desk.settling.letters)
}

// draining makes a tick find that most ranges belong to others.
func (l *loop) draining(t *testing.T) {
	t.Helper()
	renewed := make(map[int]int64)
	for i := range ranges {
		renewed[i] = 1
	}
	l.tickedOff(tally{began: time.Now(), renewed: renewed, members: 65, rank: 64}, [ranges]int64{}, nil)
	require.Zero(t, l.holds.mask())
}

func TestALoaderThatFailsDoesNotHoldARangeThatIsToBeGivenAway(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{Loader: LoadRaw(func(context.Context, []string) ([]models.RawAction, error) {
		return nil, errors.New("not here")
	})})
	l.give([]row{{seq: 1, key: "k"}})
	l.plan(time.Now())
	l.begin(kindLoad, time.Now())
	l.settle()
	l.draining(t)
	l.guardLeases(time.Now())
	require.Len(t, l.holds.gifts, ranges, "another relay may have a Loader that works")
	require.Empty(t, l.desk.entries)
}

// full is a sender without room.
type full struct{ accepting }

func (f *full) Offer(ctx context.Context, _ []models.RawAction) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func TestASenderWithoutRoomDoesNotHoldARangeThatIsToBeGivenAway(t *testing.T) {
	l := still(t, &full{}, RelayOptions{})
	l.give(rowsWith("k"))
	l.plan(time.Now())
	l.begin(kindOffer, time.Now())
	l.draining(t)
	l.settle()
	l.begin(kindOffer, time.Now())
	l.guardLeases(time.Now())
	require.Len(t, l.holds.gifts, ranges)
	require.Zero(t, l.flights.offered)
	require.Zero(t, l.jobs[kindOffer].retry.Failures)
}

// A paused sender keeps actions that it accepted after Withdraw was called.
func TestWhatIsAcceptedWhileARangeIsBeingGivenAwayIsWithdrawn(t *testing.T) {
	to := &accepting{}
	l := still(t, to, RelayOptions{})
	l.give(rowsWith("a", "b"))
	l.plan(time.Now())
	second := l.flights.next[kindOffer][1]
	l.flights.next[kindOffer] = l.flights.next[kindOffer][:1]
	l.begin(kindOffer, time.Now())
	l.draining(t)
	l.holds.withdraw = false // it has run
	l.settle()
	require.True(t, l.holds.withdraw, "the sender withdraws again")
	l.flights.next[kindOffer] = append(l.flights.next[kindOffer], second)
	l.begin(kindOffer, time.Now())
	require.False(t, l.jobs[kindOffer].busy, "nothing more is offered")
	l.guardLeases(time.Now())
	require.Len(t, l.holds.gifts, ranges-1, "one action is in the sender")
	to.got[0].OnOutcome(models.Outcome{})
	l.takeInbox()
	require.Len(t, l.desk.settling.done, 1)
}

// The interrupted request of a row may be applied after the request that was answered. If another relay had the range
// by then, it would send newer rows before the interrupted request is applied.
func TestARangeIsGivenAwayWhenARequestOfItThatWasCutCanHaveNoEffectAnyMore(t *testing.T) {
	for outcome, waits := range map[models.Outcome]bool{{Status: 200}: false, {Status: 200, Cut: true}: true, {Status: 200, Unknown: true}: true} {
		to := &accepting{unknownWait: 2 * time.Second}
		l := still(t, to, RelayOptions{})
		l.give(rowsWith("k"))
		l.plan(time.Now())
		l.begin(kindOffer, time.Now())
		l.settle()
		to.got[0].OnOutcome(outcome)
		l.takeInbox()
		l.draining(t)
		l.begin(kindFinish, time.Now())
		l.settle()
		l.guardLeases(time.Now())
		require.Len(t, l.holds.gifts, ranges)
		for _, g := range l.holds.gifts {
			require.Equal(t, waits && g.part == 0, g.wait > time.Second, "range %d after %+v", g.part, outcome)
		}
	}
}

// The time of a failed row's retry has passed.
func TestARelayThatEndsSleepsWhileItWaits(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	now := time.Now()
	l.jobs[kindOffer].retry.At, l.jobs[kindLoad].retry.At = now.Add(-time.Second), now.Add(-time.Second)
	l.give(rowsWith("k"))
	l.plan(time.Now())
	f := l.flights.next[kindOffer][0]
	l.close(now)
	require.Positive(t, l.wait(now))
	l.flights.next[kindOffer], l.flights.next[kindLoad] = nil, []*flight{f}
	require.Positive(t, l.wait(now))
}

func TestADeleteThatTheLoaderFindsLeavesATombstone(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{SeqField: "seq", Loader: LoadRaw(func(context.Context, []string) ([]models.RawAction, error) { return nil, nil })})
	db, table := l.r.db, l.r.table
	_, err := db.ExecContext(t.Context(), table.text(`INSERT INTO {t} (queue, key, written) VALUES ('entities', 'k', 0)`))
	require.NoError(t, err)
	a, err := l.read.read(t.Context(), db, -1, [classes]int64{}, [classes]int64{}, math.MaxInt64, 10, maxReadBytes)
	require.NoError(t, err)
	l.give(a.rows)
	l.plan(time.Now())
	l.begin(kindLoad, time.Now())
	l.settle()
	l.begin(kindOffer, time.Now())
	l.settle()
	sent := l.r.to.(*accepting).got
	require.Len(t, sent, 1)
	require.Equal(t, models.ActionTypeDelete, sent[0].Type)
	sent[0].OnOutcome(models.Outcome{})
	l.takeInbox()
	l.begin(kindFinish, time.Now())
	l.settle()
	tombs, err := table.Tombstones(t.Context(), db, "k")
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"k": 1}, tombs)
}

// The database did not answer for longer than a lease, and the relay has taken its ranges again.
func TestARowWhoseDeletionFailsAfterTheEndOfItsLeaseIsReadAgain(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	l.give(rowsWith("k"))
	l.plan(time.Now())
	l.desk.end(l.flights.cut(kindOffer, 1)[0], relay.Confirmed, models.Outcome{}, time.Now())
	f := l.desk.settling.begin(l.holds, time.Now())
	require.Len(t, f.done, 1)
	l.ticked(map[int]int64{0: 3})
	l.progress.restart = false // the row was read and skipped, because it may just have been deleted
	l.give(rowsWith("k"))
	require.Empty(t, l.desk.entries)
	l.finishDone(f, errors.New("connection lost"))
	require.True(t, l.progress.restart)
	require.Zero(t, l.desk.inHand())
	l.give(rowsWith("k"))
	require.Contains(t, l.desk.entries, "k")
}

// Otherwise the second row would be sent first, or the first one would become a dead letter in spite of being applied.
func TestNoRowOvertakesOneWhoseDeletionBeganUnderAnEarlierLease(t *testing.T) {
	for _, err := range []error{nil, errors.New("connection lost")} {
		for _, verdict := range []relay.Verdict{relay.Confirmed, relay.Refused} {
			l := still(t, &accepting{}, RelayOptions{})
			first := row{seq: 101, key: "k", op: models.ActionTypeUpload, body: []byte(`{}`)}
			second, other := first, first
			second.seq = 105
			other.seq, other.key = 106, "other"
			end := func(verdict relay.Verdict, seq int64) {
				l.plan(time.Now())
				sent := l.flights.cut(kindOffer, 10)
				require.Len(t, sent, 1)
				require.Equal(t, seq, sent[0].seq)
				l.desk.end(sent[0], verdict, models.Outcome{}, time.Now())
			}
			l.give([]row{first})
			end(verdict, 101)
			f := l.desk.settling.begin(l.holds, time.Now())
			l.ticked(map[int]int64{0: 3})
			require.Zero(t, l.desk.inHand())
			l.desk.reads++
			l.give([]row{first, second, other})
			end(relay.Confirmed, 106)
			l.progress.restart = false
			l.finishDone(f, err)
			require.True(t, l.progress.restart, "the rows are read again")
			l.give([]row{first, second, other}) // by the read that was running
			l.plan(time.Now())
			again := l.flights.cut(kindOffer, 10)
			require.Len(t, again, 1)
			require.Len(t, again[0].rows, 2)
			require.Empty(t, l.desk.settling.dead)
		}
	}
}

func TestDeadIsCalledForNoRowThatHasNotBecomeALetter(t *testing.T) {
	var dead []DeadLetter
	l := still(t, &accepting{}, RelayOptions{Dead: func(d DeadLetter) { dead = append(dead, d) }})
	l.desk.settling.dead = []letter{{row: row{seq: 1, key: "k"}}} // an operator purged it
	l.begin(kindFinish, time.Now())
	l.settle()
	require.Empty(t, dead)
	require.Zero(t, l.r.Stats().Dead)
	require.EqualValues(t, 1, l.r.Stats().Stale)
}

func TestPredecessorsComeWithoutTheirBodies(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		r := newRig(t, db)
		for _, class := range []int{3, 3, 0} {
			_, err := db.ExecContext(t.Context(), r.table.text(`INSERT INTO {t} (queue, class, key, op, body) VALUES ('entities', ?1, 'k', 'merge', '{}')`), int64(class))
			require.NoError(t, err)
		}
		a, err := newReading(r.table).read(t.Context(), db, -1, [classes]int64{}, [classes]int64{}, math.MaxInt64, 1, maxReadBytes)
		require.NoError(t, err)
		require.Len(t, a.rows, 3)
		require.True(t, a.rows[0].light && a.rows[1].light)
		require.NotNil(t, a.rows[2].body)
	})
}

func TestExportsWaitForASenderWithoutRoom(t *testing.T) {
	l := still(t, &full{}, RelayOptions{maxRows: 500, Export: func(context.Context, Row) ([]models.RawAction, error) {
		return make([]models.RawAction, 10), nil
	}})
	var keys []string
	for i := range 400 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	l.give(rowsWith(keys...))
	l.plan(time.Now())
	for range 4 {
		l.begin(kindExport, time.Now())
		l.settle()
	}
	require.Len(t, l.flights.next[kindOffer], maxExport, "each row became ten actions")
}
