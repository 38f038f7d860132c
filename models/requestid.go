package models

import "context"

type clientRequestIDKey struct{}

// WithClientRequestID returns a context with an id for the x-ms-client-request-id header of its requests, to match
// the caller's records with the service's logs. Ids are GUIDs.
func WithClientRequestID(ctx context.Context, id string) context.Context {
	if ctx == nil {
		panic("models: WithClientRequestID of a nil context")
	}
	return &requestIDContext{ctx, id}
}

// requestIDContext replaces context.WithValue to avoid boxing the id.
type requestIDContext struct {
	context.Context
	id string
}

func (c *requestIDContext) Value(key any) any {
	if key == (clientRequestIDKey{}) {
		return c.id
	}
	return c.Context.Value(key)
}

// ClientRequestID returns the id in ctx, or "".
func ClientRequestID(ctx context.Context) string {
	id, _ := ctx.Value(clientRequestIDKey{}).(string)
	return id
}
