package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
)

// AnyClient is a client of this package.
type AnyClient interface {
	// Endpoint returns the address of the service, without a trailing slash.
	Endpoint() string
	connection() *connection
}

func (c *Client) connection() *connection { return c.conn }

// DoOptions are the options of Do. nil and the zero value are ready to use.
type DoOptions struct {
	// Query are parameters of the URL, without the api-version.
	Query url.Values
	// Header are additional headers, without credentials: those are always the client's.
	Header http.Header
	// APIVersion is the api-version of this call. Defaults to that of the client.
	APIVersion string
}

// Do sends a request for which this package has no function, such as an operation of a preview, with the credentials,
// retries and errors of all other operations. path begins with a slash and is already escaped: PathOf makes one from
// names. body is encoded as JSON; nil means no body, and a json.RawMessage is sent unchanged.
//
// A status other than 2xx is an *Error. The body of the reply is in memory and needs no closing. If Header asks for
// "text/event-stream", the body is a stream instead, and the caller reads and closes it.
func Do(ctx context.Context, client AnyClient, method, path string, body any, opts *DoOptions) (_ *http.Response, err error) {
	if opts == nil {
		opts = &DoOptions{}
	}
	if nilcheck.IsNil(client) {
		return nil, fmt.Errorf("search: Do: got a nil %T, want a client", client)
	}
	conn := *client.connection()
	ctx, end := conn.span(ctx, "Do")
	defer func() { end(err) }()
	call := call{operation: method + " " + path, needs: manageIndexes}
	var invalid error
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?#") {
		invalid = fmt.Errorf("got the path %q, want one that begins with a slash and has no query", path)
	}
	for name := range opts.Header {
		if strings.EqualFold(name, keyHeader) || strings.EqualFold(name, "Authorization") {
			invalid = errors.Join(invalid, fmt.Errorf("got the header %q in DoOptions, want none: make a client with these credentials", name))
		}
	}
	if opts.APIVersion != "" {
		conn.apiVersion = apiversion.Of(opts.APIVersion)
		if !apiVersionPattern.MatchString(opts.APIVersion) {
			invalid = errors.Join(invalid, fmt.Errorf("APIVersion %q is not a date like %q", opts.APIVersion, DefaultAPIVersion))
		}
	}
	if invalid != nil {
		return nil, call.wrap(invalid)
	}
	address := conn.url(path)
	if len(opts.Query) > 0 {
		address += "&" + opts.Query.Encode()
	}
	req, err := conn.newRequest(ctx, method, address, acceptMinimal)
	if err != nil {
		return nil, call.wrap(err)
	}
	for name, values := range opts.Header {
		req.Raw().Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	if body != nil {
		encoded, raw := body.(json.RawMessage)
		if !raw {
			encoded, err = encodeBody(body)
		}
		if err == nil {
			err = lend(req, encoded)
		}
		if err != nil {
			return nil, call.wrap(err)
		}
	}
	if strings.Contains(req.Raw().Header.Get("Accept"), "event-stream") {
		runtime.SkipBodyDownload(req)
	}
	return conn.send(req, call, successes...)
}

// successes are the statuses that are not an error.
var successes = []int{
	http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent, http.StatusPartialContent, http.StatusMultiStatus,
}

// PathOf returns the path of the named entry of a collection, followed by further segments: PathOf("indexers",
// "it's", "search.run") is "/indexers('it%27%27s')/search.run".
func PathOf(collection, name string, further ...string) string {
	path := "/" + collection + quoted(name)
	for _, f := range further {
		path += "/" + f
	}
	return path
}
