package search

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// KeyFieldName returns the name of the key field of the index, from its
// definition. It asks the service once and remembers the answer; a failure is
// not remembered, so that the next call asks again. Reading a definition takes
// an admin key or the role "Search Service Contributor": a program that only
// writes documents can do without by naming the key field in its document type,
// with the struct tag `search:"key"`.
func (c *Client) KeyFieldName(ctx context.Context) (_ string, err error) {
	if name := c.keyField.Load(); name != nil {
		return *name, nil
	}
	// Callers that come here at the same time all ask. Making them wait for one
	// answer would tie each to the context of another.
	const operation = "KeyFieldName"
	ctx, end := c.conn.span(ctx, "Client."+operation)
	defer func() { end(err) }()
	call := c.call(operation, readKeyField)
	// The first adding call waits for this: a wrong endpoint must be reported soon.
	body, resp, err := c.conn.getURL(policy.WithRetryOptions(ctx, c.conn.forCheck), c.conn.url("/indexes"+quoted(c.indexName)), call)
	if err != nil {
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
