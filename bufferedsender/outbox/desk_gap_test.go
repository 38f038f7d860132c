package outbox

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// failing makes a key wait after a failure.
func (l *loop) failing(t *testing.T, key string) {
	t.Helper()
	l.give([]row{{seq: 1, key: key, op: models.ActionTypeMerge, body: []byte(`{"id":"k"}`)}})
	l.desk.end(l.desk.next(everywhere), relay.Failed, models.Outcome{}, time.Now())
	require.Len(t, l.desk.aside, 1)
}

func TestAKeyThatWaitsHoldsNoOtherOne(t *testing.T) {
	for op, left := range map[models.ActionType]int{models.ActionTypeMerge: 100_001 - 2*maxKept, models.ActionTypeUpload: 0, "": 0} {
		l := still(t, &accepting{}, RelayOptions{})
		l.failing(t, "k")
		for seq := int64(2); seq <= 100_001; seq += 2000 {
			var rows []row
			for i := range int64(2000) {
				rows = append(rows, row{seq: seq + i, key: "k", op: op})
			}
			l.give(rows)
			l.desk.deleted(cut(&l.desk.settling.done, 2000), &l.holds.gens)
		}
		require.True(t, l.wants(kindRead), "rows of other keys are read")
		require.LessOrEqual(t, len(l.desk.seqs), 2*maxKept)
		require.Equal(t, left, l.desk.left, "%q: replaced rows are deleted", op)
		l.takeInbox()
		require.EqualValues(t, left+len(l.desk.seqs), l.r.Stats().Aside)
		l.holds.lose(0)
		l.desk.drop(0)
		require.Zero(t, l.desk.left+l.desk.inHand())
	}
}

// book is a table, an index and the source in a random run of a desk.
type book struct {
	rnd   *rand.Rand
	d     *desk
	gens  [ranges]uint32
	table []row
	last  int64
	spare []int64 // drawn numbers that are not committed yet
	truth map[string]map[string]int64
	index map[string]map[string]int64
	now   time.Time
	slow  func() // a refill in progress
	refs  int
}

func apply(to map[string]map[string]int64, key string, op models.ActionType, body []byte) {
	if op == models.ActionTypeDelete {
		delete(to, key)
		return
	}
	fields := map[string]any{}
	_ = json.Unmarshal(body, &fields)
	delete(fields, "id")
	if op == models.ActionTypeUpload || to[key] == nil {
		to[key] = map[string]int64{}
	}
	for name, v := range fields {
		to[key][name] = int64(v.(float64)) //nolint:forcetypeassert // all values are numbers
	}
}

func (b *book) write() {
	key := string(rune('a' + b.rnd.IntN(3)))
	b.last++
	r := row{seq: b.last, key: key, op: models.ActionTypeMergeOrUpload, body: fmt.Appendf(nil, `{"id":"%s","f%d":%d}`, key, b.rnd.IntN(3), b.last)}
	switch n := b.rnd.IntN(40); {
	case n < 2:
		r.op = models.ActionTypeUpload
	case n == 2:
		r.op, r.body = models.ActionTypeDelete, nil
	case n == 3: // of a key-only row, perhaps committed late
		b.spare = append(b.spare, b.last)
		return
	}
	apply(b.truth, key, r.op, r.body)
	b.table = append(b.table, r)
}

func (b *book) read(from int64, n int) {
	rows := slices.Clone(b.table)
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.seq <= from })
	b.d.take(rows[:min(n, len(rows))], &b.gens, [classes]int64{})
}

func (b *book) step(ending bool) {
	if b.slow != nil {
		if ending || b.rnd.IntN(3) == 0 {
			b.slow()
		}
		return
	}
	f := b.d.next(everywhere)
	if f == nil {
		return
	}
	key := f.entry.key
	switch f.step {
	case kindFetch:
		bodies := map[int64][]byte{}
		for _, r := range b.table {
			bodies[r.seq] = r.body
		}
		b.d.fetched(f, bodies)
		return
	case kindRefill:
		b.refs++
		g := &f.entry.gap
		g.came = nil
		b.d.reads++
		var rows []row
		for _, r := range b.table {
			if r.key == key && g.has(r.seq) && len(rows) < 3 {
				r.body, r.light = nil, r.needsBody()
				rows = append(rows, r)
			}
		}
		b.slow = func() {
			b.slow = nil
			b.d.refilled(f, rows, 1, len(rows) == 3)
			b.d.read()
		}
		return
	}
	a := models.RawAction{Type: models.ActionTypeDelete}
	if f.step == kindLoad {
		if doc, is := b.truth[key]; is {
			a.Type = models.ActionTypeUpload
			a.Document, _ = json.Marshal(doc)
		}
	} else {
		a = b.d.make(f, key)
	}
	if !ending && b.rnd.IntN(2) == 0 {
		b.d.end(f, relay.Failed, models.Outcome{}, b.now)
		return
	}
	apply(b.index, key, a.Type, a.Document)
	b.d.end(f, relay.Confirmed, models.Outcome{}, b.now)
}

