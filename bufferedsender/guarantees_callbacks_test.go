package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fiveHandlers call f from one of the five callbacks each. With refuseKeys("bad")
// an upload of "bad" and of others reaches all of them.
func fiveHandlers(f func(context.Context) error) map[string]hotelHandlers {
	ignore := func(ctx context.Context) { _ = f(ctx) }
	return map[string]hotelHandlers{
		"ActionAdded":     {ActionAdded: func(ctx context.Context, _ *events.ActionAdded[hotel]) error { return f(ctx) }},
		"ActionSent":      {ActionSent: func(ctx context.Context, _ *events.ActionSent[hotel]) { ignore(ctx) }},
		"ActionCompleted": {ActionCompleted: func(ctx context.Context, _ *events.ActionCompleted[hotel]) { ignore(ctx) }},
		"ActionFailed":    {ActionFailed: func(ctx context.Context, _ *events.ActionFailed[hotel]) { ignore(ctx) }},
		"BatchCompleted":  {BatchCompleted: func(ctx context.Context, _ *events.Batch) { ignore(ctx) }},
	}
}

func TestG11PanicInACallbackChangesNothing(t *testing.T) {
	type panicked struct{ why string }
	for what, value := range map[string]any{"text": "boom", "an error": errors.New("boom"), "a struct": panicked{"boom"}, "nil": nil} {
		for name, handlers := range fiveHandlers(func(context.Context) error { panic(value) }) {
			t.Run(fmt.Sprintf("of %s in %s", what, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: handlers})
					r.faults(refuseKeys("bad"))
					refusals := 0
					for _, d := range append(hotels("k", 7), hotel{ID: "bad"}) {
						if err := r.sender.UploadDocuments(within(t, time.Hour), d); err != nil {
							refused(t, err, 0)
							refusals++
						}
					}
					failures := flushFailures(t, r.flush())
					s := r.sender.Stats()
					panics := map[string]int64{"ActionAdded": 8, "ActionSent": 8, "ActionCompleted": 7, "ActionFailed": 1, "BatchCompleted": 3}[name]
					assert.Equal(t, panics, s.CallbackPanics)
					if name == "ActionAdded" {
						assert.Equal(t, 8, refusals)
						assert.Zero(t, s.Accepted)
					} else {
						assert.Zero(t, refusals)
						assert.Equal(t, 1, failures)
						assert.EqualValues(t, 7, s.Completed)
					}
					log := r.logs.String()
					assert.EqualValues(t, panics, strings.Count(log, `level=ERROR msg="azsearch: a handler panicked"`))
					assert.Contains(t, log, "fiveHandlers", "its stack")
					r.close()
				})
			})
		}
	}
}

// testing.T's FailNow and Skip end a goroutine in this way.
func TestG11CallbackThatEndsItsGoroutineBreaksNothing(t *testing.T) {
	for name, handlers := range fiveHandlers(func(context.Context) error { runtime.Goexit(); return nil }) {
		if name == "ActionAdded" {
			continue // that is the caller's own goroutine
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: handlers})
				r.faults(refuseKeys("bad"))
				r.upload(append(hotels("k", 7), hotel{ID: "bad"})...)
				assert.Equal(t, 1, flushFailures(t, r.sender.Flush(within(t, time.Hour))))
			})
		})
	}
}

// foreign are contexts that do not come from the one a handler was given. On the
// publisher goroutine they make no difference.
var foreign = map[string]bool{"one without its values": true, "context.Background()": true}

