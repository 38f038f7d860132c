package search

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// unanswered is the error of a request without a complete reply: one line with the operation, the cause once, and a
// hint.
type unanswered struct {
	call  call
	cause string
	hint  string
	err   error
	// before is the error of the attempt before, if err only means that the context ended during the wait for the next
	// one.
	before error
}

func (e *unanswered) Error() string {
	text := "search: " + e.call.String() + ": " + e.cause
	if e.hint != "" {
		text += ": " + e.hint
	}
	return text
}

// Unwrap returns the error of net/http, the credential or the context.
func (e *unanswered) Unwrap() error { return e.err }

// unanswered returns the error for a request that ended with err.
func (c *connection) unanswered(err error, req *policy.Request, call call) error {
	e := &unanswered{call: call, cause: cause(err), err: err}
	reason := err
	var made *attempts
	switch found := ended(err) && req.OperationValue(&made); {
	case found && made.failed != nil:
		e.before, reason = made.failed, made.failed
		e.cause += ", after an attempt that failed: " + cause(reason)
	case found && made.wantsToken && !made.sent:
		reason = &CredentialError{Err: err}
		e.err, e.cause = reason, "the credential has returned no token: "+e.cause
	}
	e.hint = troubleOf(reason).hint(c.root, changes(req.Raw().Method, call))
	return e
}

// changes reports whether a request may have changed data.
func changes(method string, call call) bool {
	return call.needs == writeDocuments || call.needs == manageIndexes && method != http.MethodGet
}

// cause returns the text of err without the parts that the rest of the message has already: the URL, and the names of
// azcore's policies.
func cause(err error) string {
	var credential *CredentialError
	if errors.As(err, &credential) {
		return tidy(credential.Error())
	}
	for {
		inner := errors.Unwrap(err)
		_, address := err.(*url.Error) //nolint:errorlint // one layer after the other, and none below others
		if inner == nil || !address && !strings.HasPrefix(err.Error(), "body download policy: ") {
			return tidy(err.Error())
		}
		err = inner
	}
}

// tidy joins the lines of a message, and removes the rules that azidentity draws between its parts.
func tidy(text string) string {
	words := strings.Fields(text)
	kept := words[:0]
	for _, w := range words {
		if len(w) < 4 || strings.Trim(w, "-") != "" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// ended reports whether err means that a context ended.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// trouble is the class of error for which a request got no reply.
type trouble int

const (
	unknownTrouble trouble = iota
	contextEnded
	noCredential
	noSuchHost
	noNameServer
	notTLS
	badCertificate
	noTLS
	proxyTrouble
	refused
	noConnection
	broken
)

// troubleOf classifies the error of a request without a reply.
func troubleOf(err error) trouble {
	var (
		credential  *CredentialError
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		host        x509.HostnameError
		invalid     x509.CertificateInvalidError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		op          *net.OpError
	)
	switch {
	case errors.As(err, &credential):
		return noCredential
	case errors.As(err, &dns) && dns.IsNotFound:
		return noSuchHost
	case errors.As(err, &dns):
		return noNameServer
	case errors.Is(err, http.ErrSchemeMismatch):
		return notTLS
	case errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid):
		return badCertificate
	case errors.As(err, &record), errors.As(err, &alert):
		return noTLS
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return proxyTrouble
	case errors.Is(err, syscall.ECONNREFUSED):
		return refused
	case errors.As(err, &op) && op.Op == "dial":
		return noConnection
	case ended(err):
		return contextEnded
	case errors.As(err, &op), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return broken
	}
	return unknownTrouble
}

// hint returns the likely fix, or "". root is the endpoint.
func (t trouble) hint(root string, changes bool) string {
	switch t {
	case noSuchHost:
		return fmt.Sprintf("check the name of the service in the endpoint %s (a private endpoint is known in its own network only)", root)
	case noNameServer:
		return "the name server did not answer: check the network"
	case notTLS:
		return fmt.Sprintf("what listens at %s does not speak https: check the port, and any proxy on the way", root)
	case badCertificate:
		return fmt.Sprintf("the certificate of %s is not trusted: check the endpoint, the clock, and the root certificates of this machine, to which a proxy that inspects TLS adds its own", root)
	case noTLS:
		return fmt.Sprintf("no TLS connection to %s: check the port, and any proxy on the way", root)
	case proxyTrouble:
		return "check the proxy that HTTPS_PROXY names, or add the service to NO_PROXY"
	case refused:
		return fmt.Sprintf("nothing listens there: check the host and the port of the endpoint %s", root)
	case noConnection:
		return fmt.Sprintf("no connection to %s: check the endpoint, the network and any firewall", root)
	case broken:
		if changes {
			return "the connection broke before the reply was complete: the service may have carried the request out"
		}
		return "the connection broke before the reply was complete"
	}
	return ""
}

// attempts records the attempts of a request: the error of the last attempt that did not end with the context, and
// the measurement.
type attempts struct {
	failed   error
	measured *measurement // of all attempts; nil if not measured
	// wantsToken means that the attempt waits for a token, sent that an attempt has passed that point.
	wantsToken, sent bool
}

// attemptMemory is the pipeline policy that writes attempts. If the context ends between two attempts, azcore returns
// only the error of the context, which does not explain the failure.
type attemptMemory struct{}

func (attemptMemory) Do(req *policy.Request) (*http.Response, error) {
	var made *attempts
	if !req.OperationValue(&made) {
		return req.Next()
	}
	made.measured.attempt(req.Raw().Context())
	resp, err := req.Next()
	made.measured.attempted(resp, err)
	switch {
	case err != nil && !ended(err):
		made.failed = err
	case err == nil && resp.StatusCode >= http.StatusBadRequest:
		made.failed = fmt.Errorf("the service answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return resp, err
}
