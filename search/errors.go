package search

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// The sentinel errors of an *Error, for errors.Is.
var (
	// ErrIndexNotFound means that the index does not exist.
	ErrIndexNotFound = errors.New("search: index not found")
	// ErrSynonymMapNotFound means that the synonym map does not exist.
	ErrSynonymMapNotFound = errors.New("search: synonym map not found")
	// ErrAliasNotFound means that the alias does not exist.
	ErrAliasNotFound = errors.New("search: alias not found")
	// ErrDataSourceNotFound means that the data source does not exist.
	ErrDataSourceNotFound = errors.New("search: data source not found")
	// ErrIndexerNotFound means that the indexer does not exist.
	ErrIndexerNotFound = errors.New("search: indexer not found")
	// ErrSkillsetNotFound means that the skillset does not exist.
	ErrSkillsetNotFound = errors.New("search: skillset not found")
	// ErrKnowledgeSourceNotFound means that the knowledge source does not exist.
	ErrKnowledgeSourceNotFound = errors.New("search: knowledge source not found")
	// ErrKnowledgeBaseNotFound means that the knowledge base does not exist.
	ErrKnowledgeBaseNotFound = errors.New("search: knowledge base not found")
	// ErrDocumentNotFound means that the index exists but the document does not.
	ErrDocumentNotFound = errors.New("search: document not found")
	// ErrPreconditionFailed means that an IfMatch or IfNoneMatch condition did not hold. The request changed nothing; if
	// it repeats one whose reply was lost, that one may have done what was asked.
	ErrPreconditionFailed = errors.New("search: precondition failed")
)

// Error is a reply in which the service refuses a whole request. Extract it with errors.As, which also finds an
// *azcore.ResponseError in it.
//
// A connection that cannot be made or breaks is not an Error: it is a wrapped error of net/http.
type Error struct {
	// StatusCode is the HTTP status.
	StatusCode int
	// Code is the service's code for the error, for example
	// "ResourceNotFound". Often empty.
	Code string
	// Message is the service's own explanation. Empty if it gave none.
	Message string
	// Details are further parts of the explanation, if there are any.
	Details []ErrorDetail

	// Operation is the name of the operation, for example "CreateIndex".
	Operation string
	// IndexName is the index that the request concerned, or "".
	IndexName string
	// Hint names the likely fix: which role, key or index is missing. It comes from this package, not from the service,
	// and may be empty.
	Hint string

	// RequestID is the service's id of the request, for support cases.
	RequestID string
	// ClientRequestID is the id that was sent with the request.
	ClientRequestID string

	sentinel   error // one of the Err variables, or nil
	response   *azcore.ResponseError
	retryAfter time.Duration
	hinted     bool // the reply had a Retry-After, which is retryAfter
	foreign    bool // the body is not in JSON or has no explanation: not a search service
	unlike     bool // the result of Foreign
	signed     bool // the result of Signed
}

// ErrorDetail is one entry in the details of an Error.
type ErrorDetail struct {
	Code, Message, Target string
}

var (
	_ retry.StatusError     = (*Error)(nil)
	_ retry.RetryAfterError = (*Error)(nil)
	_ models.ServiceError   = (*Error)(nil)
)

