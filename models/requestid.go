package models

import "context"

type clientRequestIDKey struct{}

// ContextWithClientRequestID returns a context that carries the id to send in
// the x-ms-client-request-id header of the requests made with it, so that the
// caller's records and the service's logs can be joined. Ids are GUIDs.
func ContextWithClientRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, clientRequestIDKey{}, id)
}

// ClientRequestID returns the id that ctx carries, or "".
func ClientRequestID(ctx context.Context) string {
	id, _ := ctx.Value(clientRequestIDKey{}).(string)
	return id
}
