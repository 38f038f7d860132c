package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// lettersOf returns all dead letters.
func lettersOf(t testing.TB, db database, table *Table) []DeadLetter {
	t.Helper()
	all, err := table.DeadLetters(context.Background(), db, 0, 100_000)
	require.NoError(t, err)
	return all
}

// bury makes dead letters of documents that are refused for good.
func bury(t testing.TB, db database, table *Table, docs ...gadget) {
	t.Helper()
	was := len(lettersOf(t, db, table))
	to := newScripted()
	to.answer = func(models.RawAction) models.Outcome { return failing(models.ReasonDocument) }
	r := tryRelay(t, db, table, to, RelayOptions{Loader: deletesAll})
	uploads(t, db, table, docs...)
	emptied(t, db, table)
	require.NoError(t, r.end())
	require.Len(t, lettersOf(t, db, table), was+len(docs))
}

func TestAKeyThatChangesAllTheTimeIsSentAFewTimesAndEndsAsItIs(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		sender, service := realSender(t)
		table := &Table{Dialect: db.dialect, Queue: "q"}
		db.inTx(t, func(tx *sql.Tx) error {
			var err error
			for i := range 1000 {
				err = errors.Join(err, Write(t.Context(), tx, table, models.UploadAction(gadget{ID: "hot", N: i})))
			}
			return err
		})
		r := tryRelay(t, db, table, sender.Raw(), RelayOptions{})
		emptied(t, db, table)
		testkit.Eventually(t, func() bool { return r.Stats().Deleted == 1000 }, "the deletes are counted")
		require.LessOrEqual(t, r.Stats().Sent, int64(5))
		require.Equal(t, 1000-r.Stats().Sent, r.Stats().Folded)
		require.LessOrEqual(t, len(service.History("gadgets", "hot")), 5)
		text, _ := service.Document("gadgets", "hot")
		require.Contains(t, string(text), `"n":999`)
	})
}

