package retry

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"slices"

	"github.com/cenkalti/backoff/v4"
)

// Verdict is the next action for an action or a whole request.
type Verdict uint8

const (
	// Fail means to give up: sending the same again would fail again. It is the zero value, so unforeseen cases are
	// reported and not repeated.
	Fail Verdict = iota
	// Done means that the service has applied the action.
	Done
	// Retry means that the same may succeed later.
	Retry
	// Split means that the service refused the request as a whole for its content, and that its halves may be accepted.
	Split
)

// String returns the name of the verdict.
func (v Verdict) String() string {
	switch v {
	case Fail:
		return "fail"
	case Done:
		return "done"
	case Retry:
		return "retry"
	case Split:
		return "split"
	}
	return "unknown"
}

// Decision is a verdict and the other consequences of a status.
type Decision struct {
	Verdict Verdict
	// Pause means that the service fails, not the document: pause all sending, not only this action.
	Pause bool
	// Unknown means that the request may have been applied, although no answer confirms it.
	Unknown bool
	// NoAnswer means that the service itself did not answer: the connection broke or timed out after the request may have
	// been sent, or a proxy answered instead. The service may still execute the request, and may do so after later
	// requests. NoAnswer implies Unknown. A 500 or 503 is Unknown without NoAnswer, because its sender has finished.
	NoAnswer bool
	// Permanent means that no other request to this index will succeed until an operator changes something: wrong key,
	// missing role, missing index, wrong address.
	Permanent bool
	// TooLarge means that the request was refused for its size, so later ones should be smaller.
	TooLarge bool
}

// meanings are the decisions for one status, by where it occurs.
type meanings struct {
	// document is for the status of one document in a reply.
	document Decision
	// request is for the status of a whole batch.
	request Decision
	// call reports whether a client call other than a batch is retried.
	call bool
}

// Decisions that occur in the table more than once.
var (
	hold           = Decision{Verdict: Retry, Pause: true}
	holdUnsure     = Decision{Verdict: Retry, Pause: true, Unknown: true}
	holdUnanswered = Decision{Verdict: Retry, Pause: true, Unknown: true, NoAnswer: true}
	unsure         = Decision{Verdict: Retry, Unknown: true}
	permanent      = Decision{Verdict: Fail, Permanent: true}
)

// table is the only place that decides which status is retried. For other statuses see meaning. Statuses of documents
// are those in the service's documentation of the operation "Documents - Index"; a 409, 422, 400, 404 or 429 there
// means that the document was not applied.
var table = map[int]meanings{
	http.StatusOK:          {document: Decision{Verdict: Done}, request: Decision{Verdict: Done}},
	http.StatusCreated:     {document: Decision{Verdict: Done}},
	http.StatusMultiStatus: {request: Decision{Verdict: Done}},
	http.StatusBadRequest:  {request: Decision{Verdict: Split}},
	http.StatusNotFound:    {request: permanent}, // of a document: a merge of a missing one
	// By the RFC the service did not receive the whole request in time, so it has applied nothing. But gateways, and other
	// services of Azure, reply 408 when their backend took too long, and the two cases look the same.
	http.StatusRequestTimeout:        {request: holdUnanswered, call: true},
	http.StatusConflict:              {document: Decision{Verdict: Retry}, request: hold},
	http.StatusRequestEntityTooLarge: {request: Decision{Verdict: Split, TooLarge: true}},
	http.StatusUnprocessableEntity:   {document: Decision{Verdict: Retry}, request: hold}, // index offline for an update
	http.StatusTooManyRequests:       {request: hold, call: true},                         // of a document: its quota, not throttling
	http.StatusInternalServerError:   {document: unsure, request: holdUnsure, call: true},
	http.StatusBadGateway:            {document: unsure, request: holdUnanswered, call: true},
	http.StatusServiceUnavailable:    {document: holdUnsure, request: holdUnsure, call: true},
	http.StatusGatewayTimeout:        {document: unsure, request: holdUnanswered, call: true},
}

// meaning returns the decisions for a status, or those for its class.
func meaning(status int) meanings {
	if m, ok := table[status]; ok {
		return m
	}
	switch status / 100 {
	case 1, 3, 4:
		return meanings{request: permanent}
	case 5:
		if status >= 520 && status <= 530 {
			return meanings{document: unsure, request: holdUnanswered}
		}
		return meanings{document: unsure, request: holdUnsure}
	}
	return meanings{} // Fail
}

// ForDocument returns the decision for the status of one document in a reply:
//
//	200, 201             Done
//	409, 422             Retry
//	503                  Retry, Pause, Unknown
//	5xx                  Retry, Unknown
//	400, 404, 429        Fail
//	every other          Fail
//
// 409 is a version conflict, 422 an index that is offline for an update, 404 a merge of a missing document. 429 is the
// document quota and not throttling.
func ForDocument(status int) Decision { return meaning(status).document }

