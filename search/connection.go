package search

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// The two metadata levels that the official SDKs request: none for documents, minimal for definitions.
const (
	acceptNone    = "application/json;odata.metadata=none"
	acceptMinimal = "application/json;odata.metadata=minimal"
)

// clientRequestIDHeader carries the caller's id of a request. It is written in canonical form, so that net/http need
// not convert it for each request.
const clientRequestIDHeader = "X-Ms-Client-Request-Id"

// connection is the part that all clients of one service share. It does not change after newConnection.
type connection struct {
	azcore      *azcore.Client
	endpoint    *url.URL
	root        string // the endpoint as text, no trailing slash
	apiVersion  apiversion.Version
	auth        authentication
	noRetries   policy.RetryOptions
	forCheck    policy.RetryOptions
	forStreams  policy.RetryOptions // without the time limit of a try, which would be one of the whole stream
	instruments *instruments
	assumeWhole bool // ClientOptions.AssumeWholeView
}

// newConnection checks all arguments, joins the problems in one error, and sends nothing.
func newConnection(endpoint string, auth authentication, opts *ClientOptions) (*connection, error) {
	if opts == nil {
		opts = &ClientOptions{}
	}
	var errs []error
	if err := auth.check(); err != nil {
		errs = append(errs, err)
	}
	if err := opts.check(); err != nil {
		errs = append(errs, err)
	}
	address, err := parseEndpoint(endpoint, opts.InsecureAllowCredentialWithHTTP)
	if err != nil {
		errs = append(errs, err)
	}
	apiVersion, err := opts.version()
	if err != nil {
		errs = append(errs, err)
	}
	if !auth.withKey {
		host := ""
		if address != nil {
			host = address.Hostname()
		}
		if auth.scope, err = opts.tokenScope(host); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}

	options := opts.ClientOptions
	options.APIVersion = "" // the URLs have it already
	if options.Transport == nil {
		options.Transport = defaultHTTPClient
	}
	options.Transport = newReplyGuard(options.Transport)
	options.Logging.AllowedHeaders = slices.DeleteFunc(slices.Clone(options.Logging.AllowedHeaders), secret)
	if options.Retry.StatusCodes == nil {
		options.Retry.StatusCodes = retry.CallStatuses()
	}
	allowHTTP := address.Scheme == "http" // parseEndpoint has allowed it
	client, err := azcore.NewClient(moduleName, moduleVersion, runtime.PipelineOptions{
		AllowedHeaders:         []string{"elapsed-time", "client-request-id", "Prefer", "Preference-Applied", "OData-Version"},
		AllowedQueryParameters: []string{"$select", "allowIndexDowntime"},
		PerCall:                []policy.Policy{runtime.NewRequestIDPolicy()},
		PerRetry:               slices.Concat([]policy.Policy{attemptMemory{}}, auth.policies(allowHTTP), []policy.Policy{attemptBodies{}, wholeReplies{}}),
		Tracing:                runtime.TracingOptions{Namespace: "Microsoft.Search"},
	}, &options)
	if err != nil {
		return nil, err
	}
	instruments, err := newInstruments(opts.MeterProvider)
	if err != nil {
		return nil, err
	}
	forStreams := options.Retry
	forStreams.TryTimeout = 0
	return &connection{
		azcore:      client,
		endpoint:    address,
		root:        address.String(),
		apiVersion:  apiVersion,
		auth:        auth,
		noRetries:   policy.RetryOptions{MaxRetries: -1, TryTimeout: options.Retry.TryTimeout},
		forCheck:    soon(options.Retry),
		forStreams:  forStreams,
		instruments: instruments,
		assumeWhole: opts.AssumeWholeView,
	}, nil
}

// secret reports whether a header holds a credential and must not be logged. Headers of previews with a credential
// end in "authorization".
func secret(header string) bool {
	return strings.EqualFold(header, keyHeader) || strings.HasSuffix(strings.ToLower(header), "authorization")
}

// soon returns the configured options. Where they are not set, it retries less often and sooner than the default,
// because a caller waits for the result of a check.
func soon(configured policy.RetryOptions) policy.RetryOptions {
	if configured.MaxRetries == 0 {
		configured.MaxRetries = 2
	}
	if configured.RetryDelay == 0 {
		configured.RetryDelay = 200 * time.Millisecond
	}
	return configured
}

// url returns the address of path with the api-version and the given name and value pairs as query. path starts with
// a slash and is already escaped.
func (c *connection) url(path string, query ...string) string {
	var b strings.Builder
	b.WriteString(c.root)
	b.WriteString(path)
	b.WriteString("?api-version=")
	b.WriteString(url.QueryEscape(c.apiVersion.String()))
	for i := 0; i+1 < len(query); i += 2 {
		b.WriteByte('&')
		b.WriteString(url.QueryEscape(query[i]))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(query[i+1]))
	}
	return b.String()
}

// quoted returns s in the form of an OData key in a path: in quotes and parentheses, with its own quotes doubled and
// all other special characters escaped.
func quoted(s string) string {
	s = url.QueryEscape(strings.ReplaceAll(s, "'", "''"))
	return "('" + strings.ReplaceAll(s, "+", "%20") + "')"
}

// newRequest returns a request with the headers and values that all requests have.
func (c *connection) newRequest(ctx context.Context, method, url, accept string) (*policy.Request, error) {
	req, err := runtime.NewRequest(ctx, method, url)
	if err != nil {
		return nil, err
	}
	req.SetOperationValue(new(attempts)) // for attemptMemory
	req.Raw().Header.Set("Accept", accept)
	if id := models.ClientRequestID(ctx); id != "" {
		req.Raw().Header.Set(clientRequestIDHeader, id)
	}
	return req, nil
}

// send sends req. It returns the reply if its status is an expected one, otherwise an *Error.
func (c *connection) send(req *policy.Request, call call, expected ...int) (*http.Response, error) {
	var made *attempts
	if call.measured != nil && req.OperationValue(&made) {
		made.measured = call.measured
	}
	resp, err := complete(c.azcore.Pipeline().Do(req))
	if err != nil {
		call.measured.attempted(nil, err) // if the context has ended since, err differs from that of the last attempt
		return nil, c.unanswered(err, req, call)
	}
	if resp.Request == nil { // a policy of the caller made the reply; sent reads the request
		resp.Request = req.Raw()
	}
	if !runtime.HasStatusCode(resp, expected...) {
		if resp.StatusCode < http.StatusMultipleChoices { // replyGuard took it for a success
			readError(resp, sent(resp.Request))
		}
		return nil, newError(resp, req, call, c)
	}
	if call.needs != writeDocuments && page(resp) { // postBatch checks its own replies
		_ = resp.Body.Close()
		return nil, c.foreign(resp, call)
	}
	return resp, nil
}

// getURL reads a definition or statistics.
func (c *connection) getURL(ctx context.Context, url string, call call) ([]byte, *http.Response, error) {
	req, err := c.newRequest(ctx, http.MethodGet, url, acceptMinimal)
	if err != nil {
		return nil, nil, call.wrap(err)
	}
	resp, err := c.send(req, call, http.StatusOK)
	if err != nil {
		return nil, nil, err
	}
	body, err := runtime.Payload(resp)
	if err != nil {
		return nil, nil, call.wrap(malformed(err, resp))
	}
	return trimBOM(body), resp, nil
}

// span starts the span of an exported operation as a child of the span in ctx. If operations call one another, azcore
// makes only the outermost span.
func (c *connection) span(ctx context.Context, name string) (context.Context, func(error)) {
	return runtime.StartSpan(ctx, name, c.azcore.Tracer(), nil)
}
