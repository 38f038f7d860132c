package outbox

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

// uploaded is an action that a Loader or an Export returns.
func uploaded(key string, n int) models.RawAction {
	return models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: json.RawMessage(fmt.Sprintf(`{"id":%q,"n":%d}`, key, n))}
}

// asked is a Loader that records the requested keys.
type asked struct {
	mu     sync.Mutex
	calls  [][]string
	answer func(keys []string) ([]models.RawAction, error)
}

func (a *asked) loader() Loader {
	return LoadRaw(func(_ context.Context, keys []string) ([]models.RawAction, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.calls = append(a.calls, keys)
		return a.answer(keys)
	})
}

func (a *asked) times() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.calls)
}

func changes(t testing.TB, db database, table *Table, keys ...string) {
	t.Helper()
	db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, keys...) })
}

func TestKeysThatTheLoaderDoesNotFindAreDeletedAndOthersHaveWhatItFinds(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		sender, service := realSender(t)
		table := &Table{Dialect: db.dialect, Queue: "q", Key: keys.Encode}
		truth := map[string]gadget{"/a": {N: 1}, "/b": {N: 2}}
		var mu sync.Mutex
		tryRelay(t, db, table, sender.Raw(), RelayOptions{Loader: Load(func(_ context.Context, asked []string) (all []models.IndexDocumentsAction[gadget], err error) {
			mu.Lock()
			defer mu.Unlock()
			for _, k := range asked {
				if doc, there := truth[k]; there {
					doc.ID = keys.Encode(k)
					all = append(all, models.UploadAction(doc))
				}
			}
			return all, nil
		})})
		changes(t, db, table, "/a", "/b", "/none")
		emptied(t, db, table)
		require.ElementsMatch(t, []string{keys.Encode("/a"), keys.Encode("/b")}, service.DocumentKeys("gadgets"))
		mu.Lock()
		delete(truth, "/a")
		truth["/b"] = gadget{N: 3}
		mu.Unlock()
		changes(t, db, table, "/b", "/a", "/a")
		emptied(t, db, table)
		require.Equal(t, []string{keys.Encode("/b")}, service.DocumentKeys("gadgets"))
		text, _ := service.Document("gadgets", keys.Encode("/b"))
		require.Contains(t, string(text), `"n":3`)
	})
}

func TestTheLoaderIsAskedForManyKeysAtOnceAndOnceForEach(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		a := &asked{answer: func([]string) ([]models.RawAction, error) { return nil, nil }}
		for range 3 {
			var all []string
			for i := range 1500 {
				all = append(all, fmt.Sprint("k", i))
			}
			changes(t, db, table, all...)
		}
		r := tryRelay(t, db, table, to, RelayOptions{maxRows: 1 << 20, Loader: a.loader()})
		to.info.MaxBufferedActions = 20_000
		emptied(t, db, table)
		require.Equal(t, r.Stats().Loaded, r.Stats().Sent)
		require.Less(t, a.times(), 20)
		for _, call := range a.calls {
			require.LessOrEqual(t, len(call), 1000)
			slices.Sort(call)
			require.Len(t, slices.Compact(call), len(call))
		}
	})
}

// Two of a thousand keys are poison: the Loader fails for every list with one of them.
func TestAKeyThatTheLoaderFailsForHoldsNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		var log bytes.Buffer
		poison := map[string]bool{"k3": true, "k700": true}
		a := &asked{}
		a.answer = func(keys []string) (all []models.RawAction, err error) {
			for _, k := range keys {
				if poison[k] {
					return nil, errors.New("a hotel without a name")
				}
				all = append(all, uploaded(k, 7))
			}
			return all, nil
		}
		to.info.MaxBufferedActions = 20_000
		var keys []string
		for i := range 1000 {
			keys = append(keys, fmt.Sprint("k", i))
		}
		changes(t, db, table, keys...)
		r := tryRelay(t, db, table, to, calm(RelayOptions{Loader: a.loader(), Logger: logTo(&log)}))
		passes(3 * time.Second)
		rows := rowsOf(t, db, "q")
		require.Len(t, rows, 2)
		require.Equal(t, 998, len(to.all()))
		require.Less(t, a.times(), 60)
		require.ErrorContains(t, r.Ready(), "a hotel without a name")
		require.Positive(t, r.Stats().Failed)
		changes(t, db, table, "new")
		passes(time.Second)
		require.Equal(t, 1, to.count("new"))
		passes(10 * time.Minute)
		require.Less(t, a.times(), 100, "retries become rarer")
		require.Less(t, strings.Count(log.String(), "without a name"), 8, log.String())
		a.mu.Lock()
		clear(poison)
		a.mu.Unlock()
		passes(6 * time.Minute)
		require.Empty(t, rowsOf(t, db, "q"))
		require.NoError(t, r.Ready())
		require.Contains(t, log.String(), "outbox: recovered")
	})
}

