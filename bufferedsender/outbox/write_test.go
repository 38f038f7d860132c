package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

// gadget is the document type of these tests.
type gadget struct {
	ID   string   `json:"id" search:"key"`
	N    int      `json:"n"`
	Text string   `json:"text,omitempty"`
	More *float64 `json:"more,omitempty"`
}

// counting is a transaction that counts its statements.
type counting struct {
	Execer
	n int
}

func (c *counting) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	c.n++
	return c.Execer.ExecContext(ctx, query, args...)
}

// written is a row of the table.
type written struct {
	seq, class int64
	key, op    string
	body       sql.NullString
}

// rowsOf reads the rows of a queue by number.
func rowsOf(t testing.TB, db database, queue string) (all []written) {
	t.Helper()
	table := &Table{Dialect: db.dialect, Queue: queue}
	require.NoError(t, table.ready())
	require.NoError(t, sqlkit.Each(t.Context(), db, func(rows *sql.Rows) error {
		var w written
		err := rows.Scan(&w.seq, &w.class, &w.key, &w.op, &w.body)
		all = append(all, w)
		return err
	}, table.text(`SELECT seq, class, key, op, body FROM {t} WHERE queue = ?1 ORDER BY seq`), queue))
	return all
}

func TestWriteIsOneStatementHoweverManyActionsThereAre(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		for _, n := range []int{0, 1, 2, 3000} {
			table := &Table{Dialect: db.dialect, Queue: fmt.Sprint("q", n)}
			actions, changed := make([]models.IndexDocumentsAction[gadget], n), make([]string, n)
			for i := range actions {
				actions[i], changed[i] = models.UploadAction(gadget{ID: fmt.Sprint("k", i), N: i}), fmt.Sprint("c", i)
			}
			db.inTx(t, func(tx *sql.Tx) error {
				c := &counting{Execer: tx}
				require.NoError(t, Write(t.Context(), c, table, actions...))
				require.Equal(t, min(n, 1), c.n)
				require.NoError(t, WriteKeys(t.Context(), c, table, changed...))
				require.Equal(t, min(n, 1)*2, c.n)
				return nil
			})
			require.Len(t, rowsOf(t, db, table.Queue), 2*n)
		}
	})
}

func TestNumbersAreInTheOrderOfTheActions(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "q", Class: 3}
		var want []string
		var actions []models.IndexDocumentsAction[gadget]
		for i := range 5000 {
			key := fmt.Sprint("k", (i*7919)%5000)
			want, actions = append(want, key), append(actions, models.UploadAction(gadget{ID: key, N: i}))
		}
		db.inTx(t, func(tx *sql.Tx) error { return Write(t.Context(), tx, table, actions...) })
		db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, want...) })
		rows := rowsOf(t, db, "q")
		require.Len(t, rows, 10_000)
		for i, w := range rows {
			require.Equal(t, want[i%5000], w.key)
			require.EqualValues(t, 3, w.class)
			require.Equal(t, i < 5000, w.body.Valid)
			if i < 5000 {
				require.JSONEq(t, fmt.Sprintf(`{"id":%q,"n":%d}`, w.key, i), w.body.String)
			}
		}
	})
}

