package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Rows of the most urgent class go first, except before earlier rows of their keys.
func TestAKeyKeepsItsOrderWhateverTheClassesOfItsRowsAre(t *testing.T) {
	for _, rows := range []int{1, 3} {
		t.Run(fmt.Sprint("MaxRows ", rows), func(t *testing.T) {
			onBoth(t, func(t *testing.T, db database) {
				r := newRig(t, db)
				later := &Table{Dialect: db.dialect, Queue: r.table.Queue, Class: 3}
				ctx := t.Context()
				put := func(table *Table, key string, v int) {
					db.inTx(t, func(tx *sql.Tx) error {
						return errors.Join(r.put(ctx, tx, key, v), Write(ctx, tx, table, models.UploadAction(entity{key, v, 0})))
					})
				}
				for i := range 5 {
					put(later, fmt.Sprint("behind", i), 1)
				}
				put(later, "k", 1)
				put(r.table, "k", 2)
				put(later, "k", 3)
				put(r.table, "k", 4)
				put(r.table, "urgent", 1)
				r.run(t, RelayOptions{maxRows: rows})
				r.empty(t)
				r.same(t)
				require.Empty(t, r.goesBack())
				require.Empty(t, lettersOf(t, db, r.table), "no row came late")
				changes := r.service.Changes("entities")
				behind := slices.IndexFunc(changes, func(c searchtest.Change) bool { return strings.HasPrefix(c.Key, "behind") })
				for _, c := range changes[behind:] {
					require.Contains(t, c.Key, "behind", "rows of less urgent classes come last")
				}
			})
		})
	}
}

// parts are ranges that are all held.
var parts = func() (gens [ranges]uint32) {
	for i := range gens {
		gens[i] = 1
	}
	return gens
}()

func everywhere(uint8) bool { return true }

func TestOneGroupOfAKeyIsUnderWayAtATime(t *testing.T) {
	d := newDesk(false)
	now := time.Now()
	upload := func(seq int64) row {
		return row{seq: seq, key: "k", op: models.ActionTypeUpload, body: []byte(`{"id":"k"}`)}
	}
	d.take([]row{upload(1)}, &parts, [classes]int64{})
	first := d.next(everywhere)
	require.Equal(t, int64(1), first.seq)
	d.take([]row{upload(2), upload(3)}, &parts, [classes]int64{})
	require.Nil(t, d.next(everywhere), "the first row is in a request")
	d.end(first, relay.Failed, models.Outcome{}, now)
	require.Nil(t, d.next(everywhere), "the key waits")
	d.wake(now.Add(time.Minute))
	again := d.next(everywhere)
	require.Len(t, again.rows, 3, "later rows of the key are folded in")
	require.Equal(t, kindFetch, again.step)
	d.fetched(again, map[int64][]byte{3: []byte(`{"id":"k"}`)})
	again = d.next(everywhere)
	require.Equal(t, kindOffer, again.step)
	d.end(again, relay.Confirmed, models.Outcome{}, now)
	require.Len(t, d.settling.done, 3)
	d.deleted(d.settling.done, &parts)
	require.Empty(t, d.seqs)
	require.Empty(t, d.entries)
	require.Zero(t, d.inHand())
	require.Zero(t, d.asides)
	require.Zero(t, d.bytes)
}

// The transaction of row 5 wrote it before it locked the entity.
func TestALateRowIsSortedInWhileBodiesAreRead(t *testing.T) {
	d := newDesk(false)
	now := time.Now()
	upload := func(seq int64) row {
		return row{seq: seq, key: "k", op: models.ActionTypeUpload, body: []byte(`{"id":"k"}`)}
	}
	d.take([]row{upload(7)}, &parts, [classes]int64{})
	d.end(d.next(everywhere), relay.Failed, models.Outcome{}, now)
	d.wake(now.Add(time.Minute))
	again := d.next(everywhere)
	require.Equal(t, kindFetch, again.step)
	d.take([]row{upload(5)}, &parts, [classes]int64{})
	d.fetched(again, map[int64][]byte{7: []byte(`{"id":"k"}`)})
	again = d.next(everywhere)
	require.Equal(t, []int64{5, 7}, []int64{again.rows[0].seq, again.rows[1].seq})
}

// A read that began before a delete may return the deleted row, which must not be sent again after a newer one.
func TestARowThatWasDeletedWhileARowWasReadIsNotTakenAgain(t *testing.T) {
	d := newDesk(false)
	r := row{seq: 5, key: "k", op: models.ActionTypeDelete}
	d.take([]row{r}, &parts, [classes]int64{})
	f := d.next(everywhere)
	d.reads++
	d.end(f, relay.Confirmed, models.Outcome{}, time.Now())
	d.deleted(d.settling.done, &parts)
	fresh, _ := d.take([]row{r}, &parts, [classes]int64{})
	require.Zero(t, fresh)
	require.Nil(t, d.next(everywhere))
}

// Between a look and its read a transaction commits that was open, and then the next one on its entity. The row of the
// first one is not above the start of the read.
func TestARowIsNotReadBeforeAnEarlierOneOfItsKey(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newPostgres(t))
	ctx, q, p := t.Context(), newReading(r.table), progress{most: 100, fullAt: time.Now().Add(time.Hour)}
	var seen look
	read := func(beforeIt func()) (all []int64) {
		was := p.begin(time.Now(), time.Hour)
		var err error
		seen, err = q.look(ctx, r.db, seen)
		require.NoError(t, err)
		from, _, err := was.floor.rise(ctx, r.db.DB, q, seen, slices.Max(was.seen[:]))
		require.NoError(t, err)
		was.back(from)
		beforeIt()
		a, err := q.read(ctx, r.db, -1, was.after, was.seen, was.floor.upTo(was.after), 100, maxReadBytes)
		require.NoError(t, err)
		for _, row := range a.rows {
			all = append(all, row.seq)
		}
		p.done(&a, &was, len(all) > 0, time.Now(), polls)
		return all
	}
	write := func(tx *sql.Tx, key string, v int) error {
		return errors.Join(r.put(ctx, tx, key, v), Write(ctx, tx, r.table, models.UploadAction(entity{key, v, 0})))
	}
	slow := r.begin(t)
	require.NoError(t, write(slow, "a", 1))
	require.Empty(t, read(func() {}))
	r.db.inTx(t, func(tx *sql.Tx) error { return write(tx, "b", 1) })
	require.Equal(t, []int64{2}, read(func() {}), "a transaction that stays open delays no other")
	r.db.inTx(t, func(tx *sql.Tx) error { return write(tx, "c", 1) })
	got := read(func() {
		require.NoError(t, slow.Commit())
		r.db.inTx(t, func(tx *sql.Tx) error { return write(tx, "a", 2) })
	})
	require.Equal(t, []int64{3}, got, "number 1 is not above the start of the read, so number 4 waits for the next one")
	require.Equal(t, []int64{1, 2, 3, 4}, read(func() {}))
}