func TestG11FlushAndCloseFromInsideReturnErrInCallback(t *testing.T) {
	for which, with := range map[string]func(context.Context) context.Context{
		"the given ctx":          func(ctx context.Context) context.Context { return ctx },
		"a ctx made of it":       func(ctx context.Context) context.Context { return context.WithValue(ctx, t, 1) },
		"one without its values": func(ctx context.Context) context.Context { return context.WithoutCancel(context.Background()) },
		"context.Background()":   func(context.Context) context.Context { return context.Background() },
	} {
		var r *rig
		called := 0
		inside := func(ctx context.Context) error {
			called++
			began := time.Now()
			limited, cancel := context.WithTimeout(with(ctx), time.Minute) // so that a mistake is no deadlock
			defer cancel()
			assert.ErrorIs(r.t, r.sender.Flush(limited), bufferedsender.ErrInCallback)
			assert.ErrorIs(r.t, r.sender.Close(limited), bufferedsender.ErrInCallback)
			assert.Zero(r.t, time.Since(began))
			return nil
		}
		for name, handlers := range fiveHandlers(inside) {
			if foreign[which] && name == "ActionAdded" {
				continue // on the caller's goroutine, where nothing can wait for itself
			}
			t.Run(fmt.Sprintf("with %s in %s", which, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					called = 0
					r = newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: handlers})
					r.faults(refuseKeys("bad"))
					r.upload(append(hotels("k", 3), hotel{ID: "bad"})...)
					assert.Equal(t, 1, flushFailures(t, r.flush()))
					assert.NotZero(t, called)
					r.upload(hotels("still-open", 1)...)
					require.NoError(t, r.close())
				})
			})
		}
	}
	t.Run("and with another ctx in ActionAdded, which holds nobody up, they do not hang", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var r *rig
			r = newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 2}, Handlers: hotelHandlers{
				ActionAdded: func(context.Context, *events.ActionAdded[hotel]) error { return r.sender.Flush(within(t, time.Minute)) },
			}})
			for _, d := range hotels("k", 7) {
				r.upload(d)
			}
			assert.Zero(t, r.now())
			require.NoError(t, r.close())
			assert.Len(t, r.indexed(), 7)
		})
	})
	t.Run("but those of another sender work", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			other := newRig(t, nil)
			r := newRig(t, &hotelOptions{Handlers: hotelHandlers{ActionCompleted: func(ctx context.Context, e *events.ActionCompleted[hotel]) {
				assert.NoError(t, other.sender.UploadDocuments(ctx, e.Action.Document))
				assert.NoError(t, other.sender.Flush(ctx))
			}}})
			r.upload(hotels("k", 3)...)
			require.NoError(t, r.flush())
			assert.Equal(t, ids(hotels("k", 3)), other.indexed())
		})
	})
	t.Run("and so does a goroutine of the program meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Handlers: hotelHandlers{ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) {
				time.Sleep(time.Second)
			}}})
			r.upload(hotels("k", 3)...)
			time.Sleep(time.Millisecond)
			require.NoError(t, r.sender.Flush(t.Context()))
			require.NoError(t, r.sender.Close(t.Context()))
		})
	})
}

func TestG11AddingFromInsideNeverWaits(t *testing.T) {
	for which, with := range map[string]func(context.Context) context.Context{
		"the given ctx":        func(ctx context.Context) context.Context { return ctx },
		"context.Background()": func(context.Context) context.Context { return context.Background() },
	} {
		var r *rig
		var full, added int
		inside := func(ctx context.Context) error {
			if added+full == 4 {
				return nil
			}
			limited, cancel := context.WithTimeout(with(ctx), time.Minute)
			defer cancel()
			began := time.Now()
			before := added + full
			added++ // ActionAdded runs again before it returns
			switch err := r.sender.UploadDocuments(limited, hotel{ID: fmt.Sprint("from-inside-", before)}); {
			case errors.Is(err, bufferedsender.ErrBufferFull):
				added--
				full++
			case errors.Is(err, bufferedsender.ErrClosed): // the test is over
				added--
			default:
				assert.NoError(r.t, err)
			}
			assert.Zero(r.t, time.Since(began))
			return nil
		}
		for name, handlers := range fiveHandlers(inside) {
			if foreign[which] && name == "ActionAdded" {
				continue
			}
			t.Run(fmt.Sprintf("with %s in %s", which, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					full, added = 0, 0
					r = newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 2, MaxInFlight: 1}, Handlers: handlers})
					r.faults(searchtest.Fault{Delay: searchtest.Duration(time.Second), Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Status: 400}}})
					for _, d := range hotels("k", 6) {
						r.upload(d)
					}
					r.flush()
					s := r.sender.Stats()
					assert.EqualValues(t, 6+added, s.Accepted)
					assert.NotZero(t, added+full)
				})
			})
		}
	}
	t.Run("and works while there is room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var r *rig
			r = newRig(t, &hotelOptions{Handlers: hotelHandlers{ActionCompleted: func(ctx context.Context, e *events.ActionCompleted[hotel]) {
				if n := e.Action.Document.Rooms; n < 10 {
					assert.NoError(t, r.sender.TryIndexDocuments(models.UploadAction(hotel{ID: fmt.Sprint("n", n), Rooms: n + 1})))
				}
			}}})
			r.upload(hotel{ID: "n0", Rooms: 1})
			for range 10 {
				require.NoError(t, r.flush())
			}
			assert.Len(t, r.indexed(), 10)
		})
	})
}