// For example a locked table.
func TestALoaderThatDoesNotReturnIsNamed(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to, log, over := &Table{Dialect: SQLite, Queue: "q"}, newScripted(), new(bytes.Buffer), make(chan struct{})
		changes(t, db, table, "a")
		r := tryRelay(t, db, table, to, calm(RelayOptions{Logger: logTo(log), Loader: LoadRaw(func(_ context.Context, keys []string) ([]models.RawAction, error) {
			<-over
			return []models.RawAction{uploaded(keys[0], 1)}, nil
		})}))
		passes(9 * time.Second)
		require.NoError(t, r.Ready())
		passes(5 * time.Second)
		require.ErrorContains(t, r.Ready(), "outbox: call has not returned for ten seconds: Loader")
		passes(time.Minute)
		require.Equal(t, 1, strings.Count(log.String(), "has not returned"))
		close(over)
		passes(time.Second)
		require.NoError(t, r.Ready())
		require.Contains(t, log.String(), "outbox: recovered")
		require.Equal(t, 1, to.count("a"))
		r.log(slog.LevelWarn, "nothing has failed", nil)
		require.NotContains(t, log.String(), "<nil>")
	})
}

func TestAfterAnErrorOfTheLoaderKeysWaitAndAreAskedForAgain(t *testing.T) {
	for name, row := range map[string]func(keys []string) ([]models.RawAction, error){
		"an error":                     func([]string) ([]models.RawAction, error) { return nil, errors.New("the database is down") },
		"a panic":                      func([]string) ([]models.RawAction, error) { panic("nil map") },
		"a key that was not requested": func([]string) ([]models.RawAction, error) { return []models.RawAction{uploaded("other", 1)}, nil },
		"a key twice": func(keys []string) ([]models.RawAction, error) {
			return []models.RawAction{uploaded(keys[0], 1), uploaded(keys[0], 2)}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, db database) {
				table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
				broken := true
				a := &asked{}
				a.answer = func(keys []string) (all []models.RawAction, err error) {
					if broken {
						return row(keys)
					}
					for _, k := range keys {
						all = append(all, uploaded(k, 7))
					}
					return all, nil
				}
				changes(t, db, table, "a", "b")
				r := tryRelay(t, db, table, to, calm(RelayOptions{Loader: a.loader()}))
				passes(10 * time.Second)
				require.GreaterOrEqual(t, a.times(), 3)
				require.LessOrEqual(t, a.times(), 12, "retries become rarer")
				require.Empty(t, to.all())
				require.Len(t, rowsOf(t, db, "q"), 2)
				require.ErrorContains(t, r.Ready(), "Loader")
				uploads(t, db, table, gadget{ID: "c"})
				passes(time.Second)
				require.Equal(t, []string{"c"}, to.keys(), "rows with a body continue")
				a.mu.Lock()
				broken = false
				a.mu.Unlock()
				passes(time.Minute)
				require.Empty(t, rowsOf(t, db, "q"))
				require.Equal(t, 1, to.count("a"))
				require.NoError(t, r.Ready())
			})
		})
	}
}

