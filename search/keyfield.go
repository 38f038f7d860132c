package search

import (
	"context"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// KeyFieldName returns the name of the key field of the index, read from its definition. It requests the definition
// once and caches the name; after an error the next call requests it again. Reading a definition takes an admin key
// or the role "Search Service Contributor". A program that only writes documents can avoid the request with the
// struct tag `search:"key"` in its document type.
func (c *Client) KeyFieldName(ctx context.Context) (_ string, err error) {
	if name := c.keyField.Load(); name != nil {
		return *name, nil
	}
	// Concurrent callers all send a request. If they shared one, each would depend on the context of another.
	const operation = "KeyFieldName"
	ctx, end := c.conn.span(ctx, "Client."+operation)
	defer func() { end(err) }()
	call := c.call(operation, readKeyField)
	// A sender's first adding call waits for this request, so a wrong endpoint must be reported soon.
	ctx = policy.WithRetryOptions(ctx, c.conn.forCheck)
	var body []byte
	var resp *http.Response
	get := func(index string) (err error) {
		body, resp, err = c.conn.getURL(ctx, c.conn.url("/indexes"+quoted(index)), call)
		return err
	}
	if err := c.conn.orByAlias(ctx, c.indexName, call, get(c.indexName), get); err != nil {
		return "", err
	}
	var definition struct {
		Fields []struct {
			Name string `json:"name"`
			Key  bool   `json:"key"`
		} `json:"fields"`
	}
	if err := decodeInto(&definition, body); err != nil {
		return "", call.wrap(malformed(err, resp))
	}
	for _, f := range definition.Fields {
		if f.Key && f.Name != "" {
			c.keyField.Store(&f.Name)
			return f.Name, nil
		}
	}
	return "", call.wrap(malformed(fmt.Errorf("none of the %d fields of the definition is its key", len(definition.Fields)), resp))
}
