package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models/knowledge"
)

// KnowledgeBaseClient asks one knowledge base. It is safe for concurrent use and needs no closing. It needs a query
// key, or the role "Search Index Data Reader". An IndexClient manages knowledge bases and also makes such clients.
type KnowledgeBaseClient struct {
	conn *connection
	name string
}

// NewKnowledgeBaseClient returns a client for a knowledge base that authenticates with Entra ID. For endpoint and
// opts see NewClient. It sends nothing, and joins all problems with its arguments in one error.
func NewKnowledgeBaseClient(endpoint, knowledgeBase string, cred azcore.TokenCredential, opts *ClientOptions) (*KnowledgeBaseClient, error) {
	return newKnowledgeBaseClient(endpoint, knowledgeBase, authentication{token: cred}, opts)
}

// NewKnowledgeBaseClientWithKey is NewKnowledgeBaseClient with an API key, which can be rotated while the client is
// in use.
func NewKnowledgeBaseClientWithKey(endpoint, knowledgeBase string, cred *azcore.KeyCredential, opts *ClientOptions) (*KnowledgeBaseClient, error) {
	return newKnowledgeBaseClient(endpoint, knowledgeBase, authentication{withKey: true, key: cred}, opts)
}

func newKnowledgeBaseClient(endpoint, name string, auth authentication, opts *ClientOptions) (*KnowledgeBaseClient, error) {
	conn, err := newConnection(endpoint, auth, opts)
	return knowledgeBaseClient(conn, err, name)
}

// knowledgeBaseClient returns a client for a knowledge base; err is the problem with conn.
func knowledgeBaseClient(conn *connection, err error, name string) (*KnowledgeBaseClient, error) {
	err = errors.Join(err, knowledgeBaseKind().check(name))
	if err == nil {
		err = knowledgeBaseKind().allowed(conn)
	}
	if err != nil {
		return nil, fmt.Errorf("search: new knowledge base client: %w", err)
	}
	return &KnowledgeBaseClient{conn: conn, name: name}, nil
}

// Endpoint returns the address of the service, without a trailing slash.
func (c *KnowledgeBaseClient) Endpoint() string { return c.conn.root }

func (c *KnowledgeBaseClient) connection() *connection { return c.conn }

// RetrieveOptions are the options of Retrieve and RetrieveStream. There are none yet.
type RetrieveOptions struct{}

// userTokenHeader carries the token of a user.
const userTokenHeader = "X-Ms-Query-Source-Authorization"

// Retrieved is the answer of a knowledge base.
type Retrieved struct {
	knowledge.Response
	// Partial means that a source failed or the time limit was reached, so the answer is incomplete. If the request has
	// IncludeActivity, Activity lists the failures.
	Partial bool
}

// Format implements fmt.Formatter. It writes the response as JSON, after "partial: " if it is.
func (r Retrieved) Format(s fmt.State, verb rune) {
	if r.Partial {
		_, _ = io.WriteString(s, "partial: ")
	}
	r.Response.Format(s, verb)
}

// LogValue implements slog.LogValuer.
func (r Retrieved) LogValue() slog.Value {
	return slog.GroupValue(slog.Bool("partial", r.Partial), slog.Any("response", r.Response))
}

// Retrieve asks the knowledge base and waits for the whole answer. If a source failed, the answer is Partial and the
// error is nil. If the knowledge base does not exist, the error is ErrKnowledgeBaseNotFound.
func (c *KnowledgeBaseClient) Retrieve(ctx context.Context, request knowledge.Request, _ *RetrieveOptions) (_ Retrieved, err error) {
	const operation = "Retrieve"
	ctx, end := c.conn.span(ctx, "KnowledgeBaseClient."+operation)
	defer func() { end(err) }()
	call := c.call(operation)
	req, err := c.request(ctx, request, acceptMinimal)
	if err != nil {
		return Retrieved{}, call.wrap(err)
	}
	resp, err := c.conn.send(req, call, http.StatusOK, http.StatusPartialContent)
	if err != nil {
		return Retrieved{}, err
	}
	answer := Retrieved{Partial: resp.StatusCode == http.StatusPartialContent}
	body, err := runtime.Payload(resp)
	if err == nil {
		err = json.Unmarshal(trimBOM(body), &answer.Response)
	}
	if err != nil {
		return Retrieved{}, call.wrap(malformed(err, resp))
	}
	return answer, nil
}

