package wholeindex

import "context"

type seenKey struct{}

// Seeing returns a context in which a search.Rows stores the ETag of its definition, if it reads the definition.
func Seeing(ctx context.Context, etag *string) context.Context {
	return context.WithValue(ctx, seenKey{}, etag)
}

// Saw stores the ETag of a definition for Seeing.
func Saw(ctx context.Context, etag string) {
	if to, is := ctx.Value(seenKey{}).(*string); is {
		*to = etag
	}
}
