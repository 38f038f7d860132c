package dashboard_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/dashboard"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const secretText = "the text of a document"

// service is an emulated service with an index "hotels".
func service(t *testing.T) (*searchtest.Server, *search.Client) {
	t.Helper()
	srv := searchtest.NewServer(nil)
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	require.NoError(t, srv.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"rating","type":"Edm.Int32"}]}`))
	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
	require.NoError(t, err)
	return srv, client
}

func newSender(t *testing.T, client *search.Client, recent *dashboard.Recent, name string) *bufferedsender.BufferedSender[models.Document] {
	t.Helper()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[models.Document]{
		Handlers: dashboard.Watch[models.Document](recent, name), Documents: bufferedsender.Documents[models.Document]{KeyField: "id"}, UnknownWait: -1,
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = sender.Close(ctx)
	})
	return sender
}

// get returns the page's reply to a same-origin request.
func get(h http.Handler, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost:8080/debug/senders/"+target, nil))
	return w
}

type object = map[string]any

// read returns the JSON of such a reply.
func read(t *testing.T, h http.Handler, target string) object {
	t.Helper()
	w := get(h, target)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var v object
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
	return v
}

// one returns the only member of a list in the state.
func one(t *testing.T, state object, list string) object {
	t.Helper()
	require.Len(t, state[list], 1)
	return state[list].([]any)[0].(object)
}

func senders(s bufferedsender.Observable) map[string]bufferedsender.Observable {
	return map[string]bufferedsender.Observable{"hotels": s}
}

func TestTheStateSaysWhatASenderDoesAndQuotesNoDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := service(t)
		var recent dashboard.Recent
		s := newSender(t, client, &recent, "hotels")
		page := dashboard.New(dashboard.Options{Senders: senders(s), Recent: &recent})
		read(t, page, "state")
		for i := range 20 {
			require.NoError(t, s.UploadDocuments(t.Context(), models.Document{"id": fmt.Sprint(i), "rating": i}))
		}
		for i := range 7 {
			require.NoError(t, s.UploadDocuments(t.Context(), models.Document{"id": fmt.Sprintf("bad%d", i), "rating": secretText}))
		}
		time.Sleep(2 * time.Second)
		waits := one(t, read(t, page, "state"), "senders")
		assert.EqualValues(t, 27, waits["buffer"].(object)["actions"])
		assert.EqualValues(t, 2, waits["buffer"].(object)["oldestSeconds"])
		require.Error(t, s.Flush(t.Context(), nil))

		state := one(t, read(t, page, "state"), "senders")
		assert.Equal(t, "healthy", state["state"])
		assert.EqualValues(t, 20, state["counts"].(object)["completed"])
		assert.EqualValues(t, 7, state["counts"].(object)["failed"])
		assert.EqualValues(t, 0, state["buffer"].(object)["oldestSeconds"])
		assert.InDelta(t, 10, state["completedPerSecond"], 0.1, "20 in the two seconds since the first request of the page")
		assert.NotZero(t, state["latency"].(object)["requests"])
		failures := state["failures"].([]any)[0].(object)
		assert.Equal(t, "document", failures["reason"])
		assert.EqualValues(t, 7, failures["count"])
		examples := failures["examples"].([]any)
		require.Len(t, examples, 5, "the last five examples are kept")
		assert.Equal(t, "bad6", examples[0].(object)["key"])
		assert.EqualValues(t, 400, examples[0].(object)["status"])
		assert.Contains(t, examples[0].(object)["why"], "a value is not of the type Edm.Int32")
		assert.NotContains(t, get(page, "state").Body.String(), secretText)

		hidden := get(dashboard.New(dashboard.Options{Senders: senders(s), Recent: &recent, HideKeys: true}), "state").Body.String()
		assert.NotContains(t, hidden, "bad6")
		assert.Contains(t, hidden, "a value is not of the type Edm.Int32")
	})
}

func TestAnOpenBreakerIsShownWithItsReasonAndUntilWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, client := service(t)
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Status: 503}}})
		var recent dashboard.Recent
		s := newSender(t, client, &recent, "hotels")
		require.NoError(t, s.UploadDocuments(t.Context(), models.Document{"id": "1"}))
		s.Breaker().Disable()
		synctest.Wait()
		page := dashboard.New(dashboard.Options{Senders: senders(s)})
		state := one(t, read(t, page, "state"), "senders")
		assert.Equal(t, "circuit open", state["state"])
		assert.NotContains(t, state, "until")
		assert.Contains(t, state["reason"], "disabled")
		s.Breaker().Enable()

		time.Sleep(2 * time.Minute)
		for one(t, read(t, page, "state"), "senders")["state"] != "circuit open" {
			time.Sleep(100 * time.Millisecond)
		}
		state = one(t, read(t, page, "state"), "senders")
		assert.Contains(t, state["reason"], "503 Service Unavailable")
		until, err := time.Parse(time.RFC3339Nano, state["until"].(string))
		require.NoError(t, err)
		assert.Positive(t, time.Until(until))
	})
}

func TestSendersOfAFleetAreShownByIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _ := service(t)
		service, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
		require.NoError(t, err)
		f, err := fleet.New(fleet.From(service.Client, nil), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Close(context.Background())) }()
		var recent dashboard.Recent
		s, err := fleet.Sender(f, "hotels", &bufferedsender.Options[models.Document]{
			Handlers: dashboard.Watch[models.Document](&recent, "all/hotels"), Documents: bufferedsender.Documents[models.Document]{KeyField: "id"},
		})
		require.NoError(t, err)
		require.NoError(t, s.UploadDocuments(t.Context(), models.Document{"id": "1"}))
		page := dashboard.New(dashboard.Options{Fleets: map[string]*fleet.Fleet{"all": f}, Recent: &recent})
		assert.True(t, places(t, page, "1")["sender all/hotels"])
		require.NoError(t, s.Flush(t.Context(), nil))
		assert.False(t, places(t, page, "1")["sender all/hotels"])

		state := read(t, page, "state")
		assert.Equal(t, "all", one(t, state, "senders")["fleet"])
		assert.EqualValues(t, 1, one(t, state, "senders")["latency"].(object)["requests"])
		assert.EqualValues(t, 1, one(t, state, "fleets")["senders"])
		assert.NotZero(t, one(t, state, "fleets")["slots"])
		require.NoError(t, f.Drop(t.Context(), "hotels"))
		assert.Empty(t, read(t, page, "state")["senders"])
		assert.Empty(t, f.Senders(), "reading the page creates no sender")
	})
}

func TestFleetsWithTheSameIndexShowTheirOwnFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var recent dashboard.Recent
		fleets := map[string]*fleet.Fleet{}
		for _, name := range []string{"good", "bad"} {
			srv, _ := service(t)
			if name == "bad" {
				srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Status: 400}}})
			}
			service, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
			require.NoError(t, err)
			f, err := fleet.New(fleet.From(service.Client, nil), nil)
			require.NoError(t, err)
			defer func() { _ = f.Close(context.Background()) }() // of the bad one some documents failed
			fleets[name] = f
			s, err := fleet.Sender(f, "hotels", &bufferedsender.Options[models.Document]{
				Handlers: dashboard.Watch[models.Document](&recent, name+"/hotels"), Documents: bufferedsender.Documents[models.Document]{KeyField: "id"},
			})
			require.NoError(t, err)
			require.NoError(t, s.UploadDocuments(t.Context(), models.Document{"id": "1"}))
			_ = s.Flush(t.Context(), nil) // the page shows the failure
		}
		page := dashboard.New(dashboard.Options{Fleets: fleets, Recent: &recent})
		shown := map[string]int{}
		for _, s := range read(t, page, "state")["senders"].([]any) {
			shown[s.(object)["fleet"].(string)] = len(s.(object)["failures"].([]any))
		}
		assert.Equal(t, map[string]int{"good": 0, "bad": 1}, shown)
	})
}

// places returns where the page searched for a key, and whether it was found there.
func places(t *testing.T, page http.Handler, key string) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	for _, at := range read(t, page, "find?key="+url.QueryEscape(key))["places"].([]any) {
		at := at.(object)
		require.NotContains(t, at, "error")
		found[at["kind"].(string)+" "+at["name"].(string)] = at["found"].(bool)
	}
	return found
}

func TestAQueueIsShownWithWhatHasWaitedLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := memqueue.New(nil)
		require.NoError(t, err)
		defer q.Close()
		for i, key := range []string{"first", "second"} {
			_, err = q.Append(t.Context(), queue.Call{Adder: queue.NewID(), Number: uint64(i + 1), Records: []queue.Record{{Key: key, Op: models.ActionTypeUpload, Body: []byte(`{"text":"` + secretText + `"}`)}}})
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		n, err := q.Park(t.Context(), "poison", "second")
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, q.Pause(t.Context(), "maintenance"))
		page := dashboard.New(dashboard.Options{Queues: map[string]queue.Queue{"q": q}})
		state := one(t, read(t, page, "state"), "queues")
		assert.EqualValues(t, 1, state["waiting"])
		assert.EqualValues(t, 1, state["parked"])
		assert.InDelta(t, 2, state["oldestSeconds"], 0.1)
		assert.Equal(t, "maintenance", state["pauseReason"])
		entries := read(t, page, "oldest?queue=q")["entries"].([]any)
		require.Len(t, entries, 2)
		assert.Equal(t, "first", entries[0].(object)["key"])
		assert.Equal(t, "parked", entries[1].(object)["state"])
		assert.Equal(t, "poison", entries[1].(object)["reason"])
		assert.Equal(t, map[string]bool{"queue q": true}, places(t, page, "second"))
		assert.Equal(t, map[string]bool{"queue q": false}, places(t, page, "third"))

		hiding := dashboard.New(dashboard.Options{Queues: map[string]queue.Queue{"q": q}, HideKeys: true})
		for _, target := range []string{"oldest?queue=q", "find?key=first"} {
			assert.NotContains(t, get(page, target).Body.String(), secretText)
			assert.NotContains(t, get(hiding, target).Body.String(), `"first"`)
		}
		for _, target := range []string{"oldest", "oldest?queue=none", "oldest?outbox=q"} {
			assert.Equal(t, http.StatusNotFound, get(page, target).Code, target)
		}
		assert.Equal(t, http.StatusBadRequest, get(page, "find").Code)
	})
}

// hanging is a queue that panics, or does not reply even when its context ends.
type hanging struct {
	queue.Queue
	asked   atomic.Int32
	release chan struct{}
	panics  bool
}

func (h *hanging) Stats(context.Context) (queue.Stats, error) {
	h.asked.Add(1)
	if h.panics {
		panic("broken")
	}
	<-h.release
	return queue.Stats{Waiting: 3}, nil
}

// failing is a queue that replies with an error.
type failing struct {
	queue.Queue
	asked int
}

func (f *failing) Stats(context.Context) (queue.Stats, error) {
	f.asked++
	return queue.Stats{}, errors.New("refused")
}

func TestTheReasonOfAParkedKeyQuotesNoDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := service(t)
		q, err := memqueue.New(nil)
		require.NoError(t, err)
		defer q.Close()
		s, err := bufferedsender.New(client, &bufferedsender.Options[models.Document]{
			Queue: q, Documents: bufferedsender.Documents[models.Document]{KeyField: "id"}, Logger: slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		require.NoError(t, s.UploadDocuments(t.Context(), models.Document{"id": "the-key", "rating": secretText}))
		require.Error(t, s.Flush(t.Context(), nil))
		require.NoError(t, s.Close(t.Context()))
		_, err = q.Append(t.Context(), queue.Call{Adder: queue.NewID(), Number: 1, Records: []queue.Record{{Key: "other", Op: models.ActionTypeUpload, Body: []byte(`{}`)}}})
		require.NoError(t, err)
		_, err = q.Park(t.Context(), `cannot send the action of the Loader, tried 3 times: document "other" is too large`, "other")
		require.NoError(t, err)

		hiding := dashboard.New(dashboard.Options{Queues: map[string]queue.Queue{"q": q}, HideKeys: true})
		reply := get(hiding, "oldest?queue=q").Body.String()
		assert.Contains(t, reply, `"upload failed with status 400: a value is not of the type Edm.Int32"`)
		assert.Contains(t, reply, `"cannot send the action of the Loader, tried 3 times"`)
		for _, secret := range []string{secretText, "the-key", "other"} {
			assert.NotContains(t, reply, secret)
		}
		assert.NotContains(t, get(hiding, "find?key=the-key").Body.String(), secretText)
	})
}

func TestAQueueThatDoesNotAnswerDelaysThePageByASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &hanging{release: make(chan struct{})}
		page := dashboard.New(dashboard.Options{Queues: map[string]queue.Queue{"hangs": q}})
		for range 3 {
			began := time.Now()
			assert.Equal(t, "no answer yet", one(t, read(t, page, "state"), "queues")["error"])
			assert.Equal(t, time.Second, time.Since(began))
		}
		assert.EqualValues(t, 1, q.asked.Load(), "one goroutine at a time asks the queue")
		close(q.release)
		synctest.Wait()
		for range 3 {
			state := one(t, read(t, page, "state"), "queues")
			assert.EqualValues(t, 3, state["waiting"])
			assert.NotContains(t, state, "error")
		}
		assert.EqualValues(t, 1, q.asked.Load(), "the queue is asked once in two seconds")

		failing := &failing{}
		page = dashboard.New(dashboard.Options{Queues: map[string]queue.Queue{"failing": failing}})
		for range 5 {
			assert.Equal(t, "refused", one(t, read(t, page, "state"), "queues")["error"])
		}
		assert.EqualValues(t, 1, failing.asked, "an error is an answer")
		time.Sleep(3 * time.Second)
		read(t, page, "state")
		assert.EqualValues(t, 2, failing.asked)

		broken := dashboard.New(dashboard.Options{Queues: map[string]queue.Queue{"broken": &hanging{panics: true}}})
		assert.Equal(t, "panic: broken", one(t, read(t, broken, "state"), "queues")["error"])
	})
}

func TestAnOutboxIsShownWithItsDeadLetters(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "hotels.db")+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, outbox.Migrate(t.Context(), db, outbox.SQLite, nil))
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	table := &outbox.Table{Dialect: outbox.SQLite, Queue: "rows"}
	require.NoError(t, outbox.WriteKeys(t.Context(), tx, table, "1"))
	require.NoError(t, tx.Commit())
	page := dashboard.New(dashboard.Options{Outboxes: map[string]dashboard.Outbox{"rows": {Table: table, DB: db}}})
	state := one(t, read(t, page, "state"), "outboxes")
	assert.EqualValues(t, 1, state["rows"])
	assert.NotContains(t, state, "relay")
	assert.Equal(t, map[string]bool{"outbox rows": true}, places(t, page, "1"))
	assert.JSONEq(t, `{"entries":[]}`, get(page, "oldest?outbox=rows").Body.String(), "a list, for scripts to walk")
	nameless := dashboard.New(dashboard.Options{Outboxes: map[string]dashboard.Outbox{"rows": {Table: table, DB: (*sql.DB)(nil)}, "none": {DB: db}}})
	assert.Contains(t, get(nameless, "state").Body.String(), "Outbox.DB is nil")
	assert.Contains(t, get(nameless, "state").Body.String(), "the Table is nil")
	require.NoError(t, db.Close())
	assert.Equal(t, http.StatusServiceUnavailable, get(page, "oldest?outbox=rows").Code)
}

func TestThePageOnlyReadsAndIsForItsOwnNames(t *testing.T) {
	page := dashboard.New(dashboard.Options{Hosts: []string{"ops.example"}})
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest(method, "http://localhost/debug/senders/state", nil))
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
	}
	for host, status := range map[string]int{"localhost": 200, "127.0.0.1:6060": 200, "ops.example": 200, "evil.example": 403} {
		for _, name := range []string{"", "state", "main.js"} {
			w := httptest.NewRecorder()
			page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://"+host+"/debug/senders/"+name, nil))
			assert.Equal(t, status, w.Code, "%s at %s", name, host)
		}
	}
	assert.Contains(t, get(page, "state").Body.String(), `"senders":[]`, "a list, for scripts to walk")
	assert.Equal(t, http.StatusNotFound, get(page, "nothing").Code)
}

func TestThePageAsksForNothingElsewhere(t *testing.T) {
	page := dashboard.New(dashboard.Options{})
	require.NoError(t, fs.WalkDir(os.DirFS("page"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		w := get(page, name)
		assert.Equal(t, http.StatusOK, w.Code, name)
		text := strings.ReplaceAll(w.Body.String(), "http://www.w3.org/2000/svg", "") // a namespace, not an address
		for _, forbidden := range []string{"://", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "style=", "onclick="} {
			assert.NotContains(t, text, forbidden, name)
		}
		return nil
	}))
	for _, name := range []string{"", "base.css", "dom.js", "icon.svg"} {
		assert.Equal(t, http.StatusOK, get(page, name).Code, name)
	}
}

// stuck is a sender that does not reply, as if a callback hung.
type stuck struct {
	bufferedsender.Observable
	release chan struct{}
}

func (s stuck) Contains(keys ...string) []bool {
	<-s.release
	return make([]bool, len(keys))
}

func TestKeysAreFoundInSpiteOfASenderThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := memqueue.New(nil)
		require.NoError(t, err)
		defer q.Close()
		release := make(chan struct{})
		page := dashboard.New(dashboard.Options{Senders: senders(stuck{release: release}), Queues: map[string]queue.Queue{"q": q}})
		for range 7 {
			body := get(page, "find?key=1").Body.String()
			assert.Contains(t, body, `"no answer yet"`)
			assert.Contains(t, body, `{"kind":"queue","name":"q","found":false}`)
		}
		assert.Contains(t, get(page, "find?key=1").Body.String()+get(page, "find?key=1").Body.String(), "too many slow requests", "the number of hanging requests stays small")
		close(release)
		synctest.Wait()
		assert.NotContains(t, get(page, "find?key=1").Body.String(), "error")
	})
}
