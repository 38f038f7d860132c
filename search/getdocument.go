package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/models"
)

// opGetDocument is a constant because sentinel compares it too.
const opGetDocument = "GetDocument"

// GetDocumentOptions are the options of GetDocument. nil and the zero value are
// ready to use.
type GetDocumentOptions struct {
	// Select names the fields to return. Sub-fields are written with a slash, "address/city". Defaults to all retrievable
	// fields.
	Select []string
}

// GetDocument returns the document with the given key, decoded into a T by encoding/json: a struct, models.Document,
// json.RawMessage.
//
// If the document does not exist, the error is ErrDocumentNotFound; if the index does not exist, it is
// ErrIndexNotFound, both for errors.Is. A document may not be found for a few seconds after it is written. The key is
// escaped and must not be empty; an otherwise illegal key is not found.
func GetDocument[T any](ctx context.Context, c *Client, key string, opts *GetDocumentOptions) (doc T, err error) {
	ctx, end := c.conn.span(ctx, "Client."+opGetDocument)
	defer func() { end(err) }()
	call := c.call(opGetDocument, readDocuments)
	call.measured = c.telemetry.begin(ctx, measureLookup)
	body, err := c.getDocument(ctx, call, key, opts)
	if err == nil {
		err = decodeDocument(body, &doc, call)
	}
	call.measured.end(ctx, unknownRows, err)
	return doc, err
}

// decodeDocument decodes a document. If there is an error, doc stays zero.
func decodeDocument[T any](body []byte, doc *T, call call) error {
	if err := models.DecodeDocument(body, doc); err != nil {
		return call.wrap(fmt.Errorf("the document does not fit into %T: %w", *doc, withoutValue(err)))
	}
	return nil
}

// getDocument is the part of GetDocument that does not depend on T.
func (c *Client) getDocument(ctx context.Context, call call, key string, opts *GetDocumentOptions) ([]byte, error) {
	if key == "" {
		return nil, call.wrap(errors.New("the key is empty"))
	}
	var query []string
	if opts != nil && len(opts.Select) > 0 {
		query = []string{"$select", strings.Join(opts.Select, ",")}
	}
	reader, err := c.conn.reading(ctx)
	if err != nil {
		return nil, call.wrap(err)
	}
	req, err := c.conn.newRequest(ctx, http.MethodGet, c.conn.url(c.docs+quoted(key), query...), acceptNone)
	if err != nil {
		return nil, call.wrap(err)
	}
	reader.header(req.Raw().Header)
	resp, err := c.conn.send(req, call, http.StatusOK)
	if err != nil {
		return nil, err
	}
	body, err := runtime.Payload(resp)
	if err != nil {
		return nil, call.wrap(fmt.Errorf("%w: %w", models.ErrMalformedReply, err))
	}
	if body, err = object(body); err != nil {
		return nil, call.wrap(malformed(err, resp))
	}
	return body, nil
}

// withoutValue removes the value from a decoding error where possible: encoding/json quotes numbers that overflow,
// and package time quotes its input. An UnmarshalJSON of the caller may still quote its input.
func withoutValue(err error) error {
	var (
		mismatch *json.UnmarshalTypeError
		notATime *time.ParseError
	)
	switch {
	case errors.As(err, &mismatch):
		kind, _, _ := strings.Cut(mismatch.Value, " ")
		return fmt.Errorf("field %q: a JSON %s cannot become a Go %v", mismatch.Field, kind, mismatch.Type)
	case errors.As(err, &notATime):
		return errors.New("a field is not a time in RFC 3339")
	}
	return err
}
