package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/models"
)

// Bounds of one read.
const (
	maxRead      = 2000
	firstRead    = 200 // until the size of rows is known
	maxReadBytes = 8 << 20
)

const rowColumns = `class, seq, bucket, key, op, body, attempts, written`

// reading holds the statements of a relay for reads.
type reading struct {
	table                                     *Table
	rows, refill, fetch, earlier, first, last string
	writers, mint, behind                     string
}

func newReading(t *Table) *reading {
	var arms, ofKey []string
	for c := range classes {
		class := strings.ReplaceAll("SELECT * FROM ("+t.data.arm+") a", "{class}", fmt.Sprint(c)) // SQLite has no parentheses around an arm
		arms = append(arms, strings.NewReplacer("{after}", fmt.Sprintf("?%d", 4+c), "{seen}", fmt.Sprintf("?%d", 4+classes+c), "{also}", fmt.Sprintf(" AND seq <= ?%d", 4+2*classes)).Replace(class))
		ofKey = append(ofKey, strings.NewReplacer("{after}", "?4", "{seen}", "?5", "{also}", " AND seq <= ?5 AND key = ?6").Replace(class))
	}
	query := `SELECT r.*, EXISTS (SELECT 1 FROM {t} WHERE queue = ?1 AND class > 0) FROM (` + strings.Join(arms, " UNION ALL ") + `) r LIMIT ?3`
	refill := `SELECT r.*, FALSE FROM (` + strings.Join(ofKey, " UNION ALL ") + `) r`
	return &reading{
		table: t, rows: t.text(query), refill: t.text(refill), fetch: t.text(`SELECT ` + rowColumns + `, FALSE FROM {t} WHERE queue = ?1 AND class = CAST(?2 AS integer) AND seq ` + t.data.In("?3", "bigint")), earlier: t.text(t.data.earlier), first: t.text(t.data.earlierFirst),
		last: t.text(t.data.last), writers: t.text(t.data.writers), mint: t.text(t.data.server.mint), behind: t.text(t.data.server.behind),
	}
}

// answer is the result of a read.
type answer struct {
	rows  []row
	last  [classes]int64 // the highest number read of each class
	more  bool           // there may be more
	bytes int64
}

// read reads rows of ranges with numbers above those of after and up to upTo: at most count rows and, from the second
// row on, at most bytes bytes. It adds rows that must be sent before these. Rows with numbers up to seen come without a
// body; most of them are buffered.
func (q *reading) read(ctx context.Context, db Queryer, mask int64, after, seen [classes]int64, upTo int64, count int, bytes int64) (answer, error) {
	a := answer{last: after}
	args := []any{q.table.Queue, mask, int64(count)}
	for _, numbers := range [][classes]int64{after, seen} {
		for _, n := range numbers {
			args = append(args, n)
		}
	}
	args = append(args, upTo)
	mixed := false
	err := sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
		r, several, err := scanRow(rows)
		if err != nil {
			return err
		}
		mixed = mixed || several
		a.rows = append(a.rows, r)
		a.last[r.class] = max(a.last[r.class], r.seq)
		if a.bytes += int64(len(r.body)); a.bytes >= bytes {
			a.more = true
			return sqlkit.ErrEnough
		}
		return nil
	}, q.rows, args...)
	if err != nil {
		return a, err
	}
	a.more = a.more || len(a.rows) >= count
	if mixed && len(a.rows) > 0 {
		if err := q.predecessors(ctx, db, &a); err != nil {
			return a, err
		}
	}
	slices.SortFunc(a.rows, func(x, y row) int { return int(x.seq - y.seq) })
	return a, nil
}

// ofKey reads the first rows of a key with numbers from first to last, without their bodies.
func (q *reading) ofKey(ctx context.Context, db Queryer, key string, first, last int64) (all []row, err error) {
	err = sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
		r, _, err := scanRow(rows) // the order of the rows is known
		all = append(all, r)
		return err
	}, q.refill, q.table.Queue, int64(-1), int64(maxRefill), first-1, last, key)
	slices.SortFunc(all, func(x, y row) int { return cmp.Compare(x.seq, y.seq) })
	return all[:min(len(all), maxRefill)], err
}