func TestRowsOfAKeyEndAsIfEachHadBeenSent(t *testing.T) {
	merge := func(text string) models.RawAction {
		return models.RawAction{Type: models.ActionTypeMergeOrUpload, Document: json.RawMessage(text)}
	}
	upload := func(text string) models.RawAction {
		return models.RawAction{Type: models.ActionTypeUpload, Document: json.RawMessage(text)}
	}
	remove := models.RawAction{Type: models.ActionTypeDelete}
	for name, row := range map[string]struct {
		rows []models.RawAction
		want string // "" means that there is no document
		sent int
	}{
		"the last upload wins":                         {[]models.RawAction{upload(`{"id":"k","n":1,"text":"x"}`), upload(`{"id":"k","n":2}`)}, `{"id":"k","n":2}`, 1},
		"merges become one merge":                      {[]models.RawAction{merge(`{"id":"k","n":1}`), merge(`{"id":"k","text":"x"}`), merge(`{"id":"k","n":3}`)}, `{"id":"k","n":3,"text":"x"}`, 1},
		"a merge is folded into an upload":             {[]models.RawAction{upload(`{"id":"k","n":1,"text":"x"}`), merge(`{"id":"k","n":2}`)}, `{"id":"k","n":2,"text":"x"}`, 1},
		"an upload makes merges superfluous":           {[]models.RawAction{merge(`{"id":"k","text":"x"}`), upload(`{"id":"k","n":2}`)}, `{"id":"k","n":2}`, 1},
		"a delete replaces earlier actions":            {[]models.RawAction{upload(`{"id":"k","n":1}`), merge(`{"id":"k","n":2}`), remove}, "", 1},
		"a delete and then an upload":                  {[]models.RawAction{upload(`{"id":"k","n":1,"text":"x"}`), remove, upload(`{"id":"k","n":2}`)}, `{"id":"k","n":2}`, 1},
		"a merge after a delete restores no old value": {[]models.RawAction{upload(`{"id":"k","n":1,"text":"x"}`), remove, merge(`{"id":"k","n":2}`)}, `{"id":"k","n":2}`, 2},
		"two deletes":                                  {[]models.RawAction{upload(`{"id":"k"}`), remove, remove}, "", 1},
		"null is a value, and the last one counts":     {[]models.RawAction{upload(`{"id":"k","n":1,"text":"x"}`), merge(`{"id":"k","text":null}`)}, `{"id":"k","n":1}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			db := newSQLite(t)
			sender, service := realSender(t)
			table := &Table{Dialect: SQLite, Queue: "q", KeyField: "id"}
			db.inTx(t, func(tx *sql.Tx) error {
				var err error
				for _, a := range row.rows {
					if a.Type == models.ActionTypeDelete {
						a.Document = json.RawMessage(`{"id":"k"}`)
					}
					err = errors.Join(err, Write(t.Context(), tx, table, models.IndexDocumentsAction[json.RawMessage]{Type: a.Type, Document: a.Document}))
				}
				return err
			})
			r := tryRelay(t, db, table, sender.Raw(), RelayOptions{})
			emptied(t, db, table)
			testkit.Eventually(t, func() bool { return r.Stats().Deleted == int64(len(row.rows)) }, "the deletes are counted")
			require.LessOrEqual(t, r.Stats().Sent, int64(row.sent))
			text, there := service.Document("gadgets", "k")
			require.Equal(t, row.want != "", there)
			if there {
				var got map[string]any
				require.NoError(t, json.Unmarshal(text, &got))
				for name, v := range got {
					if v == nil || name == "ids" {
						delete(got, name)
					}
				}
				text, err := json.Marshal(got)
				require.NoError(t, err)
				require.JSONEq(t, row.want, string(text))
			}
		})
	}
}

func TestADocumentThatIsRefusedBecomesADeadLetterAloneAndItsNeighboursAreApplied(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		sender, service := realSender(t)
		table := &Table{Dialect: db.dialect, Queue: "q", KeyField: "id", Class: 1}
		write := func(tx Execer, typ models.ActionType, text string) error {
			return Write(t.Context(), tx, table, models.IndexDocumentsAction[json.RawMessage]{Type: typ, Document: json.RawMessage(text)})
		}
		db.inTx(t, func(tx *sql.Tx) error {
			return errors.Join(
				write(tx, models.ActionTypeUpload, `{"id":"k","n":1}`),
				write(tx, models.ActionTypeMerge, `{"id":"k","text":"x"}`),
				write(tx, models.ActionTypeMerge, `{"id":"k","n":"no number"}`),
				write(tx, models.ActionTypeMerge, `{"id":"k","more":1.5}`),
				write(tx, models.ActionTypeUpload, `{"id":"other","n":1}`))
		})
		var mu sync.Mutex
		var told []DeadLetter
		r := tryRelay(t, db, table, sender.Raw(), RelayOptions{Dead: func(l DeadLetter) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, l)
			panic("of the program, which is logged")
		}})
		emptied(t, db, table)
		text, _ := service.Document("gadgets", "k")
		for _, part := range []string{`"n":1`, `"text":"x"`, `"more":1.5`} {
			require.Contains(t, string(text), part)
		}
		testkit.Eventually(t, func() bool { return r.Stats().Dead == 1 }, "the dead letter is counted")
		mu.Lock()
		defer mu.Unlock()
		letters := lettersOf(t, db, table)
		require.Len(t, letters, 1)
		l := letters[0]
		require.Equal(t, "k", l.Key)
		require.EqualValues(t, 3, l.Seq)
		require.EqualValues(t, 1, l.Class)
		require.Equal(t, models.ActionTypeMerge, l.Op)
		require.JSONEq(t, `{"id":"k","n":"no number"}`, string(l.Body))
		require.Equal(t, 400, l.Status)
		require.Equal(t, "document", l.Reason)
		require.NotEmpty(t, l.Message)
		require.WithinDuration(t, time.Now(), l.Died, time.Minute)
		require.WithinDuration(t, l.Died, l.Written, time.Minute)
		require.Len(t, told, 1)
		told[0].Died, told[0].Newer = l.Died, l.Newer
		require.Equal(t, l, told[0], "the program gets the rows of the table")
		testkit.Eventually(t, func() bool { return lettersOf(t, db, table)[0].Newer == 4 }, "a later row was applied")
	})
}

func TestADeadLetterSaysHowOftenItsRowWasTried(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		var mu sync.Mutex
		var told []DeadLetter
		tryRelay(t, db, table, to, RelayOptions{Dead: func(l DeadLetter) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, l)
		}})
		to.set(func() { to.answer = func(models.RawAction) models.Outcome { return failing(models.ReasonBusy) } })
		uploads(t, db, table, gadget{ID: "a"})
		passes(5 * time.Second)
		to.refuse("a")
		passes(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		require.Len(t, told, 1)
		require.Greater(t, told[0].Attempts, 2)
		require.Equal(t, lettersOf(t, db, table)[0].Attempts, told[0].Attempts)
	})
}

func TestAPanicOfTheKeyFunctionIsADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		uploads(t, db, table, gadget{ID: "short"}, gadget{ID: "long-enough"})
		sliced := &Table{Dialect: SQLite, Queue: "q", Key: func(raw string) string { return raw[:8] }, RawKey: func(any) (string, error) { return "", nil }}
		to.set(func() {
			to.answer = func(a models.RawAction) models.Outcome {
				if a.Key == "" {
					return failing(models.ReasonDocument) // as a sender refuses it
				}
				return models.Outcome{}
			}
		})
		tryRelay(t, db, sliced, to, RelayOptions{})
		passes(time.Minute)
		require.Empty(t, rowsOf(t, db, "q"))
		require.Equal(t, "short", lettersOf(t, db, table)[0].Key)
	})
}

func TestAKeyThatFailsWaitsEverLongerWhileOthersGoOn(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		var times []time.Duration
		began := time.Now()
		to.answer = func(a models.RawAction) models.Outcome {
			if a.Key == "stuck" && len(times) < 6 {
				times = append(times, time.Since(began))
				return failing(models.ReasonQuota)
			}
			return models.Outcome{}
		}
		r := tryRelay(t, db, table, to, calm(RelayOptions{}))
		uploads(t, db, table, gadget{ID: "stuck", N: 1}, gadget{ID: "fine", N: 1})
		passes(time.Second / 4)
		uploads(t, db, table, gadget{ID: "fine", N: 2}, gadget{ID: "stuck", N: 2})
		passes(time.Second / 4)
		require.Equal(t, 2, to.count("fine"))
		require.EqualValues(t, 2, r.Stats().Aside)
		passes(3 * time.Minute)
		require.Empty(t, rowsOf(t, db, "q"))
		to.set(func() {
			require.Len(t, times, 6)
			for i := range 5 {
				waited, most := times[i+1]-times[i], time.Second<<i
				require.GreaterOrEqual(t, waited, most/2, i)
				require.LessOrEqual(t, waited, most+time.Second/2, i)
			}
		})
	})
}

func TestSeqFieldIsInDocumentsAndGrowsPerKeyAndDeletesLeaveTombstones(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		sender, service := realSender(t)
		table := &Table{Dialect: db.dialect, Queue: "q"}
		tryRelay(t, db, table, sender.Raw(), RelayOptions{SeqField: "seq", Loader: LoadRaw(func(_ context.Context, keys []string) (all []models.RawAction, err error) {
			for _, k := range keys {
				if k != "gone" {
					all = append(all, uploaded(k, 5))
				}
			}
			return all, nil
		})})
		last := int64(0)
		for i := range 3 {
			uploads(t, db, table, gadget{ID: "a", N: i})
			emptied(t, db, table)
			var got struct{ Seq int64 }
			text, _ := service.Document("gadgets", "a")
			require.NoError(t, json.Unmarshal(text, &got))
			require.Greater(t, got.Seq, last)
			last = got.Seq
		}
		changes(t, db, table, "a", "gone")
		db.inTx(t, func(tx *sql.Tx) error {
			return Write(t.Context(), tx, table, models.DeleteAction(gadget{ID: "b"}), models.MergeOrUploadAction(gadget{ID: "c"}))
		})
		emptied(t, db, table)
		var got struct{ Seq int64 }
		text, _ := service.Document("gadgets", "a")
		require.NoError(t, json.Unmarshal(text, &got))
		require.Greater(t, got.Seq, last, "the row with only a key is newer")
		tombs, err := table.Tombstones(t.Context(), db, "a", "b", "c", "never")
		require.NoError(t, err)
		require.Len(t, tombs, 1)
		require.Greater(t, tombs["b"], last)
		tombs, err = table.Tombstones(t.Context(), db, "gone")
		require.NoError(t, err)
		require.Greater(t, tombs["gone"], last, "a delete that the Loader has found")
	})
}

// numbered is a document with the field that SeqField names, in the index's type.
type numbered struct {
	ID  string `json:"id" search:"key"`
	Seq int64  `json:"seq"`
}

func TestSeqFieldReplacesTheOneThatTheDocumentHas(t *testing.T) {
	db := newSQLite(t)
	sender, service := realSender(t)
	table := &Table{Dialect: SQLite, Queue: "q"}
	tryRelay(t, db, table, sender.Raw(), RelayOptions{SeqField: "seq"})
	db.inTx(t, func(tx *sql.Tx) error { return Write(t.Context(), tx, table, models.UploadAction(numbered{ID: "a"})) })
	emptied(t, db, table)
	require.Empty(t, lettersOf(t, db, table))
	text, there := service.Document("gadgets", "a")
	require.True(t, there)
	require.Contains(t, string(text), `"seq":1`)
}

func TestTombstonesAreForgottenAfterTombstonesFor(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		db.inTx(t, func(tx *sql.Tx) error { return Write(t.Context(), tx, table, models.DeleteAction(gadget{ID: "a"})) })
		tryRelay(t, db, table, to, RelayOptions{SeqField: "seq", TombstonesFor: time.Minute, Poll: 10 * time.Minute, fullPass: time.Hour, renew: 10 * time.Minute, Lease: 24 * time.Hour})
		passes(time.Second)
		tombs, err := table.Tombstones(t.Context(), db, "a")
		require.NoError(t, err)
		require.Len(t, tombs, 1)
		passes(6 * time.Hour)
		tombs, err = table.Tombstones(t.Context(), db, "a")
		require.NoError(t, err)
		require.Empty(t, tombs)
	})
}

func TestDeadLettersComeInPagesInTheOrderOfTheirNumbers(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "q"}
		var docs []gadget
		for i := range 25 {
			docs = append(docs, gadget{ID: fmt.Sprint("k", i), Text: strings.Repeat("東", i)})
		}
		bury(t, db, table, docs...)
		var got []string
		for after := int64(0); ; {
			page, err := table.DeadLetters(t.Context(), db, after, 10)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page), 10)
			for _, l := range page {
				require.Greater(t, l.Seq, after)
				after = l.Seq
				got = append(got, l.Key)
			}
			if len(page) == 0 {
				break
			}
		}
		for i, d := range docs {
			require.Equal(t, d.ID, got[i])
		}
		for _, limit := range []int{0, -1} {
			page, err := table.DeadLetters(t.Context(), db, 0, limit)
			require.NoError(t, err)
			require.Empty(t, page)
		}
		letters := lettersOf(t, db, table)
		n, err := table.Discard(t.Context(), db, letters[0].Seq, letters[1].Seq, 999_999)
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		require.Equal(t, letters[2:], lettersOf(t, db, table))
		n, err = (&Table{Dialect: db.dialect, Queue: "other"}).Discard(t.Context(), db, letters[2].Seq)
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

func TestALetterThatIsRetriedIsARowAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		ctx := t.Context()
		table := &Table{Dialect: db.dialect, Queue: "q", Class: 4}
		bury(t, db, table, gadget{ID: "a", N: 1}, gadget{ID: "b"})
		letters := lettersOf(t, db, table)
		require.ErrorIs(t, table.Retry(ctx, db.DB, 999_999), ErrNoLetter)
		require.ErrorIs(t, (&Table{Dialect: db.dialect, Queue: "other"}).Retry(ctx, db.DB, letters[0].Seq), ErrNoLetter)
		tx, err := db.BeginTx(ctx, nil)
		require.NoError(t, err)
		require.NoError(t, table.Retry(ctx, tx, letters[0].Seq))
		require.NoError(t, tx.Rollback())
		require.Len(t, lettersOf(t, db, table), 2)
		require.Empty(t, rowsOf(t, db, "q"))
		require.NoError(t, table.Retry(ctx, db.DB, letters[0].Seq))
		require.ErrorIs(t, table.Retry(ctx, db.DB, letters[0].Seq), ErrNoLetter, "the dead letter was already retried")
		require.Len(t, lettersOf(t, db, table), 1)
		rows := rowsOf(t, db, "q")
		require.Len(t, rows, 1)
		require.Greater(t, rows[0].seq, letters[1].Seq, "the retried row has a new number")
		require.EqualValues(t, 4, rows[0].class)
		require.Equal(t, "upload", rows[0].op)
		require.JSONEq(t, `{"id":"a","n":1}`, rows[0].body.String)
		to := newScripted()
		tryRelay(t, db, table, to, RelayOptions{})
		emptied(t, db, table)
		require.Equal(t, []string{"a"}, to.keys())
	})
}

func TestALetterIsLeftWhenItsKeyHasLaterRows(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		ctx := t.Context()
		for name, later := range map[string]struct {
			happens func(table *Table)
			newer   bool
		}{
			"waiting rows of the key":     {func(table *Table) { uploads(t, db, table, gadget{ID: "a", N: 2}) }, true},
			"key-only rows of the key":    {func(table *Table) { changes(t, db, table, "a") }, true},
			"rows of another key":         {func(table *Table) { uploads(t, db, table, gadget{ID: "b"}) }, false},
			"applied rows of the key":     {func(table *Table) { applyAll(t, db, table, gadget{ID: "a", N: 2}) }, true},
			"applied rows of another key": {func(table *Table) { applyAll(t, db, table, gadget{ID: "b"}) }, false},
			"refused rows of the key":     {func(table *Table) { bury(t, db, table, gadget{ID: "a", N: 3}) }, false},
		} {
			t.Run(name, func(t *testing.T) {
				table := &Table{Dialect: db.dialect, Queue: strings.ReplaceAll(name, " ", "-")}
				bury(t, db, table, gadget{ID: "a", N: 1})
				letter := lettersOf(t, db, table)[0]
				later.happens(table)
				err := table.Retry(ctx, db.DB, letter.Seq)
				if !later.newer {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, ErrNewer)
				require.Len(t, lettersOf(t, db, table), 1)
			})
		}
		t.Run("a key-only dead letter can be retried", func(t *testing.T) {
			table := &Table{Dialect: db.dialect, Queue: "keys"}
			to := newScripted()
			to.answer = func(models.RawAction) models.Outcome { return failing(models.ReasonDocument) }
			r := tryRelay(t, db, table, to, RelayOptions{Loader: deletesAll})
			changes(t, db, table, "a")
			emptied(t, db, table)
			require.NoError(t, r.end())
			uploads(t, db, table, gadget{ID: "a"})
			letter := lettersOf(t, db, table)[0]
			require.Empty(t, letter.Op)
			require.NoError(t, table.Retry(ctx, db.DB, letter.Seq))
			require.Len(t, rowsOf(t, db, "keys"), 2)
		})
	})
}

// applyAll has the documents sent and applied.
func applyAll(t testing.TB, db database, table *Table, docs ...gadget) {
	t.Helper()
	r := tryRelay(t, db, table, newScripted(), RelayOptions{Loader: deletesAll})
	uploads(t, db, table, docs...)
	emptied(t, db, table)
	require.NoError(t, r.end())
}

// More dead letters than fit into one transaction, whose keys have later rows that are confirmed meanwhile.
func TestManyLettersAtOnceKnowWhatIsNewer(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		const n = 500
		db.inTx(t, func(tx *sql.Tx) error {
			var err error
			for i := range n {
				err = errors.Join(err, Write(t.Context(), tx, table, models.UploadAction(gadget{ID: fmt.Sprint("k", i), Text: "bad"}), models.MergeAction(gadget{ID: fmt.Sprint("k", i), N: 2})))
			}
			return err
		})
		to.answer = func(a models.RawAction) models.Outcome {
			if strings.Contains(string(a.Document), "bad") {
				return failing(models.ReasonDocument)
			}
			return models.Outcome{}
		}
		tryRelay(t, db, table, to, calm(RelayOptions{}))
		emptied(t, db, table)
		letters := lettersOf(t, db, table)
		require.Len(t, letters, n)
		without := 0
		for _, l := range letters {
			if l.Newer != l.Seq+1 {
				without++
			}
		}
		require.Zero(t, without, "dead letters with which Retry would overwrite newer documents")
	})
}