// Everything that the program does not wait for must work while anything that
// can block does. A lock held there would show as a goroutine that waits for
// it, so this test has no bubble: those never end there.
func TestG12NoLockIsHeldWhileAnythingBlocks(t *testing.T) {
	type blockage struct {
		rig *rig
		gate
	}
	cases := map[string]blockage{}
	add := func(name string, opts func(g gate) *hotelOptions) blockage {
		b := blockage{gate: gate{make(chan struct{}), make(chan struct{})}}
		o := opts(b.gate)
		o.Limits.MaxBatchActions = 2
		b.rig = newRig(t, o)
		b.rig.faults(refuseKeys("k-1"))
		cases[name] = b
		return b
	}
	for name := range fiveHandlers(nil) {
		add("a handler of "+name, func(g gate) *hotelOptions {
			return &hotelOptions{Handlers: fiveHandlers(func(context.Context) error { g.wait(); return nil })[name]}
		})
	}
	request := add("a request", func(gate) *hotelOptions { return &hotelOptions{} })
	request.rig.respond(func(_ int, _ *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		request.wait()
		return next()
	})
	add("the logger", func(g gate) *hotelOptions {
		return &hotelOptions{Logger: slog.New(blockingLog{slog.DiscardHandler, g.wait})}
	})
	add("the key accessor", func(g gate) *hotelOptions {
		return &hotelOptions{Documents: bufferedsender.Documents[hotel]{KeyField: "id", Key: func(d hotel) string {
			if d.ID == "k-0" {
				g.wait()
			}
			return d.ID
		}}}
	})
	for name, c := range cases {
		r := c.rig
		t.Run("such as "+name, func(t *testing.T) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				assert.NoError(t, r.sender.UploadDocuments(context.Background(), hotels("k", 4)...))
			}()
			<-c.blocked
			inTime(t, "Stats", func() { r.sender.Stats() })
			inTime(t, "PendingActionCount", func() { r.sender.PendingActionCount() })
			inTime(t, "Flush with a ctx that ends", func() {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				_ = r.sender.Flush(ctx)
			})
			if !strings.HasSuffix(name, "ActionAdded") {
				inTime(t, "UploadDocuments", func() { assert.NoError(t, r.sender.UploadDocuments(context.Background(), hotel{ID: "other"})) })
				inTime(t, "TryIndexDocuments", func() { assert.NoError(t, r.sender.TryIndexDocuments(models.UploadAction(hotel{ID: "another"}))) })
			}
			inTime(t, "New and Close of another sender", func() {
				s, err := bufferedsender.New[hotel](r.client, nil)
				assert.NoError(t, err)
				assert.NoError(t, s.Close(context.Background()))
			})
			close(c.release)
			<-done
			inTime(t, "Close", func() { _ = r.sender.Close(context.Background()) })
		})
	}
}

// gate holds whoever comes until it is released, and tells when the first comes.
type gate struct{ blocked, release chan struct{} }

func (g gate) wait() {
	select {
	case g.blocked <- struct{}{}:
		<-g.release
	case <-g.release:
	}
}

// inTime fails the test if f does not return. It does not measure.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s waits for something that is blocked", what)
	}
}

// blockingLog blocks when something is logged.
type blockingLog struct {
	slog.Handler
	block func()
}

func (blockingLog) Enabled(context.Context, slog.Level) bool { return true }

func (l blockingLog) Handle(context.Context, slog.Record) error {
	l.block()
	return nil
}