func TestRowsHoldWhatWasWritten(t *testing.T) {
	texts := map[string]string{
		"plain":                                      "a hotel",
		"quotes and backslashes":                     `"double" 'single' \ \\ \" {"a":"b"} \u0041`,
		"syntax of PostgreSQL arrays":                `{NULL,"x",{}} $1 ?1 {t} {now} NULL`,
		"characters that are illegal in HTML":        "<b>&amp;</b>\u2028\u2029",
		"control characters":                         "a\n\r\t\b\f\x01\x1f\x7fz",
		"a zero byte, which JSON can hold":           "a\x00z",
		"other scripts":                              "Ωmega 東京 العربية עברית",
		"emoji with modifiers":                       "👩‍👩‍👧‍👦🇩🇪👍🏽",
		"combining accents and the last code points": "e\u0301 \ufffd \U0010ffff",
		"very long":                                  strings.Repeat(`long "and" \ wide 東 `, 100_000),
	}
	onBoth(t, func(t *testing.T, db database) {
		for _, together := range []bool{false, true} {
			table := &Table{Dialect: db.dialect, Queue: fmt.Sprint(together)}
			var actions []models.IndexDocumentsAction[gadget]
			var want []gadget
			for name, text := range texts {
				doc := gadget{ID: keys.Encode(name), N: len(actions), Text: text}
				want = append(want, doc)
				typ := []models.ActionType{models.ActionTypeUpload, models.ActionTypeMerge, models.ActionTypeMergeOrUpload}[len(actions)%3]
				actions = append(actions, models.IndexDocumentsAction[gadget]{Type: typ, Document: doc})
			}
			db.inTx(t, func(tx *sql.Tx) error {
				if together {
					return Write(t.Context(), tx, table, actions...)
				}
				for _, a := range actions {
					if err := Write(t.Context(), tx, table, a); err != nil {
						return err
					}
				}
				return nil
			})
			rows := rowsOf(t, db, table.Queue)
			require.Len(t, rows, len(want))
			for i, w := range rows {
				require.Equal(t, want[i].ID, w.key)
				require.Equal(t, string(actions[i].Type), w.op)
				var got gadget
				require.NoError(t, json.Unmarshal([]byte(w.body.String), &got))
				require.Equal(t, want[i], got)
			}
		}
	})
}

func TestADeleteIsWrittenWithoutABody(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "q"}
		db.inTx(t, func(tx *sql.Tx) error {
			return errors.Join(
				Write(t.Context(), tx, table, models.DeleteAction(gadget{ID: "a", N: 1})),
				Write(t.Context(), tx, table, models.DeleteAction(gadget{ID: "b", More: new(math.NaN())}), models.DeleteAction(gadget{ID: "c"})))
		})
		rows := rowsOf(t, db, "q")
		require.Len(t, rows, 3)
		for i, w := range rows {
			require.Equal(t, []string{"a", "b", "c"}[i], w.key)
			require.Equal(t, "delete", w.op)
			require.False(t, w.body.Valid)
		}
	})
}

// path is a document whose raw key is not a legal key.
type path struct {
	ID   string `json:"id" search:"key"`
	Path string `json:"path"`
}

func TestTheKeyIsFoundByTagByNameAndByTheRawKey(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		raw := func(doc any) (string, error) { return doc.(path).Path, nil }
		for name, row := range map[string]struct {
			table *Table
			write func(tx Execer, table *Table) error
			key   string
			doc   string
		}{
			"a key by the tag of a struct": {
				&Table{}, func(tx Execer, to *Table) error {
					return Write(t.Context(), tx, to, models.UploadAction(gadget{ID: "7"}))
				}, "7", `{"id":"7","n":0}`,
			},
			"of a pointer": {
				&Table{}, func(tx Execer, to *Table) error {
					return Write(t.Context(), tx, to, models.UploadAction(&gadget{ID: "7"}))
				}, "7", `{"id":"7","n":0}`,
			},
			"a key by KeyField in a map": {
				&Table{KeyField: "sku"}, func(tx Execer, to *Table) error {
					return Write(t.Context(), tx, to, models.UploadAction(map[string]any{"sku": "s-1", "n": 2}))
				}, "s-1", `{"sku":"s-1","n":2}`,
			},
			"a key by KeyField in JSON": {
				&Table{KeyField: "sku"}, func(tx Execer, to *Table) error {
					return Write(t.Context(), tx, to, models.UploadAction(json.RawMessage(`{ "n": 2, "sku": "s-1" }`)))
				}, "s-1", `{"sku":"s-1","n":2}`,
			},
			"a RawKey from which Key makes the key of the document": {
				&Table{Key: keys.Encode, RawKey: raw}, func(tx Execer, to *Table) error {
					return Write(t.Context(), tx, to, models.UploadAction(path{keys.Encode("/é b/1"), "/é b/1"}))
				}, "/é b/1", `{"id":"` + keys.Encode("/é b/1") + `","path":"/é b/1"}`,
			},
		} {
			t.Run(name, func(t *testing.T) {
				row.table.Dialect, row.table.Queue = db.dialect, keys.Hash(name)
				db.inTx(t, func(tx *sql.Tx) error { return row.write(tx, row.table) })
				rows := rowsOf(t, db, row.table.Queue)
				require.Len(t, rows, 1)
				require.Equal(t, row.key, rows[0].key)
				require.JSONEq(t, row.doc, rows[0].body.String)
			})
		}
	})
}

