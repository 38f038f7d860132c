package search_test

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
)

// spans is a tracing provider that records spans in the order of their start.
type spans struct{ list []*span }

type span struct {
	name, parent string
	attributes   map[string]any
	status       tracing.SpanStatus
	ended        bool
}

type parentKey struct{}

func (s *spans) provider() tracing.Provider {
	return tracing.NewProvider(func(module, version string) tracing.Tracer {
		return tracing.NewTracer(func(ctx context.Context, name string, o *tracing.SpanOptions) (context.Context, tracing.Span) {
			sp := &span{name: name, attributes: map[string]any{}}
			if parent, ok := ctx.Value(parentKey{}).(string); ok {
				sp.parent = parent
			}
			set := func(attributes ...tracing.Attribute) {
				for _, a := range attributes {
					sp.attributes[a.Key] = a.Value
				}
			}
			set(o.Attributes...)
			s.list = append(s.list, sp)
			return context.WithValue(ctx, parentKey{}, name), tracing.NewSpan(tracing.SpanImpl{
				End:           func() { sp.ended = true },
				SetAttributes: set,
				SetStatus:     func(status tracing.SpanStatus, _ string) { sp.status = status },
			})
		}, nil)
	}, nil)
}

// azcore makes the spans; an operation that calls another has no second one.
func TestOneSpanACallAndOneAnAttempt(t *testing.T) {
	var s spans
	opts := options(replies(response(200, definition), response(503, ""), response(207, emptyOK)))
	opts.TracingProvider = s.provider()
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	_, err = search.DeleteDocumentsByKey(t.Context(), client, "", []string{"1"}, nil)
	require.Error(t, err)

	var names []string
	for _, sp := range s.list {
		assert.True(t, sp.ended, sp.name)
		names = append(names, sp.parent+" > "+sp.name)
	}
	const call = "Client.DeleteDocumentsByKey"
	assert.Equal(t, []string{" > " + call, call + " > HTTP GET", call + " > HTTP POST", call + " > HTTP POST"}, names)
	assert.Equal(t, tracing.SpanStatusError, s.list[0].status, "a partial success is not a success")
	assert.Equal(t, 503, s.list[2].attributes["http.status_code"])
	for _, sp := range s.list {
		assert.NotContains(t, sp.attributes, "api-key")
	}
}
