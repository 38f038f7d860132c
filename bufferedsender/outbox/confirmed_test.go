package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

func upload(seq int64) row {
	return row{seq: seq, key: "k", op: models.ActionTypeUpload, body: []byte(`{"id":"k"}`)}
}

// When the earlier row of a key becomes visible, the later one has been applied and deleted, or is in a request.
func TestARowThatComesAfterALaterOneWasAppliedIsNotSent(t *testing.T) {
	for _, to := range []struct {
		name           string
		exports, loads bool
	}{{"with a Loader", false, true}, {"without", false, false}, {"with Export", true, false}} {
		for when, before := range map[string]bool{"the later row was deleted": false, "the later row is in a request": true} {
			t.Run(to.name+", when "+when, func(t *testing.T) {
				d, now := newDesk(to.exports), time.Now()
				d.loads = to.loads
				d.take([]row{upload(5)}, &parts, [classes]int64{})
				f := d.next(everywhere)
				if before {
					d.take([]row{upload(3), upload(7)}, &parts, [classes]int64{})
				}
				d.end(f, relay.Confirmed, models.Outcome{}, now)
				d.deleted(d.settling.done, &parts)
				if !before {
					d.take([]row{upload(3), upload(7)}, &parts, [classes]int64{})
				}
				if to.loads {
					f = d.next(everywhere)
					require.Equal(t, kindLoad, f.step, "the next step loads the key")
					require.Len(t, f.rows, 2)
					require.Empty(t, d.settling.dead)
					return
				}
				require.Len(t, d.settling.dead, 1)
				l := d.settling.dead[0]
				l.row = row{seq: l.seq}
				require.Equal(t, letter{row: row{seq: 3}, reason: models.ReasonSuperseded, newer: 5, message: "row 5 of the key was applied before this row became visible"}, l)
				f = d.next(everywhere)
				require.Len(t, f.rows, 1)
				require.EqualValues(t, 7, f.seq)
				require.EqualValues(t, len(upload(7).body), d.bytes)
			})
		}
	}
}

// The later row has failed, so neither was applied.
func TestARowThatComesWhileALaterOneFailsIsSentBeforeIt(t *testing.T) {
	d, now := newDesk(true), time.Now()
	d.take([]row{upload(5)}, &parts, [classes]int64{})
	f := d.next(everywhere)
	d.take([]row{upload(3)}, &parts, [classes]int64{})
	d.end(f, relay.Failed, models.Outcome{}, now)
	d.wake(now.Add(time.Minute))
	require.EqualValues(t, 3, d.next(everywhere).seq)
}

// The range belonged to another relay meanwhile, which may have released both rows.
func TestNumbersOfAnEarlierHoldAreNotCompared(t *testing.T) {
	d := newDesk(false)
	d.take([]row{upload(5)}, &parts, [classes]int64{})
	d.end(d.next(everywhere), relay.Confirmed, models.Outcome{}, time.Now())
	d.drop(0)
	again := parts
	again[0] = 2
	d.take([]row{upload(3), upload(5)}, &again, [classes]int64{})
	require.Empty(t, d.settling.dead)
	require.Len(t, d.next(everywhere).rows, 2)
}

func TestADeletionThatFoundNoRowsSaysNothingAboutALaterHold(t *testing.T) {
	var c confirmed
	for gen, above := range map[uint32]int64{1: 0, 2: 5} {
		c.add(&row{key: "k", seq: 5}, gen, time.Now())
		c.doubt([]row{{key: "k", seq: 3}}, &[ranges]uint32{1})
		require.Equal(t, above, c.above(&row{key: "k", seq: 4}, gen))
	}
}

func TestConfirmedKeysAreRememberedForFiveMinutesAndUntilTheFloorHasPassedThem(t *testing.T) {
	var c confirmed
	now := time.Now()
	add := func(key string, seq int64, at time.Duration) { c.add(&row{key: key, seq: seq}, 1, now.Add(at)) }
	known := func(key string) bool { return c.above(&row{key: key}, 1) > 0 }
	add("old", 1, 0)
	add("again", 2, 0)
	add("above", 9, 0)
	add("again", 3, 4*time.Minute)
	c.prune(now.Add(6*time.Minute-confirmedFor), 5)
	require.Equal(t, []bool{false, true, true}, []bool{known("old"), known("again"), known("above")})
	c.prune(now.Add(10*time.Minute-confirmedFor), 9)
	require.Equal(t, []bool{false, false}, []bool{known("again"), known("above")})
	require.Empty(t, c.order)

	for i := range maxConfirmed {
		add(fmt.Sprint(i), 1, time.Hour)
	}
	add("0", 2, 2*time.Hour)
	add("new", 1, 2*time.Hour)
	require.Len(t, c.keys, maxConfirmed)
	require.Len(t, c.order, maxConfirmed)
	require.Equal(t, []bool{true, false, true}, []bool{known("0"), known("1"), known("new")}, "the oldest key is dropped")
}

// The transaction drew its number before the later one without locking the entity, and commits last.
func TestARowThatIsCommittedAfterALaterOneIsADeadLetterOrLoaded(t *testing.T) {
	for _, loads := range []bool{false, true} {
		t.Run(fmt.Sprint("Loader ", loads), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, newPostgres(t))
			ctx := t.Context()
			slow := r.begin(t)
			require.NoError(t, Write(ctx, slow, r.table, models.UploadAction(entity{"k", 1, 0})))
			var o RelayOptions
			if loads {
				o.Loader = r.loader()
			}
			r.run(t, o)
			r.db.inTx(t, func(tx *sql.Tx) error {
				return errors.Join(r.put(ctx, tx, "k", 2), Write(ctx, tx, r.table, models.UploadAction(entity{"k", 2, 0})))
			})
			r.empty(t)
			require.NoError(t, slow.Commit())
			r.empty(t)
			r.same(t)
			require.Empty(t, r.goesBack())
			letters := lettersOf(t, r.db, r.table)
			if loads {
				require.Empty(t, letters)
				return
			}
			require.Len(t, letters, 1)
			require.Equal(t, "superseded", letters[0].Reason)
			require.Equal(t, letters[0].Seq+1, letters[0].Newer)
			require.ErrorIs(t, r.table.Retry(ctx, r.db.DB, letters[0].Seq), ErrNewer)
		})
	}
}