// ForRequest returns what the status of a whole reply means:
//
//	200, 207             Done: look at the documents
//	other 2xx            Fail: see ForError
//	400                  Split
//	413                  Split, TooLarge
//	409, 422, 429        Retry, Pause
//	500, 503, other 5xx  Retry, Pause, Unknown
//	408, 502, 504        Retry, Pause, Unknown, NoAnswer
//	520 to 530           Retry, Pause, Unknown, NoAnswer
//	other 1xx, 3xx, 4xx  Fail, Permanent
//	no status of HTTP    Fail
//
// All this is for replies of the service; for others see ForeignError.
//
// Permanent statuses concern the key (401, 403), the index (404) or the address (a redirect, 405, 421, any status that
// the service does not use), and not the documents: later requests would fail too. Proxies such as Cloudflare reply 520
// to 530 if they get no answer from the service.
func ForRequest(status int) Decision { return meaning(status).request }

// CallStatuses returns the statuses at which a single call other than a batch (a query, or a change of a definition) is
// retried while its caller waits: 408, 429, 500, 502, 503 and 504, as Azure's clients do by default. It lacks 409 and
// 422, which mean for such calls that a name is taken or a change is not allowed. It lacks other 5xx, which last longer
// than a caller would wait.
func CallStatuses() []int {
	var statuses []int
	for status, m := range table {
		if m.call {
			statuses = append(statuses, status)
		}
	}
	slices.Sort(statuses)
	return statuses
}

// Throttles reports whether the status of a whole reply asks for fewer requests: 429 and 503. Do not use it for the
// status of one document, where 429 is a quota.
func Throttles(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// StatusError is an error that represents a reply of the service. *search.Error is one. Your own Indexer should return
// one too, because an error without a status counts as a broken connection.
type StatusError interface {
	error
	// HTTPStatus returns the status of the reply, for example 503.
	HTTPStatus() int
}

// ForeignError is a StatusError that distinguishes replies of the service from those of a gateway, a firewall, a proxy
// or another server at the address. *search.Error is one.
type ForeignError interface {
	StatusError
	// Foreign reports whether the reply is not the service's own. Its status then means nothing for the documents sent.
	Foreign() bool
}

// IsForeign reports whether an error represents a reply that is not the service's own.
func IsForeign(err error) bool {
	var reply ForeignError
	return errors.As(err, &reply) && reply.Foreign()
}

// HasStatus reports whether an error represents a reply with this status.
func HasStatus(err error, status int) bool {
	var reply StatusError
	return errors.As(err, &reply) && reply.HTTPStatus() == status
}

// UnsentError is an error that occurred before the request could be sent, for example because there was no token.
// *search.CredentialError is one.
type UnsentError interface {
	error
	// Permanent reports whether no other request will succeed until an operator changes something.
	Permanent() bool
}

// ForError returns the decision for an error of a whole request, and the error's status, 0 for an error without a
// reply: a connection that was refused, reset or timed out.
//
// Errors without a reply are retried. Their outcome is unknown, and they count as cut off, unless the request certainly
// never left this machine. The outcome of an error with a status of success, any 2xx, is unknown too: the reply could
// not be used. It is retried, never Done. A ForeignError is retried whatever its status, and split only for 413,
// because it means nothing for the documents sent. An error wrapped by backoff.Permanent is never retried and never
// split, nor is a permanent UnsentError. nil is Done with status 0: check the documents.
func ForError(err error) (decision Decision, status int) {
	if err == nil {
		return Decision{Verdict: Done}, 0
	}
	sent := !neverSent(err)
	decision = Decision{Verdict: Retry, Pause: true, Unknown: sent, NoAnswer: sent}
	var reply StatusError
	if errors.As(err, &reply) && reply.HTTPStatus() != 0 {
		status = reply.HTTPStatus()
		decision = ForRequest(status)
		switch {
		case status/100 == 2:
			decision = holdUnsure
		case decision.Verdict != Retry && !decision.TooLarge && IsForeign(err):
			decision = holdUnsure
		}
	}
	if unsent := UnsentError(nil); status == 0 && errors.As(err, &unsent) {
		decision = Decision{Verdict: Retry, Pause: true}
		if unsent.Permanent() {
			decision = Decision{Verdict: Fail, Permanent: true}
		}
	}
	if permanent := (*backoff.PermanentError)(nil); errors.As(err, &permanent) {
		// Giving up does not change whether the request may have been applied.
		decision = Decision{Verdict: Fail, Unknown: decision.Unknown, NoAnswer: decision.NoAnswer, Permanent: decision.Permanent}
	}
	return decision, status
}

// neverSent reports whether err proves that no byte of the request reached the service, because there was no
// connection. Any other error counts as sent.
func neverSent(err error) bool {
	var (
		dns         *net.DNSError
		op          *net.OpError
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		host        x509.HostnameError
		invalid     x509.CertificateInvalidError
		record      tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &dns),
		errors.As(err, &certificate),
		// A tls.Config with its own verification returns these unwrapped.
		errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid),
		errors.Is(err, http.ErrSchemeMismatch):
		return true
	case errors.As(err, &record):
		// Conn is set only if the very first record was not TLS; after a later broken record the request may have been read.
		return record.Conn != nil
	case errors.As(err, &op):
		return op.Op == "dial" || op.Op == "proxyconnect"
	}
	return false
}
