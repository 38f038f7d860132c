package waiting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestACallbackThatBlocksForEverHoldsOnlyWhatWaitsForIt(t *testing.T) {
	for name := range fiveHandlers(nil) {
		if name == "ActionAdded" {
			continue // it gets the caller's ctx and blocks no other: see TestNoLockIsHeldWhileAnythingBlocks
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				handlers := fiveHandlers(func(context.Context) error { <-release; return nil })[name]
				sender, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					r, err := sendertest.AcceptAll(ctx, body)
					if err == nil && len(r.Results) > 1 {
						r.Results[1] = models.IndexingResult{Key: r.Results[1].Key, StatusCode: 400}
					}
					return r, err
				}}, &sendertest.Options{Handlers: handlers, Logger: sendertest.NoLog})
				require.NoError(t, err)
				sendertest.CloseAtEnd(t, sender)
				require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotels("k", 2)...))
				began := time.Now()
				require.ErrorIs(t, sender.Flush(sendertest.Within(t, time.Second), nil), context.DeadlineExceeded)
				err = sender.Close(sendertest.Within(t, time.Second))
				assert.True(t, sendertest.CloseError(t, err).CallbackStuck)
				assert.LessOrEqual(t, time.Since(began), 5*time.Second)
				close(release)
			})
		})
	}
}

func TestAClientThatFlushesItsOwnSenderDoesNotWaitForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := &sendertest.Indexer{}
		var sender *bufferedsender.BufferedSender[sendertest.Hotel]
		var inside error
		sender, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			inside = sender.Flush(ctx, nil)
			return good.IndexDocumentsRaw(ctx, body)
		}}, nil)
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		require.NoError(t, sender.Close(t.Context()))
		assert.ErrorIs(t, inside, bufferedsender.ErrInCallback)
	})
}

// fiveHandlers returns handlers in which one of the five callbacks calls f. With refuseKeys("bad") an upload of "bad"
// and others triggers all of them.
func fiveHandlers(f func(context.Context) error) map[string]sendertest.Handlers {
	ignore := func(ctx context.Context) { _ = f(ctx) }
	return map[string]sendertest.Handlers{
		"ActionAdded":     {ActionAdded: func(ctx context.Context, _ *events.ActionAdded[sendertest.Hotel]) error { return f(ctx) }},
		"ActionSent":      {ActionSent: func(ctx context.Context, _ *events.ActionSent[sendertest.Hotel]) { ignore(ctx) }},
		"ActionCompleted": {ActionCompleted: func(ctx context.Context, _ *events.ActionCompleted[sendertest.Hotel]) { ignore(ctx) }},
		"ActionFailed":    {ActionFailed: func(ctx context.Context, _ *events.ActionFailed[sendertest.Hotel]) { ignore(ctx) }},
		"BatchCompleted":  {BatchCompleted: func(ctx context.Context, _ *events.Batch) { ignore(ctx) }},
	}
}

func TestAPanicInACallbackChangesNothing(t *testing.T) {
	type panicked struct{ why string }
	for what, value := range map[string]any{"text": "boom", "an error": errors.New("boom"), "a struct": panicked{"boom"}, "nil": nil} {
		for name, handlers := range fiveHandlers(func(context.Context) error { panic(value) }) {
			t.Run(fmt.Sprintf("of %s in %s", what, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: handlers})
					r.Faults(sendertest.RefuseKeys("bad"))
					refusals := 0
					for _, d := range append(sendertest.Hotels("k", 7), sendertest.Hotel{ID: "bad"}) {
						if err := r.Sender.UploadDocuments(sendertest.Within(t, time.Hour), d); err != nil {
							sendertest.RequireAccepted(t, err, 0)
							refusals++
						}
					}
					failures := sendertest.FlushFailures(t, r.Flush())
					s := r.Sender.Stats()
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
					log := r.Logs.String()
					assert.EqualValues(t, panics, strings.Count(log, `level=ERROR msg="azsearch: handler panicked"`))
					assert.Contains(t, log, "fiveHandlers", "the log has the stack")
					r.Close()
				})
			})
		}
	}
}

// panickingLog is a slog.Handler that always panics.
type panickingLog struct{ slog.Handler }

func (panickingLog) Enabled(context.Context, slog.Level) bool  { panic("Enabled") }
func (panickingLog) Handle(context.Context, slog.Record) error { panic("Handle") }

func TestALoggerThatPanicsChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Logger: slog.New(panickingLog{}), Retry: sendertest.RetryAtOnce, Limits: bufferedsender.Limits{MaxBatchActions: 3}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		r.OpenBreaker(sendertest.Hotels("k", 3)...)
		time.Sleep(time.Minute)
		r.Respond(nil)
		r.Faults(sendertest.RefuseKeys("bad"))
		r.Upload(sendertest.Hotel{ID: "bad"})
		assert.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		assert.EqualValues(t, 3, r.Sender.Stats().Completed)
		assert.Positive(t, r.Sender.Stats().CallbackPanics)
		r.Close()
	})
}

// foreign are contexts that do not derive from the one a handler received. On the publisher's goroutine that makes no
// difference.
var foreign = map[string]bool{"one without its values": true, "context.Background()": true}

func TestFlushAndCloseInsideACallbackReturnErrInCallback(t *testing.T) {
	for which, with := range map[string]func(context.Context) context.Context{
		"the given ctx":          func(ctx context.Context) context.Context { return ctx },
		"a ctx made of it":       func(ctx context.Context) context.Context { return context.WithValue(ctx, t, 1) },
		"one without its values": func(ctx context.Context) context.Context { return context.WithoutCancel(context.Background()) },
		"context.Background()":   func(context.Context) context.Context { return context.Background() },
	} {
		var r *sendertest.Rig
		called := 0
		inside := func(ctx context.Context) error {
			called++
			began := time.Now()
			limited, cancel := context.WithTimeout(with(ctx), time.Minute) // so that a fault is not a deadlock
			defer cancel()
			assert.ErrorIs(r.T, r.Sender.Flush(limited, nil), bufferedsender.ErrInCallback)
			assert.ErrorIs(r.T, r.Sender.Close(limited), bufferedsender.ErrInCallback)
			assert.Zero(r.T, time.Since(began))
			return nil
		}
		for name, handlers := range fiveHandlers(inside) {
			if foreign[which] && name == "ActionAdded" {
				continue // on the caller's goroutine, which cannot wait for itself
			}
			t.Run(fmt.Sprintf("with %s in %s", which, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					called = 0
					r = sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: handlers})
					r.Faults(sendertest.RefuseKeys("bad"))
					r.Upload(append(sendertest.Hotels("k", 3), sendertest.Hotel{ID: "bad"})...)
					assert.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
					assert.NotZero(t, called)
					r.Upload(sendertest.Hotels("still-open", 1)...)
					require.NoError(t, r.Close())
				})
			})
		}
	}
	t.Run("calls with another ctx in ActionAdded, which blocks no other call, do not hang", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var r *sendertest.Rig
			r = sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 2}, Handlers: sendertest.Handlers{
				ActionAdded: func(context.Context, *events.ActionAdded[sendertest.Hotel]) error {
					return r.Sender.Flush(sendertest.Within(t, time.Minute), nil)
				},
			}})
			for _, d := range sendertest.Hotels("k", 7) {
				r.Upload(d)
			}
			assert.Zero(t, r.Now())
			require.NoError(t, r.Close())
			assert.Len(t, r.Indexed(), 7)
		})
	})
	t.Run("calls of another sender work", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			other := sendertest.New(t, nil)
			r := sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{ActionCompleted: func(ctx context.Context, e *events.ActionCompleted[sendertest.Hotel]) {
				assert.NoError(t, other.Sender.UploadDocuments(ctx, e.Action.Document))
				assert.NoError(t, other.Sender.Flush(ctx, nil))
			}}})
			r.Upload(sendertest.Hotels("k", 3)...)
			require.NoError(t, r.Flush())
			assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 3)), other.Indexed())
		})
	})
	t.Run("a goroutine of the program works meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {
				time.Sleep(time.Second)
			}}})
			r.Upload(sendertest.Hotels("k", 3)...)
			time.Sleep(time.Millisecond)
			require.NoError(t, r.Sender.Flush(t.Context(), nil))
			require.NoError(t, r.Sender.Close(t.Context()))
		})
	})
}