// predecessors adds the rows that must be sent before the rows read: rows of the same keys with lower numbers, in other
// classes. It runs after the read, so it sees everything that was committed when they were.
func (q *reading) predecessors(ctx context.Context, db Queryer, a *answer) error {
	highest := make(map[string]int64, len(a.rows))
	later := make(map[string]int64) // of rows in classes above 0
	for _, r := range a.rows {
		highest[r.key] = max(highest[r.key], r.seq)
		if r.class > 0 {
			later[r.key] = max(later[r.key], r.seq)
		}
	}
	have := make(map[int64]bool, len(a.rows))
	for _, r := range a.rows {
		have[r.seq] = true
	}
	for _, part := range []struct {
		query string
		keys  map[string]int64
	}{{q.earlier, highest}, {q.first, later}} {
		if len(part.keys) == 0 {
			continue
		}
		keys, seqs := make([]any, 0, len(part.keys)), make([]any, 0, len(part.keys))
		for key, seq := range part.keys {
			keys, seqs = append(keys, key), append(seqs, seq)
		}
		err := sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
			r, _, err := scanRow(rows) // read has already found that there are several classes
			if err == nil && !have[r.seq] {
				have[r.seq] = true
				a.rows = append(a.rows, r)
			}
			return err
		}, part.query, append([]any{q.table.Queue}, q.table.data.Values(keys, seqs)...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

func scanRow(rows *sql.Rows) (r row, several bool, err error) {
	var bucket int64
	var op string
	err = rows.Scan(&r.class, &r.seq, &bucket, &r.key, &op, &r.body, &r.tries, &r.written, &several)
	r.op, r.part = models.ActionType(op), uint8(bucket/rangeBuckets)
	r.light = r.body == nil && r.needsBody()
	return r, several, err
}

// bodies reads the bodies of rows, nil for missing rows. A row without one gets an empty one, which the sender
// refuses.
func (q *reading) bodies(ctx context.Context, db Queryer, rows []row) (map[int64][]byte, error) {
	found := make(map[int64][]byte, len(rows))
	byClass := make(map[uint8][]int64)
	written := make(map[int64]int64, len(rows))
	for _, r := range rows {
		byClass[r.class] = append(byClass[r.class], r.seq)
		written[r.seq], found[r.seq] = r.written, nil
	}
	for class, seqs := range byClass {
		err := sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
			r, _, err := scanRow(rows)                     // the order of the rows is known
			if err == nil && r.written == written[r.seq] { // otherwise the number was given to another row: see writtenAt
				found[r.seq] = append([]byte{}, r.body...)
			}
			return err
		}, q.fetch, q.table.Queue, int64(class), q.table.data.Values(sqlkit.Anys(seqs))[0])
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// watermark reads the last number of the sequence and the identity of the server. It makes an identity if the server
// has none because it is new, has recovered from a crash, or was promoted.
func (q *reading) watermark(ctx context.Context, db Queryer) (server string, last int64, err error) {
	for range 3 { // behind a pooler another server may answer each time
		err = sqlkit.Each(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&server, &last) }, q.last)
		if err != nil || server != "" || q.mint == "" {
			return server, last, err
		}
		if _, err := db.ExecContext(ctx, q.mint); err != nil {
			return "", 0, err
		}
	}
	return "", 0, errNoIdentity
}

var errNoIdentity = errors.New("server has no identity: the nonce was written but is missing")

// floor tracks which numbers may still appear: see DESIGN.md. The goroutine that reads owns it.
type floor struct {
	last    int64            // last number of the sequence, read before the list of writers
	open    map[string]int64 // transactions that may hold numbers up to last: all of their numbers are above this one
	server  string           // identity of the server that gave last, "" before the first look
	another string           // evidence that another server answers, or that this one has lost commits; "" for none
}