func TestARefusedActionIsNamedNothingIsWrittenAndTheTransactionGoesOn(t *testing.T) {
	good, nan := models.UploadAction(gadget{ID: "good"}), math.NaN()
	withOutcome := good
	withOutcome.OnOutcome = func(models.Outcome) {}
	rawKey := func(doc any) (string, error) {
		switch p := doc.(path).Path; p {
		case "none":
			return "", errors.New("it has no row id")
		case "panic":
			panic("no row id")
		default:
			return p, nil
		}
	}
	encoding := &Table{Key: keys.Encode, RawKey: rawKey}
	gadgets := func(actions ...models.IndexDocumentsAction[gadget]) func(tx Execer, to *Table) error {
		return func(tx Execer, to *Table) error { return Write(context.Background(), tx, to, actions...) }
	}
	paths := func(p path) func(tx Execer, to *Table) error {
		return func(tx Execer, to *Table) error { return Write(context.Background(), tx, to, models.UploadAction(p)) }
	}
	changed := func(all ...string) func(tx Execer, to *Table) error {
		return func(tx Execer, to *Table) error { return WriteKeys(context.Background(), tx, to, all...) }
	}
	big := strings.Repeat("x", maxBody)
	rows := []struct {
		name  string
		table *Table
		write func(tx Execer, to *Table) error
		index int
		key   string
		says  []string
	}{
		{"no type", &Table{}, gadgets(good, models.IndexDocumentsAction[gadget]{Document: gadget{ID: "a"}}), 1, "", []string{"action type", "UploadAction"}},
		{"an unknown type", &Table{}, gadgets(models.IndexDocumentsAction[gadget]{Type: "Upload", Document: gadget{ID: "a"}}), 0, "", []string{`"Upload"`, "MergeOrUploadAction"}},
		{"OnOutcome", &Table{}, gadgets(good, good, withOutcome), 2, "", []string{"OnOutcome", "relay"}},
		{"an empty key", &Table{}, gadgets(good, models.UploadAction(gadget{})), 1, "", []string{"empty"}},
		{"an illegal key", &Table{}, gadgets(good, models.UploadAction(gadget{ID: "a b"})), 1, "a b", []string{"a key can only contain letters, digits, underscore (_), dash (-) and equal sign (=)"}},
		{"an illegal key of a delete", &Table{}, gadgets(models.DeleteAction(gadget{ID: "_a"})), 0, "_a", []string{"a key must not start with an underscore"}},
		{"a key that is too long", &Table{}, gadgets(models.UploadAction(gadget{ID: strings.Repeat("k", 1025)})), 0, strings.Repeat("k", 1025), []string{"a key must not be longer than 1024 bytes"}},
		{"a raw key with a zero byte", encoding, paths(path{keys.Encode("a\x00"), "a\x00"}), 0, "a\x00", []string{"zero byte"}},
		{"a raw key that is not UTF-8", encoding, paths(path{keys.Encode("a\xff"), "a\xff"}), 0, "a\xff", []string{"UTF-8"}},
		{"an empty raw key", encoding, paths(path{"b64-", ""}), 0, "", []string{"empty"}},
		{"a document whose key is not the one that Key makes", encoding, paths(path{"other", "/x"}), 0, "/x", []string{`"other"`, keys.Encode("/x")}},
		{"RawKey that fails", encoding, paths(path{"none", "none"}), 0, "", []string{"it has no row id"}},
		{"RawKey that panics", encoding, paths(path{"panic", "panic"}), 0, "", []string{"RawKey panicked", "no row id"}},
		{"a number that JSON does not have", &Table{}, gadgets(good, models.UploadAction(gadget{ID: "a", More: &nan})), 1, "a", []string{"NaN"}},
		{"a document too large for any request", &Table{}, gadgets(models.UploadAction(gadget{ID: "a", Text: big})), 0, "a", []string{"16000000", "want at most"}},
		{"JSON that is not UTF-8", &Table{KeyField: "id"}, func(tx Execer, to *Table) error {
			return Write(context.Background(), tx, to, models.UploadAction(json.RawMessage("{\"id\":\"a\",\"t\":\"\xff\"}")))
		}, 0, "a", []string{"UTF-8"}},
		{"a document without its key", &Table{KeyField: "sku"}, func(tx Execer, to *Table) error {
			return Write(context.Background(), tx, to, models.UploadAction(map[string]any{"n": 1}))
		}, 0, "", []string{"sku"}},
		{"a type without a known key", &Table{}, func(tx Execer, to *Table) error {
			return Write(context.Background(), tx, to, models.UploadAction(map[string]any{"id": "1"}))
		}, 0, "", []string{"Table.KeyField", `search:"key"`}},
		{"WriteKeys with an empty key", &Table{}, changed("a", "b", ""), 2, "", []string{"empty"}},
		{"WriteKeys with an illegal key", &Table{}, changed("a", "b/c"), 1, "b/c", []string{"a key can only contain letters, digits, underscore (_), dash (-) and equal sign (=)"}},
		{"WriteKeys with a zero byte", encoding, changed("a\x00"), 0, "a\x00", []string{"zero byte"}},
		{"WriteKeys that is not UTF-8", encoding, changed("a", "\xc3("), 1, "\xc3(", []string{"UTF-8"}},
		{"WriteKeys with a key that Key makes too long", encoding, changed(strings.Repeat("/", 1000)), 0, strings.Repeat("/", 1000), []string{"a key must not be longer than 1024 bytes"}},
	}
	onBoth(t, func(t *testing.T, db database) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				table := &Table{Dialect: db.dialect, Queue: keys.Hash(row.name), Key: row.table.Key, RawKey: row.table.RawKey, KeyField: row.table.KeyField}
				plain := &Table{Dialect: db.dialect, Queue: table.Queue}
				db.inTx(t, func(tx *sql.Tx) error {
					require.NoError(t, Write(t.Context(), tx, plain, models.UploadAction(gadget{ID: "before"})))
					c := &counting{Execer: tx}
					err := row.write(c, table)
					var refused *WriteError
					require.ErrorAs(t, err, &refused)
					require.Equal(t, row.index, refused.Index)
					require.Equal(t, row.key, refused.Key)
					for _, words := range append(row.says, fmt.Sprintf("action %d", row.index), "nothing was written") {
						require.ErrorContains(t, err, words)
					}
					require.Zero(t, c.n)
					return Write(t.Context(), tx, plain, models.UploadAction(gadget{ID: "after"}))
				})
				rows := rowsOf(t, db, table.Queue)
				require.Len(t, rows, 2)
				require.Equal(t, "after", rows[1].key)
			})
		}
	})
}