func TestAddingInsideACallbackNeverWaits(t *testing.T) {
	for which, with := range map[string]func(context.Context) context.Context{
		"the given ctx":        func(ctx context.Context) context.Context { return ctx },
		"context.Background()": func(context.Context) context.Context { return context.Background() },
	} {
		var r *sendertest.Rig
		var full, added int
		inside := func(ctx context.Context) error {
			if added+full == 4 {
				return nil
			}
			limited, cancel := context.WithTimeout(with(ctx), time.Minute)
			defer cancel()
			began := time.Now()
			before := added + full
			added++ // ActionAdded runs again before the call returns
			switch err := r.Sender.UploadDocuments(limited, sendertest.Hotel{ID: fmt.Sprint("from-inside-", before)}); {
			case errors.Is(err, bufferedsender.ErrBufferFull):
				added--
				full++
			case errors.Is(err, bufferedsender.ErrClosed): // the test is over
				added--
			default:
				assert.NoError(r.T, err)
			}
			assert.Zero(r.T, time.Since(began))
			return nil
		}
		for name, handlers := range fiveHandlers(inside) {
			if foreign[which] && name == "ActionAdded" {
				continue
			}
			t.Run(fmt.Sprintf("with %s in %s", which, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					full, added = 0, 0
					r = sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 2, MaxInFlight: 1}, Handlers: handlers})
					r.Faults(searchtest.Fault{Delay: searchtest.Duration(time.Second), Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Status: 400}}})
					for _, d := range sendertest.Hotels("k", 6) {
						r.Upload(d)
					}
					r.Flush()
					s := r.Sender.Stats()
					assert.EqualValues(t, 6+added, s.Accepted)
					assert.NotZero(t, added+full)
				})
			})
		}
	}
	t.Run("TryIndexDocuments works while there is room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var r *sendertest.Rig
			r = sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{ActionCompleted: func(ctx context.Context, e *events.ActionCompleted[sendertest.Hotel]) {
				if n := e.Action.Document.Rooms; n < 10 {
					assert.NoError(t, r.Sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: fmt.Sprint("n", n), Rooms: n + 1})))
				}
			}}})
			r.Upload(sendertest.Hotel{ID: "n0", Rooms: 1})
			for range 10 {
				require.NoError(t, r.Flush())
			}
			assert.Len(t, r.Indexed(), 10)
		})
	})
}

// Everything that the program does not wait for must work while any callback blocks. A lock held there would show as
// a goroutine that waits for it. There is no bubble, because a bubble does not end with such goroutines.
func TestNoLockIsHeldWhileAnythingBlocks(t *testing.T) {
	type blockage struct {
		rig *sendertest.Rig
		gate
	}
	cases := map[string]blockage{}
	add := func(name string, opts func(g gate) *sendertest.Options) blockage {
		b := blockage{gate: gate{make(chan struct{}), make(chan struct{})}}
		o := opts(b.gate)
		o.Limits.MaxBatchActions = 2
		b.rig = sendertest.New(t, o)
		b.rig.Faults(sendertest.RefuseKeys("k-1"))
		cases[name] = b
		return b
	}
	for name := range fiveHandlers(nil) {
		add("a handler of "+name, func(g gate) *sendertest.Options {
			return &sendertest.Options{Handlers: fiveHandlers(func(context.Context) error { g.wait(); return nil })[name]}
		})
	}
	request := add("a request", func(gate) *sendertest.Options { return &sendertest.Options{} })
	request.rig.Respond(func(_ int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		request.wait()
		return next()
	})
	add("the logger", func(g gate) *sendertest.Options {
		return &sendertest.Options{Logger: slog.New(blockingLog{slog.DiscardHandler, g.wait})}
	})
	add("the key accessor", func(g gate) *sendertest.Options {
		return &sendertest.Options{Documents: bufferedsender.Documents[sendertest.Hotel]{KeyField: "id", Key: func(d sendertest.Hotel) string {
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
				assert.NoError(t, r.Sender.UploadDocuments(context.Background(), sendertest.Hotels("k", 4)...))
			}()
			<-c.blocked
			inTime(t, "Stats", func() { r.Sender.Stats() })
			inTime(t, "Flush with a ctx that ends", func() {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				_ = r.Sender.Flush(ctx, nil)
			})
			if !strings.HasSuffix(name, "ActionAdded") {
				inTime(t, "UploadDocuments", func() {
					assert.NoError(t, r.Sender.UploadDocuments(context.Background(), sendertest.Hotel{ID: "other"}))
				})
				inTime(t, "TryIndexDocuments", func() {
					assert.NoError(t, r.Sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "another"})))
				})
			}
			inTime(t, "New and Close of another sender", func() {
				s, err := bufferedsender.New[sendertest.Hotel](r.Client, nil)
				assert.NoError(t, err)
				assert.NoError(t, s.Close(context.Background()))
			})
			close(c.release)
			<-done
			inTime(t, "Close", func() { _ = r.Sender.Close(context.Background()) })
		})
	}
}

// gate blocks callers until it is released, and reports the first one.
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

// blockingLog blocks on every record.
type blockingLog struct {
	slog.Handler
	block func()
}

func (blockingLog) Enabled(context.Context, slog.Level) bool { return true }

func (l blockingLog) Handle(context.Context, slog.Record) error {
	l.block()
	return nil
}
