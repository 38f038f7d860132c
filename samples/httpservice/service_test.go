package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// rig is a service with an emulator behind it.
type rig struct {
	t *testing.T
	*service
	emulator *searchtest.Server
}

// inBubble runs a test in a synctest bubble and stops the service at its end.
func inBubble(t *testing.T, cfg settings, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := stage.Emulate(&searchtest.Options{Latency: 5 * time.Millisecond})
		defer b.Close()
		client, err := stage.Open[Note](t.Context(), b, indexName)
		require.NoError(t, err)
		s, err := newService(client, cfg, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		test(t, &rig{t, s, b.Emulator})
		b.Emulator.SetFaults(nil)
		_ = s.stop()
	})
}

type answered struct {
	answer
	status     int
	retryAfter string
}

func (r *rig) postIn(ctx context.Context, notes ...Note) answered {
	body, err := json.Marshal(notes)
	require.NoError(r.t, err)
	return r.send(ctx, http.MethodPost, "/notes", body)
}

func (r *rig) post(notes ...Note) answered { return r.postIn(r.t.Context(), notes...) }

func (r *rig) send(ctx context.Context, method, path string, body []byte) answered {
	w := httptest.NewRecorder()
	r.server.Handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, bytes.NewReader(body)))
	a := answered{status: w.Code, retryAfter: w.Header().Get("Retry-After")}
	_ = json.Unmarshal(w.Body.Bytes(), &a.answer)
	return a
}

func (r *rig) ready() bool {
	return r.send(r.t.Context(), http.MethodGet, "/healthz", nil).status == 200
}

func (r *rig) has(id string) bool {
	_, ok := r.emulator.Document(indexName, id)
	return ok
}

func (r *rig) faults(rules ...searchtest.Fault) {
	for i := range rules {
		rules[i].Operation = searchtest.OpIndexDocuments
	}
	r.emulator.SetFaults(&searchtest.Faults{Rules: rules})
}

func TestNotesAnswered200AreInTheIndex(t *testing.T) {
	inBubble(t, settings{}, func(t *testing.T, r *rig) {
		a := r.post(Note{ID: "1", Text: "x"}, Note{ID: "2"})
		assert.Equal(t, 200, a.status)
		assert.Equal(t, []outcome{{ID: "1", Outcome: indexed}, {ID: "2", Outcome: indexed}}, a.Notes)
		assert.True(t, r.has("1") && r.has("2"))
	})
}

func TestNotesOfManyCallersShareRequests(t *testing.T) {
	inBubble(t, settings{}, func(t *testing.T, r *rig) {
		start := time.Now()
		done := make(chan int, callers)
		for i := range callers {
			go func() { done <- r.post(Note{ID: fmt.Sprint(i)}).status }()
		}
		for range callers {
			assert.Equal(t, 200, <-done)
		}
		assert.LessOrEqual(t, r.sender.Stats().Requests, int64(4))
		assert.Less(t, time.Since(start), 50*time.Millisecond)
	})
}

func TestBadNotesAreTheCallersBusiness(t *testing.T) {
	inBubble(t, settings{}, func(t *testing.T, r *rig) {
		a := r.post(Note{ID: "good"}, Note{ID: "bad", Author: strings.Repeat("x", 40_000)})
		assert.Equal(t, 422, a.status)
		assert.Equal(t, indexed, a.Notes[0].Outcome)
		assert.Equal(t, rejected, a.Notes[1].Outcome)
		assert.Contains(t, a.Notes[1].Message, "too large")
		assert.Empty(t, a.retryAfter, "a retry would not help")

		a = r.post(Note{ID: "no key!"})
		assert.Equal(t, 400, a.status)
		assert.Equal(t, notApplied, a.Notes[0].Outcome)

		for _, body := range []string{"", "{}", "[]", "[{}", `[{"id":"1"},{"id":"1"}]`, "[" + strings.Repeat(`{},`, maxNotes) + "{}]"} {
			assert.Equal(t, 400, r.send(t.Context(), http.MethodPost, "/notes", []byte(body)).status, "%.20s", body)
		}
	})
}

func TestBadNoteIsNamedAlthoughTheOthersMeetTheDeadline(t *testing.T) {
	inBubble(t, settings{deadline: time.Second, requestTimeout: 10 * time.Second}, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{Delay: searchtest.Duration(5 * time.Second)})
		a := r.post(Note{ID: "good"}, Note{ID: "no key!"})
		assert.Equal(t, 400, a.status)
		assert.Contains(t, a.Error, "no key!")
		assert.Equal(t, unknown, a.Notes[0].Outcome)
		time.Sleep(time.Minute)
	})
}