func TestWriteRefusesWhatIsNoTransactionAndAKeyWithoutARawKey(t *testing.T) {
	db := newSQLite(t)
	table := &Table{Dialect: SQLite, Queue: "q"}
	action := models.UploadAction(gadget{ID: "a"})
	for _, err := range []error{Write(t.Context(), db.DB, table, action), WriteKeys(t.Context(), db.DB, table, "a")} {
		require.ErrorContains(t, err, "got a *sql.DB")
		require.ErrorContains(t, err, "want the *sql.Tx")
	}
	require.ErrorContains(t, Write(t.Context(), nil, table, action), "the transaction is nil")
	require.ErrorContains(t, WriteKeys(t.Context(), nil, table, "a"), "the transaction is nil")
	db.inTx(t, func(tx *sql.Tx) error {
		encoding := &Table{Dialect: SQLite, Queue: "q", Key: keys.Encode}
		err := Write(t.Context(), tx, encoding, action)
		require.ErrorContains(t, err, "RawKey")
		require.ErrorContains(t, err, "WriteKeys")
		require.NoError(t, WriteKeys(t.Context(), tx, encoding, "a/b"))
		require.ErrorContains(t, Write(t.Context(), tx, nil, action), "the Table is nil")
		require.ErrorContains(t, WriteKeys(t.Context(), tx, nil, "a"), "the Table is nil")
		return nil
	})
	require.Len(t, rowsOf(t, db, "q"), 1)
}

func TestWhatIsRolledBackLeavesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "q"}
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		require.NoError(t, Write(t.Context(), tx, table, models.UploadAction(gadget{ID: "a"}), models.DeleteAction(gadget{ID: "b"})))
		require.NoError(t, WriteKeys(t.Context(), tx, table, "c"))
		require.NoError(t, tx.Rollback())
		require.Empty(t, rowsOf(t, db, "q"))
		require.ErrorContains(t, Write(t.Context(), tx, table, models.UploadAction(gadget{ID: "a"})), `writing to "q"`)
	})
}

func TestTablesThatMakeNoSenseNameAllThatIsWrong(t *testing.T) {
	err := (&Table{Dialect: "oracle", Queue: "a b", Prefix: "Big", Class: 8}).ready()
	for _, want := range []string{`unknown dialect "oracle"; use outbox.PostgreSQL or outbox.SQLite`, `got Queue "a b"`, `got Prefix "Big"`, "got Class 8, want 0 to 7"} {
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, (&Table{Queue: "q"}).ready(), "no Dialect: use outbox.PostgreSQL or outbox.SQLite")
	require.ErrorContains(t, (&Table{Dialect: SQLite, Queue: "q", Prefix: "a.b"}).ready(), "with a schema, which sqlite does not have")
	require.ErrorContains(t, (&Table{Dialect: SQLite, Queue: "q", Notify: true}).ready(), "Notify needs PostgreSQL")
	for _, queue := range []string{"", strings.Repeat("q", 129), "a'b", "a/b", "é"} {
		require.ErrorContains(t, (&Table{Dialect: SQLite, Queue: queue}).ready(), "want 1 to 128 letters")
	}
}

// randomKeys returns distinct keys of many kinds, which need encoding.
func randomKeys(n int) []string {
	rnd := rand.New(rand.NewPCG(15, 4))
	alphabets := [][]rune{
		[]rune("0123456789"), []rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_="),
		[]rune(" /.:'\"\\{}%?$,\t\n"), []rune("äöüßéèñçøåæœ"), []rune("東京大阪名古屋日本語漢字"), []rune("😀👩‍👧🇩🇪\U0010ffff\ufffd"),
	}
	seen := make(map[string]bool, n)
	all := make([]string, 0, n)
	for len(all) < n {
		length := 1 + rnd.IntN(20)
		if rnd.IntN(200) == 0 {
			length = 100 + rnd.IntN(80)
		}
		var b strings.Builder
		for alphabet := alphabets[rnd.IntN(len(alphabets))]; length > 0; length-- {
			if rnd.IntN(8) == 0 {
				alphabet = alphabets[rnd.IntN(len(alphabets))]
			}
			b.WriteRune(alphabet[rnd.IntN(len(alphabet))])
		}
		if key := b.String(); !seen[key] && keys.Validate(keys.Encode(key)) == nil && utf8.ValidString(key) {
			seen[key], all = true, append(all, key)
		}
	}
	return all
}

func TestTheBucketOfAKeyIsTheSameWhoeverHasWrittenIt(t *testing.T) {
	n := fewer(20_000)
	if os.Getenv("AZSEARCH_TEST_STRESS") != "" { // see internal/soak
		n = 100_000
	}
	all := randomKeys(n)
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "q", Key: keys.Encode, RawKey: func(doc any) (string, error) { return doc.(path).Path, nil }}
		actions := make([]models.IndexDocumentsAction[path], n)
		for i, k := range all {
			actions[i] = models.DeleteAction(path{keys.Encode(k), k})
		}
		actions[0].Type = models.ActionTypeUpload
		db.inTx(t, func(tx *sql.Tx) error { return Write(t.Context(), tx, table, actions...) })
		db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, all...) })
		db.exec(t, `CREATE TABLE app (id text)`)
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "app", "id"))
		byHand(t, db, all)
		ways := 3
		if db.dialect == PostgreSQL {
			ways = 4
		}
		var groups, different, lowest, highest int
		row := db.QueryRowContext(t.Context(), `SELECT count(*), coalesce(sum(CASE WHEN n <> `+fmt.Sprint(ways)+` OR low <> high THEN 1 ELSE 0 END), 0), min(low), max(high) FROM (
			SELECT key, count(*) AS n, min(bucket) AS low, max(bucket) AS high FROM azsearch_outbox GROUP BY key) g`)
		require.NoError(t, row.Scan(&groups, &different, &lowest, &highest))
		require.Equal(t, n, groups)
		require.Zero(t, different)
		require.Zero(t, lowest)
		require.Equal(t, Buckets-1, highest)
	})
}

