package test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// meddler is a Tracer that takes options out of the slice it is given.
type meddler struct {
	noop.Tracer
	kinds []trace.SpanKind
}

func (m *meddler) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	config := trace.NewSpanStartConfig(opts...)
	m.kinds = append(m.kinds, config.SpanKind())
	opts = slices.DeleteFunc(opts, func(o trace.SpanStartOption) bool { c := trace.NewSpanStartConfig(o); return c.NewRoot() })
	return m.Tracer.Start(ctx, name, opts...)
}

type meddlers struct {
	noop.TracerProvider
	tracer *meddler
}

func (m meddlers) Tracer(string, ...trace.TracerOption) trace.Tracer { return m.tracer }

func TestATracerMayChangeItsOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &meddler{}
		s, err := bufferedsender.New(&sendertest.Indexer{}, &bufferedsender.Options[sendertest.Hotel]{TracerProvider: meddlers{tracer: m}})
		require.NoError(t, err)
		for _, doc := range sendertest.Hotels("k", 3) {
			require.NoError(t, s.UploadDocuments(t.Context(), doc))
			require.NoError(t, s.Flush(t.Context()))
		}
		require.NoError(t, s.Close(t.Context()))
		assert.Equal(t, []trace.SpanKind{trace.SpanKindClient, trace.SpanKindClient, trace.SpanKindClient}, m.kinds)
	})
}

// Whoever wakes an idle sender has profiler labels of his own. What it does then
// is for others too.
func TestTheSenderHasNobodysProfilerLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		labelled := false
		s, err := bufferedsender.New(&sendertest.Indexer{}, &bufferedsender.Options[sendertest.Hotel]{
			Handlers: events.Handlers[sendertest.Hotel]{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {
				var profile bytes.Buffer
				_ = pprof.Lookup("goroutine").WriteTo(&profile, 1)
				for stack := range strings.SplitSeq(profile.String(), "\n\n") {
					labelled = labelled || strings.Contains(stack, "someone") && strings.Contains(stack, "publisher.(*loop")
				}
			}},
		})
		require.NoError(t, err)
		synctest.Wait() // until it is idle
		pprof.Do(t.Context(), pprof.Labels("tenant", "someone"), func(ctx context.Context) {
			require.NoError(t, s.UploadDocuments(ctx, sendertest.Hotels("k", 1)...))
		})
		require.NoError(t, s.Close(t.Context()))
		assert.False(t, labelled)
	})
}