func TestFullBufferIsAnsweredAtOnce(t *testing.T) {
	inBubble(t, settings{buffer: 2}, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{Delay: searchtest.Duration(time.Second)})
		first := make(chan answered, 1)
		go func() { first <- r.post(Note{ID: "1"}, Note{ID: "2"}) }()
		synctest.Wait()
		start := time.Now()
		a := r.post(Note{ID: "3"})
		assert.Equal(t, 429, a.status)
		assert.Equal(t, "1", a.retryAfter)
		assert.Equal(t, notApplied, a.Notes[0].Outcome)
		assert.Zero(t, time.Since(start))
		assert.Equal(t, 200, (<-first).status)
		assert.False(t, r.has("3"))
	})
}

func TestOutageIsAnsweredAtOnceAndEndsByItself(t *testing.T) {
	inBubble(t, settings{}, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{Status: 500})
		for i := 0; r.ready(); i++ { // until the breaker opens
			require.Less(t, i, 10)
			assert.Equal(t, 503, r.post(Note{ID: fmt.Sprint("early-", i)}).status)
		}
		start := time.Now()
		a := r.post(Note{ID: "late"})
		assert.Equal(t, 503, a.status)
		assert.NotEmpty(t, a.retryAfter)
		assert.Equal(t, notApplied, a.Notes[0].Outcome)
		assert.Zero(t, time.Since(start))

		time.Sleep(5 * time.Second)
		r.emulator.SetFaults(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.True(t, r.ready(), "nothing was written in between")
		assert.Equal(t, 200, r.post(Note{ID: "again"}).status)
		assert.False(t, r.has("late"), "the reply said that it will not be applied")
	})
}

func TestDeadlineTellsWhatWasNotAppliedFromWhatMayBe(t *testing.T) {
	inBubble(t, settings{deadline: time.Second, requestTimeout: 10 * time.Second}, func(t *testing.T, r *rig) {
		r.faults(searchtest.Fault{Delay: searchtest.Duration(5 * time.Second)})
		start := time.Now()
		a := r.post(Note{ID: "travels"})
		assert.Equal(t, 504, a.status)
		assert.Equal(t, unknown, a.Notes[0].Outcome)
		assert.Equal(t, time.Second, time.Since(start))

		a = r.post(Note{ID: "travels"}) // waits for the request in flight
		assert.Equal(t, 504, a.status)
		assert.Equal(t, notApplied, a.Notes[0].Outcome)
		time.Sleep(time.Minute)
		assert.Len(t, r.emulator.History(indexName, "travels"), 1)
	})
}

func TestCallerWhoHangsUpTakesTheNotesBack(t *testing.T) {
	inBubble(t, settings{}, func(t *testing.T, r *rig) {
		r.sender.Pause()
		defer r.sender.Resume()
		assert.Equal(t, 503, r.post(Note{ID: "paused"}).status)
		r.sender.Resume()

		r.faults(searchtest.Fault{Status: 503, RetryAfter: searchtest.Duration(5 * time.Second), Count: 1})
		go r.post(Note{ID: "first"}) // its outcome is unknown, so the sender waits 5 s
		time.Sleep(time.Second)
		ctx, hangUp := context.WithTimeout(t.Context(), time.Second)
		defer hangUp()
		a := r.postIn(ctx, Note{ID: "taken-back"})
		assert.Equal(t, notApplied, a.Notes[0].Outcome)
		time.Sleep(time.Minute)
		assert.True(t, r.has("first"))
		assert.False(t, r.has("taken-back"))
	})
}

func TestReadinessIsFalseFirstWhenTheServiceStops(t *testing.T) {
	inBubble(t, settings{drain: time.Second}, func(t *testing.T, r *rig) {
		assert.True(t, r.ready())
		r.url = "in a test" // as if it had a listener
		stopped := make(chan error, 1)
		go func() { stopped <- r.stop() }()
		synctest.Wait()
		assert.False(t, r.ready())
		assert.Equal(t, 200, r.post(Note{ID: "in-time"}).status, "requests that still arrive are served")
		require.NoError(t, <-stopped)
		assert.Equal(t, 503, r.post(Note{ID: "too-late"}).status)
		assert.False(t, r.has("too-late"))
	})
}

func TestMetricsAreThoseOfTheSender(t *testing.T) {
	inBubble(t, settings{}, func(t *testing.T, r *rig) {
		require.Equal(t, 200, r.post(Note{ID: "1"}, Note{ID: "2"}, Note{ID: "3"}).status)
		w := httptest.NewRecorder()
		r.server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		assert.Regexp(t, `(?m)^azsearch_sender_items_added_total\{.*\} 3$`, w.Body.String())
	})
}
