package models

import "context"

type clientRequestIDKey struct{}

// WithClientRequestID returns a context that carries the id to send in
// the x-ms-client-request-id header of the requests made with it, so that the
// caller's records and the service's logs can be joined. Ids are GUIDs.
func WithClientRequestID(ctx context.Context, id string) context.Context {
	if ctx == nil {
		panic("models: WithClientRequestID of a nil context")
	}
	return &requestIDContext{ctx, id}
}

// requestIDContext is what context.WithValue makes, without boxing the id.
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

// ClientRequestID returns the id that ctx carries, or "".
func ClientRequestID(ctx context.Context) string {
	id, _ := ctx.Value(clientRequestIDKey{}).(string)
	return id
}