func (b *book) finish() {
	done := cut(&b.d.settling.done, 5)
	for _, d := range done {
		b.table = slices.DeleteFunc(b.table, func(r row) bool { return r.seq == d.seq })
	}
	b.d.deleted(done, &b.gens)
}

// Rows that a later row replaces are deleted.
func TestRowsOfKeysThatWaitAreSentInTheirOrder(t *testing.T) {
	testkit.Long(t)
	refills := 0
	for seed := range uint64(300) {
		b := &book{rnd: rand.New(rand.NewPCG(seed, 1)), d: newDesk(false), truth: map[string]map[string]int64{}, index: map[string]map[string]int64{}, now: time.Now()}
		b.gens[0], b.d.loads = 1, true
		pos := int64(0)
		for range 600 {
			switch b.rnd.IntN(12) {
			default:
				b.write()
			case 5, 6:
				b.read(pos, 10)
				pos = max(pos, b.last-int64(b.rnd.IntN(20)))
			case 7:
				b.read(0, 30)
			case 8, 9:
				b.step(false)
			case 10:
				b.finish()
			case 11:
				b.now = b.now.Add(time.Second)
				b.d.wake(b.now)
			}
			for len(b.spare) > 0 && b.rnd.IntN(10) == 0 {
				b.table = append(b.table, row{seq: b.spare[0], key: string(rune('a' + b.rnd.IntN(3)))})
				b.spare = b.spare[1:]
				slices.SortFunc(b.table, func(x, y row) int { return int(x.seq - y.seq) })
			}
		}
		for i := 0; len(b.table) > 0; i++ {
			require.Less(t, i, 10_000, "seed %d: %d rows are left", seed, len(b.table))
			b.read(0, 1000)
			b.step(true)
			b.finish()
			b.now = b.now.Add(time.Minute)
			b.d.wake(b.now)
		}
		require.Equal(t, b.truth, b.index, "seed %d", seed)
		require.Empty(t, b.d.entries, "seed %d", seed)
		require.Zero(t, len(b.d.seqs)+b.d.left+b.d.asides+int(b.d.bytes), "seed %d", seed)
		refills += b.refs
	}
	require.Greater(t, refills, 1000)
}

// The rows are read again from the table, with those of other classes.
func TestTheRowsOfAKeyThatHasFailedAreAllSentWhenItsTurnComes(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table, later := &Table{Dialect: db.dialect, Queue: "q", KeyField: "id"}, &Table{Dialect: db.dialect, Queue: "q", KeyField: "id", Class: 3}
		to := newScripted()
		to.answer = func(a models.RawAction) models.Outcome { return failing(models.ReasonUnreachable) }
		const n = 600
		for i := range n {
			of := table
			if i%3 == 0 {
				of = later
			}
			db.inTx(t, func(tx *sql.Tx) error {
				return Write(t.Context(), tx, of, models.MergeOrUploadAction(map[string]any{"id": "bad", fmt.Sprint("f", i): i}))
			})
		}
		r := tryRelay(t, db, table, to, RelayOptions{})
		testkit.Eventually(t, func() bool { return r.Stats().Aside == n }, "the key waits")
		require.LessOrEqual(t, r.Stats().InHand, int64(2*maxKept))
		to.set(func() { to.answer = func(models.RawAction) models.Outcome { return models.Outcome{} } })
		tried := len(to.all())
		emptied(t, db, table)
		all := to.all()[tried:]
		require.Less(t, len(all), 10, "the rows of a key are folded")
		next := 0
		for _, a := range all {
			fields := map[string]any{}
			require.NoError(t, json.Unmarshal(a.Document, &fields))
			for range len(fields) - 1 {
				require.EqualValues(t, next, fields[fmt.Sprint("f", next)])
				next++
			}
		}
		require.Equal(t, n, next)
		require.NoError(t, r.end())
	})
}

func TestARowThatCommitsWhileAGapIsReadIsReadWithIt(t *testing.T) {
	d := newDesk(false)
	merge := func(seq int64) row { return row{seq: seq, key: "k", op: models.ActionTypeMerge} }
	take := func(seqs ...int64) {
		for _, seq := range seqs {
			d.take([]row{merge(seq)}, &parts, [classes]int64{})
		}
	}
	take(1, 2, 3, 4)
	d.end(d.next(everywhere), relay.Failed, models.Outcome{}, time.Now())
	take(5, 6, 8, 9, 10, 11, 12, 13)
	e := d.entries["k"]
	require.Equal(t, gap{first: 5, last: 9, n: 4}, e.gap)
	d.finish(e, 4, 4)
	d.wake(time.Now().Add(time.Hour))
	f := d.next(everywhere)
	require.Equal(t, kindRefill, f.step)
	take(7)
	d.refilled(f, []row{merge(5), merge(6), merge(8), merge(9)}, 1, false)
	f = d.next(everywhere)
	require.Equal(t, kindRefill, f.step, "row 7 was not visible yet")
	take(7)
	d.refilled(f, []row{merge(5), merge(6), merge(7)}, 1, true)
	require.Equal(t, gap{first: 8, last: 9, n: 1}, e.gap)
	require.EqualValues(t, 1, d.left)
}