func TestADocumentOfTheLoaderThatCannotBeSentIsADeadLetterAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		to.reject = func(a models.RawAction) bool { return a.Key == "rejected" }
		changes(t, db, table, "a", "type", "large", "rejected", "b")
		tryRelay(t, db, table, to, RelayOptions{Loader: Load(func(_ context.Context, keys []string) (all []models.IndexDocumentsAction[gadget], err error) {
			for _, k := range keys {
				action := models.UploadAction(gadget{ID: k})
				switch k {
				case "type":
					action.Type = "Upload"
				case "large":
					action.Document.Text = strings.Repeat("x", maxBody)
				}
				all = append(all, action)
			}
			return all, nil
		})})
		emptied(t, db, table)
		letters, err := table.DeadLetters(t.Context(), db, 0, 10)
		require.NoError(t, err)
		says := map[string]string{}
		for _, l := range letters {
			require.Empty(t, l.Op)
			says[l.Key] = l.Message
		}
		require.Len(t, says, 3)
		require.Contains(t, says["type"], `"Upload"`)
		require.Contains(t, says["large"], "want at most")
		require.Contains(t, says["rejected"], "not fit")
		require.ElementsMatch(t, []string{"a", "b"}, to.keys())
	})
}

func TestRowsWithKeysOnlyWaitForALoader(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		changes(t, db, table, "a")
		uploads(t, db, table, gadget{ID: "b"})
		var log strings.Builder
		r := tryRelay(t, db, table, to, RelayOptions{Logger: logTo(&log)})
		passes(5 * time.Second)
		require.NoError(t, r.end())
		require.Equal(t, []string{"b"}, to.keys())
		require.Contains(t, log.String(), "RelayOptions.Loader is not set")
		tryRelay(t, db, table, to, RelayOptions{Loader: deletesAll})
		emptied(t, db, table)
	})
}

// inverted is an index of words, each with its documents.
type inverted struct {
	mu   sync.Mutex
	docs map[string]map[string]bool // words by document, as of the last export
}

// export deletes the old entries of a document and writes its new ones.
func (x *inverted) export(_ context.Context, r Row) (all []models.RawAction, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := map[string]bool{}
	if r.Op != models.ActionTypeDelete {
		var doc gadget
		if err := json.Unmarshal(r.Body, &doc); err != nil {
			return nil, err
		}
		for _, word := range strings.Fields(doc.Text) {
			now[word] = true
		}
	}
	for word := range x.docs[r.Key] {
		if !now[word] {
			all = append(all, models.RawAction{Key: word + "-" + r.Key, Type: models.ActionTypeDelete})
		}
	}
	for word := range now {
		all = append(all, uploaded(word+"-"+r.Key, 1))
	}
	x.docs[r.Key] = now
	return all, nil
}

func TestAnInvertedIndexFollowsTheRows(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		sender, service := realSender(t)
		table, x := &Table{Dialect: db.dialect, Queue: "q"}, &inverted{docs: map[string]map[string]bool{}}
		tryRelay(t, db, table, sender.Raw(), RelayOptions{Export: x.export})
		uploads(t, db, table, gadget{ID: "1", Text: "red hotel"}, gadget{ID: "2", Text: "blue hotel"}, gadget{ID: "1", Text: "green hotel"}, gadget{ID: "3"})
		db.inTx(t, func(tx *sql.Tx) error { return Write(t.Context(), tx, table, models.DeleteAction(gadget{ID: "2"})) })
		emptied(t, db, table)
		require.ElementsMatch(t, []string{"green-1", "hotel-1"}, service.DocumentKeys("gadgets"))
	})
}

func TestAnExportedRowIsDeletedWhenAllOfItsActionsAreConfirmedAndTheNextOneOfItsKeyComesThen(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		to.holds = true
		var mu sync.Mutex
		var exported []string
		tryRelay(t, db, table, to, RelayOptions{Export: func(_ context.Context, r Row) ([]models.RawAction, error) {
			mu.Lock()
			defer mu.Unlock()
			exported = append(exported, fmt.Sprint(r.Key, r.Seq, string(r.Op)))
			return []models.RawAction{uploaded("x-"+r.Key, int(r.Seq)), uploaded("y-"+r.Key, int(r.Seq)), uploaded("x-"+r.Key, int(r.Seq)+1)}, nil
		}})
		uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "a"}, gadget{ID: "b"})
		passes(time.Second)
		require.Equal(t, []string{"a1upload", "b3upload"}, exported)
		require.Equal(t, []string{"x-a", "y-a", "x-a", "x-b", "y-b", "x-b"}, to.keys())
		for i := range 2 { // of the three actions of a
			to.set(func() {
				held := to.held[0]
				to.held = to.held[1:]
				held.OnOutcome(models.Outcome{})
			})
			passes(time.Second)
			require.Len(t, rowsOf(t, db, "q"), 3, i)
			require.Len(t, exported, 2)
		}
		to.set(func() {
			to.held[0].OnOutcome(models.Outcome{})
			to.held = to.held[1:]
		})
		passes(time.Second)
		require.Len(t, rowsOf(t, db, "q"), 2)
		require.Equal(t, []string{"a1upload", "b3upload", "a2upload"}, exported)
		to.release()
		emptied(t, db, table)
	})
}

