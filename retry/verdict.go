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

// Verdict is what to do next about an action or a whole request.
type Verdict uint8

const (
	// Fail gives up: sending the same thing again would fail again. It is the
	// zero value, so that whatever nobody thought of is reported, not repeated.
	Fail Verdict = iota
	// Done means that the service has applied the action.
	Done
	// Retry means that the same thing may succeed later.
	Retry
	// Split means that the request was refused as a whole for what is in it:
	// its halves may be accepted.
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

// Decision is a verdict and what else follows from a status.
type Decision struct {
	Verdict Verdict
	// Pause means that the service, not the document, is in trouble: hold
	// everything, not only this action.
	Pause bool
	// Unknown means that the request may have been applied although no answer
	// says so.
	Unknown bool
	// NoAnswer means that no answer came from the service itself: the connection broke
	// or timed out after the request may have left, or a proxy answered in its
	// place. The service may still be at work on the request, so that what is sent
	// next can be overtaken by it. NoAnswer implies Unknown; a 500 or 503 is
	// Unknown without NoAnswer, because whoever gave it has finished.
	NoAnswer bool
	// Permanent means that no other request to this index will succeed either
	// until somebody changes something: wrong key, missing role, missing index,
	// wrong address.
	Permanent bool
	// TooLarge means that the size of the request is what was refused, so that the
	// next ones should be smaller.
	TooLarge bool
}

// meanings is what one status means, by where it stands.
type meanings struct {
	// document is for the status of one document inside a reply.
	document Decision
	// request is for the status of a whole batch.
	request Decision
	// call means that a call of the client that is no batch is tried again.
	call bool
}

// The decisions that are in the table more than once.
var (
	hold           = Decision{Verdict: Retry, Pause: true}
	holdUnsure     = Decision{Verdict: Retry, Pause: true, Unknown: true}
	holdUnanswered = Decision{Verdict: Retry, Pause: true, Unknown: true, NoAnswer: true}
	unsure         = Decision{Verdict: Retry, Unknown: true}
	permanent      = Decision{Verdict: Fail, Permanent: true}
)

// table is the one place where it is written which status is retried. A status
// that is not in it means what its class does: see meaning. The statuses of
// documents are those of the service's documentation of its "Documents - Index"
// operation; a 409, 422, 400, 404 or 429 there says that the document was not
// applied.
var table = map[int]meanings{
	http.StatusOK:          {document: Decision{Verdict: Done}, request: Decision{Verdict: Done}},
	http.StatusCreated:     {document: Decision{Verdict: Done}},
	http.StatusMultiStatus: {request: Decision{Verdict: Done}},
	http.StatusBadRequest:  {request: Decision{Verdict: Split}},
	http.StatusNotFound:    {request: permanent}, // of a document: a merge of a missing one
	// The service did not get the whole request in time, says the RFC, so it has
	// applied nothing. But gateways, and other services of Azure, give it when
	// what is behind them took too long, and nobody can tell the two apart.
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

// meaning returns the row of a status, or what holds for its class.
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

// ForDocument returns what the status of one document inside a reply means:
//
//	200, 201             Done
//	409, 422             Retry
//	503                  Retry, Pause, Unknown
//	5xx                  Retry, Unknown
//	400, 404, 429        Fail
//	every other          Fail
//
// 409 is a version conflict, 422 an index that is offline for an update. 404 is
// a merge of a missing document, 429 the document quota, which is no throttling.
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
// All of this is about replies of the service; for others see ForeignError.
//
// What is Permanent is about the key (401, 403), the index (404) or the address
// (a redirect, 405, 421, anything that the service does not give), and not about
// the documents: the next ones would fail too. 520 to 530 are those of proxies
// that could not get an answer out of the service (Cloudflare's, for example).
func ForRequest(status int) Decision { return meaning(status).request }

// CallStatuses returns the statuses of a reply at which a single call that is no
// batch, a query or a change of a definition, is tried again while somebody waits
// for it: 408, 429, 500, 502, 503 and 504. They are those that Azure's clients
// retry by default. 409 and 422 are not among them, because there they mean that
// a name is taken or that a change is not allowed; nor are other 5xx, which
// nothing that a caller would wait for ends.
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

// Throttles reports whether the status of a whole reply says that the service
// wants fewer requests: 429 and 503. It says nothing about the status of one
// document, whose 429 is a quota.
func Throttles(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// StatusError is implemented by an error that stands for a reply of the
// service. *search.Error is one; an Indexer of your own should return one too,
// because an error without a status counts as a broken connection.
type StatusError interface {
	error
	// HTTPStatus returns the status of the reply, for example 503.
	HTTPStatus() int
}

// ForeignError is implemented by a StatusError that can tell the replies of the service from those of something in
// front of it: a gateway, a firewall, a proxy, another server at the address. *search.Error is one.
type ForeignError interface {
	StatusError
	// Foreign reports whether the reply is not the service's own. Then its status says nothing about what was sent.
	Foreign() bool
}

// IsForeign reports whether an error stands for a reply that is not the service's own.
func IsForeign(err error) bool {
	var reply ForeignError
	return errors.As(err, &reply) && reply.Foreign()
}

// HasStatus reports whether an error stands for a reply with this status.
func HasStatus(err error, status int) bool {
	var reply StatusError
	return errors.As(err, &reply) && reply.HTTPStatus() == status
}

// UnsentError is implemented by an error that came before the request could be
// sent at all: there was no token to send it with. *search.CredentialError is
// one.
type UnsentError interface {
	error
	// Permanent reports whether no other request will succeed either until
	// somebody changes something.
	Permanent() bool
}

// ForError returns what an error of a whole request means, and the status it carries, 0 for one that is not a reply:
// a connection that was refused, reset or timed out. Those are retried, and unless the request certainly never left
// this machine its outcome is unknown and it counts as cut off. The outcome of an error with a status of success, any
// 2xx, is unknown too: it says that the reply could not be used, and is retried, never Done. A ForeignError is
// retried whatever its status, and never split but for a 413, because it says nothing about what was sent. An error
// wrapped by backoff.Permanent is never retried and never split, whatever its status; nor is an UnsentError that is
// permanent. nil is Done with status 0: look at the documents.
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
		// Giving up says nothing about what has become of the request.
		decision = Decision{Verdict: Fail, Unknown: decision.Unknown, NoAnswer: decision.NoAnswer, Permanent: decision.Permanent}
	}
	return decision, status
}

// neverSent reports whether err says that no byte of the request reached the
// service, because there was no connection to send it on. What it does not know
// may have been sent.
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
		// These come bare from a tls.Config that verifies by itself.
		errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid),
		errors.Is(err, http.ErrSchemeMismatch):
		return true
	case errors.As(err, &record):
		// Conn is set only when the very first record was no TLS; a broken
		// record later on comes when the request may have been read.
		return record.Conn != nil
	case errors.As(err, &op):
		return op.Op == "dial" || op.Op == "proxyconnect"
	}
	return false
}