// RetrieveStream asks the knowledge base and yields the events of its answer as they arrive; the last one is a
// knowledge.Completed. Each iteration makes the request again when it starts; the request is not retried after the
// first event. An error ends the iteration. It is yielded with a knowledge.Failed if the service ended the stream
// with that event, otherwise with a nil event. If the stream ends before its last event, the error has
// models.ErrMalformedReply in its chain, or is that of ctx. RetrieveStream needs api-version 2026-10-01 or
// 2026-08-01-preview.
func (c *KnowledgeBaseClient) RetrieveStream(ctx context.Context, request knowledge.Request, _ *RetrieveOptions) iter.Seq2[knowledge.Event, error] {
	const operation = "RetrieveStream"
	return func(yield func(knowledge.Event, error) bool) {
		var err error
		ctx, end := c.conn.span(ctx, "KnowledgeBaseClient."+operation)
		defer func() { end(err) }()
		call := c.call(operation)
		if err = missing(c.conn.apiVersion, apiversion.RetrieveStream); err != nil {
			err = call.wrap(err)
			yield(nil, err)
			return
		}
		req, err := c.request(policy.WithRetryOptions(ctx, c.conn.forStreams), request, "text/event-stream")
		if err != nil {
			err = call.wrap(err)
			yield(nil, err)
			return
		}
		runtime.SkipBodyDownload(req)
		resp, err := c.conn.send(req, call, http.StatusOK)
		if err != nil {
			yield(nil, err)
			return
		}
		err = c.events(ctx, call, resp, sent(resp.Request), yield)
	}
}

// events yields the events of a reply up to the last one, and returns the error that it yielded. An error does not
// contain secrets.
func (c *KnowledgeBaseClient) events(ctx context.Context, call call, resp *http.Response, secrets []string, yield func(knowledge.Event, error) bool) error {
	defer func() { _ = resp.Body.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = resp.Body.Close() }) // unblocks the read, even if the transport ignores ctx
	defer stop()
	events := newEventReader(resp.Body)
	for {
		name, data, err := events.next()
		var event knowledge.Event
		last := false
		if err == nil {
			event, last, err = knowledge.DecodeEvent(name, data)
		}
		switch {
		case ctx.Err() != nil:
			event, err = nil, call.wrap(context.Cause(ctx))
		case err != nil:
			err = call.wrap(malformed(err, resp))
		default:
			if failed, is := event.(knowledge.Failed); is {
				failed.Error.Message = withoutSent(failed.Error.Message, secrets)
				event = failed
				err = call.wrap(fmt.Errorf("the service ended the stream: %s (%s, request id %s)", oneLine(failed.Error.Message), failed.Error.Code, requestID(resp)))
			}
		}
		if !yield(event, err) || err != nil || last {
			return err
		}
	}
}

// request returns the request to the knowledge base.
func (c *KnowledgeBaseClient) request(ctx context.Context, request knowledge.Request, accept string) (*policy.Request, error) {
	body, err := encodeBody(request)
	if err != nil {
		return nil, err
	}
	req, err := c.conn.newRequest(ctx, http.MethodPost, c.conn.url(knowledgeBaseKind().path+quoted(c.name)+"/retrieve"), accept)
	if err != nil {
		return nil, err
	}
	user := readerOf(ctx)
	user.elevated = false
	user.header(req.Raw().Header)
	return req, lend(req, body)
}

func (c *KnowledgeBaseClient) call(operation string) call {
	call := knowledgeBaseKind().call(operation, c.name)
	call.needs = readDocuments
	return call
}
