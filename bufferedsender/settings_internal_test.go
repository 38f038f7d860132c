package bufferedsender

import (
	"context"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// Documents, and the function of Loader, have the type of the documents and stay with it.
func TestNoOptionIsLostOnTheWayToTheSender(t *testing.T) {
	o := Options[string]{
		Handlers:  events.Handlers[string]{Closed: func(context.Context) error { return nil }},
		Documents: Documents[string]{Key: func(string) string { return "" }},
		Limits:    Limits{MaxInFlight: 2}, DisableAutoFlush: true, AutoFlushInterval: 1, Tuning: tuning.Fixed(), RequestTimeout: time.Second,
		UnknownWait: time.Second, Retry: retry.Options{MaxRetries: 1}, Outage: Hold{},
		Queue: struct{ queue.Queue }{}, DeleteMissing: true,
		Loader: func(context.Context, []string) ([]models.IndexDocumentsAction[string], error) { return nil, nil },
		Share:  &pool.Member{}, Class: models.ClassBestEffort, Folding: &Folding[string]{Version: func(string) int64 { return 1 }},
		OnMergeMissing: MergeMissingIgnore, DeadLetters: struct{ deadletter.Sink }{}, Waiting: Waiting{FailFast: true}, Tap: struct{ models.Tap }{},
		Logger: slog.Default(), TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: noop.NewMeterProvider(),
	}
	s := o.settings()
	given, got := reflect.ValueOf(o), reflect.ValueOf(s.Options)
	for i := range given.NumField() {
		name := given.Type().Field(i).Name
		assert.False(t, given.Field(i).IsZero(), "set %s here", name)
		switch name {
		case "Documents", "Loader":
		case "Handlers", "Folding":
			assert.False(t, got.Field(i).IsZero(), name)
		default:
			assert.Equal(t, given.Field(i).Interface(), got.Field(i).Interface(), name)
		}
	}
	assert.True(t, s.loads && s.versioned && s.keyFunc)
}