func TestAnExportWithoutActionsIsDoneAndOneThatFailsIsExportedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		times := map[string]int{}
		var bodies []string
		var mu sync.Mutex
		r := tryRelay(t, db, table, to, calm(RelayOptions{Export: func(_ context.Context, r Row) ([]models.RawAction, error) {
			mu.Lock()
			defer mu.Unlock()
			times[r.Key]++
			bodies = append(bodies, string(r.Body))
			switch {
			case r.Key == "none":
				return nil, nil
			case r.Key == "error" && times[r.Key] < 3:
				return nil, errors.New("not now")
			case r.Key == "panic" && times[r.Key] < 3:
				panic("not now")
			case r.Key == "partly" && times[r.Key] < 2:
				return []models.RawAction{uploaded("good", 1), uploaded("failing", 1)}, nil
			}
			return []models.RawAction{uploaded("of-"+r.Key, r.Attempts)}, nil
		}}))
		to.answer = func(a models.RawAction) models.Outcome {
			if a.Key == "failing" {
				return failing(models.ReasonBusy)
			}
			return models.Outcome{}
		}
		uploads(t, db, table, gadget{ID: "none"}, gadget{ID: "error"}, gadget{ID: "panic"}, gadget{ID: "partly"}, gadget{ID: "fine"})
		changes(t, db, table, "key")
		passes(400 * time.Millisecond)
		require.Contains(t, to.keys(), "of-fine", "other keys do not wait")
		require.Contains(t, to.keys(), "of-key")
		require.Len(t, rowsOf(t, db, "q"), 3)
		passes(30 * time.Second)
		require.Empty(t, rowsOf(t, db, "q"))
		require.Equal(t, map[string]int{"none": 1, "error": 3, "panic": 3, "partly": 2, "fine": 1, "key": 1}, times)
		require.NotContains(t, bodies[len(bodies)-1:], "", "the row has its body again after a back-off")
		require.EqualValues(t, 5, r.Stats().Failed)
	})
}

func TestAnExportWithARefusedActionIsADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		to.refuse("bad")
		tryRelay(t, db, table, to, RelayOptions{Export: func(_ context.Context, r Row) ([]models.RawAction, error) {
			if r.Seq == 1 {
				return []models.RawAction{uploaded("good", 1), uploaded("bad", 1), uploaded("good-too", 1)}, nil
			}
			return []models.RawAction{uploaded("next", 2)}, nil
		}})
		uploads(t, db, table, gadget{ID: "a", N: 1}, gadget{ID: "a", N: 2})
		emptied(t, db, table)
		require.Equal(t, []string{"good", "bad", "good-too", "next"}, to.keys())
		letters, err := table.DeadLetters(t.Context(), db, 0, 10)
		require.NoError(t, err)
		require.Len(t, letters, 1)
		require.Equal(t, "a", letters[0].Key)
		require.JSONEq(t, `{"id":"a","n":1}`, string(letters[0].Body))
	})
}

func TestAnExportOfMoreActionsThanARequestTakesArrives(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		sender, service := realSender(t)
		table := &Table{Dialect: db.dialect, Queue: "q"}
		tryRelay(t, db, table, sender.Raw(), RelayOptions{Export: func(_ context.Context, r Row) (all []models.RawAction, err error) {
			for i := range 2500 {
				all = append(all, uploaded(fmt.Sprint(r.Key, "-", i), i))
			}
			return all, nil
		}})
		uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "b"})
		emptied(t, db, table)
		require.EqualValues(t, 5000, service.DocumentCount("gadgets"))
	})
}