// Error returns the service's message, then the operation, the status, the code and the request id, then the hint. It
// is one line, and contains neither credentials nor parts of the request's body. Where the service quotes a secret of
// the request, *** stands for it.
func (e *Error) Error() string {
	text := e.text(call{operation: e.Operation, index: e.IndexName}.String() + ": ")
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// mostDetails is how many of Error.Details the text has.
const mostDetails = 3

// text returns the service's message and, in parentheses, the operation, the status, the code and the request id.
func (e *Error) text(attempted string) string {
	var b strings.Builder
	if text := shown(e.Message); text != "" {
		b.WriteString(text)
	} else {
		fmt.Fprintf(&b, "the service answered %d %s and did not say why", e.StatusCode, http.StatusText(e.StatusCode))
	}
	message := oneLine(e.Message)
	for _, d := range e.Details[:min(len(e.Details), mostDetails)] {
		text, _, _ := strings.Cut(oneLine(d.Message), " Parameters: ") // the service appends the name of one of its arguments
		if text != "" && !strings.Contains(message, text) {
			b.WriteString(" " + shown(text))
		}
	}
	fmt.Fprintf(&b, " (%sHTTP %d", attempted, e.StatusCode)
	if e.Code != "" {
		b.WriteString(" " + shown(e.Code))
	}
	if e.RequestID != "" {
		b.WriteString(", request id " + e.RequestID)
	} else if e.ClientRequestID != "" {
		b.WriteString(", client request id " + e.ClientRequestID)
	}
	b.WriteByte(')')
	return b.String()
}

// Unwrap returns the *azcore.ResponseError. Body and credentials have been removed from the request in its
// RawResponse.
func (e *Error) Unwrap() error {
	if e.response == nil {
		return nil
	}
	return e.response
}

// Is implements errors.Is for the Err variables of this package.
func (e *Error) Is(target error) bool {
	return e.sentinel != nil && target == e.sentinel
}

// HTTPStatus returns the HTTP status of the reply.
func (e *Error) HTTPStatus() int { return e.StatusCode }

// RetryAfter returns the wait that the service asks for, and whether it asks for one. A date was converted to a
// duration when the reply arrived.
func (e *Error) RetryAfter() (time.Duration, bool) { return e.retryAfter, e.hinted }

// newError returns the error for a reply. replyGuard has already read its body.
func newError(resp *http.Response, req *policy.Request, call call, conn *connection) *Error {
	body, _ := runtime.Payload(resp)
	reply := parseErrorBody(body)
	if to, err := resp.Location(); err == nil {
		reply.location = " (to " + place(to) + ")"
	}
	e := &Error{
		StatusCode:      resp.StatusCode,
		Code:            reply.code,
		Message:         reply.message,
		Details:         reply.details,
		Operation:       call.operation,
		IndexName:       call.index,
		RequestID:       requestID(resp),
		ClientRequestID: req.Raw().Header.Get(clientRequestIDHeader),
		sentinel:        sentinel(resp.StatusCode, reply, call),
		foreign:         reply.foreign,
		unlike:          unlike(resp.StatusCode, reply),
		signed:          resp.Header.Get("elapsed-time") != "",
	}
	e.retryAfter, e.hinted = retry.RetryAfter(resp.Header, time.Now())
	e.Hint = hint(e, reply, call, conn)
	resp.Request = withoutSecrets(req.Raw())
	// NewResponseError cannot fail here, because the body is in memory.
	errors.As(runtime.NewResponseError(resp), &e.response)
	return e
}

// withoutSecrets returns a copy of a request for an error that may be kept for long. It drops the body, which may be
// 16 MB of documents, and the credentials, which a dump of the error would print.
func withoutSecrets(req *http.Request) *http.Request {
	req = req.Clone(req.Context())
	req.Body, req.GetBody = nil, nil
	for name := range req.Header {
		if secret(name) {
			req.Header.Set(name, "REDACTED")
		}
	}
	return req
}

// sentinel returns the error that errors.Is should find for a reply, or nil.
func sentinel(status int, reply errorReply, call call) error {
	switch status {
	case http.StatusPreconditionFailed:
		return ErrPreconditionFailed
	case http.StatusNotFound:
		switch {
		case reply.foreign:
			return nil // some other server
		case call.other.name != "":
			return call.other.notFound
		case call.index == "":
			return nil // the call is about the service
		case call.operation == opGetDocument && reply.aboutDocument():
			return ErrDocumentNotFound
		}
		return ErrIndexNotFound
	}
	return nil
}

// requestID returns the service's id of the request. Gateways in front of the service use X-Ms-Request-Id.
func requestID(resp *http.Response) string {
	if id := resp.Header.Get("Request-Id"); id != "" {
		return id
	}
	return resp.Header.Get("X-Ms-Request-Id")
}

// oneLine joins the lines of a message. The service ends its own with CRLF.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// maxMessage is the number of bytes of a message that an error prints. A limit is needed because the service explains
// all bad documents of a batch in one message.
const maxMessage = 2000

// shown returns a message in the form that errors print: one line, at most maxMessage bytes.
func shown(message string) string {
	text := oneLine(message)
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + fmt.Sprintf("… (%d bytes in all)", len(text))
}

// ServiceMessage returns the service's own explanation, including details, but not the parts that differ from request
// to request. A buffered sender compares it to group failures by cause.
func (e *Error) ServiceMessage() string {
	texts := []string{e.Message}
	for _, d := range e.Details {
		texts = append(texts, d.Message)
	}
	return strings.Join(texts, " ")
}

// ActionMessages returns the messages in Details about single actions of a batch, by position in the request, from 0.
// It is nil if there are none, as in api-versions before 2023-11-01.
func (e *Error) ActionMessages() map[int]string {
	var messages map[int]string
	for _, d := range e.Details {
		message, is := strings.CutSuffix(d.Message, " Parameters: actions")
		at, message, _ := strings.Cut(message, ": ")
		position, err := strconv.Atoi(at)
		if err != nil || position < 0 || !is {
			continue
		}
		if messages == nil {
			messages = make(map[int]string)
		}
		messages[position] = message
	}
	return messages
}

// Foreign reports whether the reply does not have the form in which the service explains an error. Then the sender
// was a gateway, a firewall or a proxy in front of the service, or another server at its address. Such a reply says
// nothing about the documents of a request, whatever its status. A 400 or 413 without a body counts too, because the
// service explains each of its own.
func (e *Error) Foreign() bool { return e.unlike }

// Signed reports whether the reply has the header elapsed-time, which the service adds to every reply. Proxies may
// remove it.
func (e *Error) Signed() bool { return e.signed }

// unlike implements Foreign.
func unlike(status int, reply errorReply) bool {
	switch {
	case reply.foreign, reply.bare:
		return true
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge:
		return reply.empty
	}
	return false
}

// ServiceRequestID returns RequestID.
func (e *Error) ServiceRequestID() string { return e.RequestID }

// LogReason returns the part of the error that may be logged where documents must not be: the service's code and the
// hint, but not its message, which quotes documents.
func (e *Error) LogReason() string {
	var parts []string
	if e.Code != "" && !strings.ContainsFunc(e.Code, func(r rune) bool { return r > 'z' || r < 'A' }) {
		parts = append(parts, e.Code)
	}
	if e.Hint != "" {
		parts = append(parts, e.Hint)
	}
	return strings.Join(parts, ": ")
}