// byHand writes keys by the trigger of the table app, and by COPY where available.
func byHand(t *testing.T, db database, all []string) {
	t.Helper()
	if db.dialect == SQLite {
		text, err := json.Marshal(all)
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), `INSERT INTO app (id) SELECT value FROM json_each(?1)`, string(text))
		require.NoError(t, err)
		return
	}
	rows := make([][]any, len(all))
	for i, k := range all {
		rows[i] = []any{"copied", k}
	}
	c, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Raw(func(conn any) error {
		to := conn.(*stdlib.Conn).Conn()
		if _, err := to.CopyFrom(t.Context(), pgx.Identifier{"azsearch_outbox"}, []string{"queue", "key"}, pgx.CopyFromRows(rows)); err != nil {
			return err
		}
		for _, r := range rows {
			r[0] = 0
		}
		_, err := to.CopyFrom(t.Context(), pgx.Identifier{"app"}, []string{"id"}, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) { return rows[i][1:], nil }))
		return err
	}))
}

// keyKinds returns typical kinds of keys, as functions of a number.
func keyKinds(rnd *rand.Rand) map[string]func(i int) string {
	random := func() []byte {
		b := make([]byte, 16)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	return map[string]func(i int) string{
		"numbers one after the other": func(i int) string { return fmt.Sprint(i + 1) },
		"large numbers":               func(i int) string { return fmt.Sprint(int64(7_340_000_000_000_000) + int64(i)*3) },
		"numbers with zeros in front": func(i int) string { return fmt.Sprintf("%012d", i) },
		"numbers behind a word":       func(i int) string { return fmt.Sprint("product-", i) },
		"numbers before a word":       func(i int) string { return fmt.Sprint(i, "-product") },
		"two numbers":                 func(i int) string { return fmt.Sprint(i/100, "/", i%100) },
		"even numbers":                func(i int) string { return fmt.Sprint(2 * i) },
		"thousands":                   func(i int) string { return fmt.Sprint(1000 * i) },
		"random UUIDs":                func(int) string { u, _ := uuid.FromBytes(random()); return u.String() },
		"UUIDs in capitals":           func(int) string { u, _ := uuid.FromBytes(random()); return strings.ToUpper(u.String()) },
		"UUIDs in the order of time": func(i int) string {
			return fmt.Sprintf("019a%08x-7%03x-8%03x-%012x", i/50, i%4096, rnd.IntN(4096), rnd.Int64N(1<<48))
		},
		"UUIDs of version 1": func(i int) string {
			return fmt.Sprintf("%08x-%04x-11f0-8a3c-00805f9b34fb", uint32(i*317_000_003), i/500)
		},
		"hexadecimal numbers": func(i int) string { return fmt.Sprintf("%x", i*7) },
	}
}

func TestKeysAreSpreadOverTheBuckets(t *testing.T) {
	const n = 10_000
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "q", Key: keys.Encode}
		for name, key := range keyKinds(rand.New(rand.NewPCG(1, 2))) { // a local source: databases are tested in parallel
			t.Run(name, func(t *testing.T) {
				all := make([]string, n)
				for i := range all {
					all[i] = key(i)
				}
				tx, err := db.BeginTx(t.Context(), nil)
				require.NoError(t, err)
				defer func() { _ = tx.Rollback() }()
				require.NoError(t, WriteKeys(t.Context(), tx, table, all...))
				var buckets, parts [Buckets]float64
				require.NoError(t, sqlkit.Each(t.Context(), tx, func(rows *sql.Rows) error {
					var bucket int
					err := rows.Scan(&bucket)
					buckets[bucket]++
					parts[bucket/rangeBuckets]++
					return err
				}, `SELECT bucket FROM azsearch_outbox`))
				most := slices.Max(parts[:]) / (n / ranges)
				t.Logf("the largest range has %.2f times the mean, the largest bucket %.2f times", most, slices.Max(buckets[:])/(float64(n)/Buckets))
				require.Less(t, most, 2., "relays share ranges")
			})
		}
	})
}