// at returns the number up to which no row can become visible any more.
func (f *floor) at() int64 {
	at := f.last
	for _, low := range f.open {
		at = min(at, low)
	}
	return at
}

// upTo returns the highest number that a read above after may return. A transaction that was open at the look may have
// rows up to after, and may have committed before the read. So may a later transaction on its entity, whose numbers are
// above that of the look.
func (f *floor) upTo(after [classes]int64) int64 {
	if f.at() < slices.Max(after[:]) {
		return f.last
	}
	return math.MaxInt64
}

// of records which server has answered.
func (f *floor) of(server string) {
	if f.server != "" && f.server != server {
		f.another = "another identity"
	}
	f.server = server
}

// look has the last number of all queues, and the transactions that wrote after it was read. If the number is that of
// the look before, and no transaction wrote then, the list is empty too: numbers of later ones are above it.
type look struct {
	began   time.Time
	server  string // that gave the number
	lists   string // and the list
	last    int64
	writers map[string]bool // whether each is prepared
}

// look reads the last number, and the writers if there may be any. was is the look before.
func (q *reading) look(ctx context.Context, db Queryer, was look) (l look, err error) {
	if l.server, l.last, err = q.watermark(ctx, db); err != nil {
		return l, err
	}
	l.lists, l.writers = l.server, was.writers
	if q.writers == "" || l.last == was.last && l.server == was.lists && l.server == was.server && len(was.writers) == 0 {
		return l, nil
	}
	l.writers = make(map[string]bool)
	err = sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
		var name string
		var prepared, is bool
		err := rows.Scan(&l.lists, &name, &prepared, &is)
		if is {
			l.writers[name] = l.writers[name] || prepared
		}
		return err
	}, q.writers)
	return l, err
}

// rise returns the number above which rows can have appeared since the last look; news is false if there are none.
// read is the highest number that was read before this look. If the identity differs, or the sequence is below known
// numbers, floor.another is set and the results do not matter. db is asked only then, and at the first look.
func (f *floor) rise(ctx context.Context, db *sql.DB, q *reading, l look, read int64) (from int64, news bool, err error) {
	unknown := f.server == ""
	f.of(l.server)
	if f.another == "" && l.last < max(f.last, read) {
		f.another = fmt.Sprintf("its sequence says %d after %d", l.last, max(f.last, read))
	}
	if f.another != "" || unknown {
		err := sqlkit.OnConn(ctx, db, func(c *sql.Conn) error { return q.compare(ctx, c) })
		if err != nil || f.another != "" {
			return 0, true, err
		}
	}
	if f.of(l.lists); f.another != "" {
		return 0, true, nil
	}
	news = l.last != f.last
	from, ended := f.list(l.last, l.writers)
	return from, news || ended, nil
}

// list takes over the list of writing transactions, and whether they are prepared, which was read after the sequence
// was at last. It returns the number above which rows of ended transactions may have appeared.
func (f *floor) list(last int64, writers map[string]bool) (from int64, ended bool) {
	from, at := f.last, f.at()
	for name, low := range f.open {
		if _, writes := writers[name]; !writes {
			from, ended = min(from, low), true
			delete(f.open, name)
		}
	}
	for name, prepared := range writers {
		if _, known := f.open[name]; known {
			continue
		}
		low := f.last // it held no lock when the sequence was at last
		if prepared {
			low = at // it may hold numbers under another name (before PostgreSQL 15)
		}
		if f.open == nil {
			f.open = make(map[string]int64)
		}
		f.open[name] = low
	}
	f.last = last
	return from, ended
}

// compare returns an error if existing rows have numbers above those that the sequence will give.
func (q *reading) compare(ctx context.Context, db Queryer) error {
	if q.behind == "" {
		return nil
	}
	faults, err := sqlkit.Texts(ctx, db, q.behind)
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("%w: %s", ErrSchema, strings.Join(faults, "; "))
	}
	return err
}

// clone returns a copy that rises independently.
func (f *floor) clone() floor {
	c := *f
	c.open = maps.Clone(f.open)
	return c
}
