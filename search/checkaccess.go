package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/go-azsearch/azsearch/models"
)

// checker is one run of Check.
type checker struct {
	client   *Client
	use      CheckUse
	report   CheckReport
	problems []*CheckProblem
}

func (k *checker) found(p *CheckProblem) { k.problems = append(k.problems, p) }

func (k *checker) call(needs right) call { return k.client.call("Check", needs) }

// unchecked records parts that were skipped for the same reason.
func (k *checker) unchecked(reason string, err error, kinds ...CheckKind) {
	for _, kind := range kinds {
		k.report.Skipped = append(k.report.Skipped, CheckSkipped{Kind: kind, Reason: reason, Err: err})
	}
}

// run checks everything but the schema, and reads the definition of the index if the credential allows it.
func (k *checker) run(ctx context.Context) {
	definition := k.definition(ctx)
	missing := errors.Is(definition, ErrIndexNotFound)
	switch {
	case definition == nil, denied(definition):
	case missing && !k.elsewhere(definition):
		k.found(k.problem(CheckIndex, definition))
		k.unchecked("the index does not exist", nil, CheckSchema)
	default:
		k.stopped(definition)
		return
	}
	withKey := k.client.conn.auth.withKey
	if withKey && !denied(definition) {
		return // an admin key, which grants all rights
	}
	reading, writing := k.access(ctx, withKey)
	// Any other error explains more than a refusal. Report one of each kind.
	for _, err := range []error{reading, writing} {
		switch {
		case err == nil, denied(err):
		case errors.Is(err, ErrIndexNotFound) && !k.elsewhere(err):
			if !missing {
				missing = true
				k.found(k.problem(CheckIndex, err))
			}
		default:
			k.found(k.problem(kindOf(err), err))
			k.unchecked("the service did not answer as it should", err, CheckRole)
			k.schemaOf(definition)
			return
		}
	}
	if k.rights(definition, reading, writing, withKey) {
		k.schemaOf(definition)
	}
}

// definition reads the definition of the index.
func (k *checker) definition(ctx context.Context) (err error) {
	k.report.Index, err = k.client.conn.definition(ctx, k.client.indexName, k.call(manageIndexes))
	return err
}

// access counts the documents and writes an empty batch, as the use requires. A nil error means success, or not
// requested.
func (k *checker) access(ctx context.Context, withKey bool) (reading, writing error) {
	if k.use.writes() {
		writing = k.writeNothing(ctx)
	}
	// A key that may not write may be a query key, or not a key of this service.
	if k.use.reads() || withKey && denied(writing) {
		_, reading = k.client.count(ctx, k.call(readDocuments))
	}
	return reading, writing
}

// writeNothing sends a batch without documents. The service checks the credential before it refuses the batch with a
// 400, so a 400 is a success.
func (k *checker) writeNothing(ctx context.Context) error {
	_, err := k.client.postBatch(ctx, streaming.NopCloser(bytes.NewReader([]byte(`{"value":[]}`))), k.call(writeDocuments), true)
	var e *Error
	if errors.As(err, &e) && e.StatusCode == http.StatusBadRequest && !e.foreign {
		return nil
	}
	return err
}

// rights reports the rights that a refused credential lacks. It returns false if the credential is refused for
// everything.
func (k *checker) rights(definition, reading, writing error, withKey bool) bool {
	if withKey {
		switch {
		case denied(reading):
			p := k.problem(CheckCredential, reading)
			p.Want = k.needed().key()
			p.Hint = fmt.Sprintf("the key belongs to another service, was rotated, or the service does not allow keys: use %s of %s; a firewall of the service causes the same error", p.Want, k.client.conn.endpoint.Host)
			k.found(p)
			k.unchecked("the key is refused", definition, CheckRole, CheckIndex, CheckSchema)
			return false
		case denied(writing):
			p := k.problem(CheckRole, writing)
			p.Want, p.Have = "an admin key", "a query key"
			p.Problem = "the key is a query key, which only reads documents: " + p.Problem
			p.Hint = "writing documents needs an admin key of " + k.client.conn.endpoint.Host
			k.found(p)
		}
		return true
	}
	if unauthorized(definition) && !k.grants(reading, writing) && (unauthorized(reading) || unauthorized(writing)) {
		p := k.problem(CheckCredential, errors.Join(reading, writing))
		p.Want = k.needed().role()
		k.found(p)
		k.unchecked("the token is refused", definition, CheckRole, CheckIndex, CheckSchema)
		return false
	}
	for _, err := range []error{reading, writing} {
		if !denied(err) {
			continue
		}
		needs := readDocuments
		if errors.Is(err, writing) {
			needs = writeDocuments
		}
		p := k.problem(CheckRole, err)
		p.Want = needs.role()
		k.found(p)
	}
	return true
}

// grants reports whether the credential has at least one of the requested rights.
func (k *checker) grants(reading, writing error) bool {
	return k.use.reads() && !denied(reading) || k.use.writes() && !denied(writing)
}

// needed returns the right that the use requires.
func (k *checker) needed() right {
	if k.use.writes() {
		return writeDocuments
	}
	return readDocuments
}

// schemaOf records that the schema was skipped, if the definition could not be read.
func (k *checker) schemaOf(definition error) {
	if !denied(definition) {
		return
	}
	what := fmt.Sprintf("the role %q", manageIndexes.role())
	if k.client.conn.auth.withKey {
		what = "an admin key"
	}
	k.unchecked("the credential may not read the definition of the index, which takes "+what, definition, CheckSchema)
}

// stopped records a problem that makes all further checks impossible.
func (k *checker) stopped(err error) {
	kind := kindOf(err)
	if k.elsewhere(err) {
		kind = CheckEndpoint
	}
	k.found(k.problem(kind, err))
	if kind != CheckCredential {
		k.unchecked("the service did not answer as it should", err, CheckCredential)
	}
	k.unchecked("the service did not answer as it should", err, CheckRole, CheckIndex, CheckSchema)
}

// problem converts the error of a request.
func (k *checker) problem(kind CheckKind, err error) *CheckProblem {
	p := &CheckProblem{Kind: kind, Err: err}
	var (
		answer *Error
		none   *unanswered
	)
	switch {
	case errors.As(err, &answer):
		p.Problem, p.Hint = answer.text(""), answer.Hint
		if kind == CheckEndpoint {
			p.Hint = foreignHint(k.client.conn)
		}
	case errors.As(err, &none):
		p.Problem, p.Hint = none.cause, none.hint
	default:
		p.Problem = strings.TrimPrefix(err.Error(), "search: "+k.call(readDocuments).String()+": ")
	}
	return p
}

// elsewhere reports whether a 404 comes from a wrong path in the endpoint. Such a 404 does not mean that the index is
// missing.
func (k *checker) elsewhere(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.StatusCode == http.StatusNotFound &&
		k.client.conn.endpoint.Path != "" && !strings.Contains(strings.ToLower(e.Message), "index")
}

// kindOf classifies an error that is neither about a right nor about an index.
func kindOf(err error) CheckKind {
	var (
		answer *Error
		none   *unanswered
	)
	if errors.As(err, &answer) {
		if answer.foreign || answer.StatusCode >= 300 && answer.StatusCode < 400 || answer.StatusCode == http.StatusNotFound {
			return CheckEndpoint
		}
		return CheckService
	}
	if errors.As(err, &none) && none.before != nil {
		err = none.before
	}
	switch t := troubleOf(err); t {
	case noCredential:
		return CheckCredential
	case noSuchHost, noNameServer:
		return CheckHost
	case notTLS, badCertificate, noTLS:
		return CheckTLS
	default:
		if t == unknownTrouble && errors.Is(err, models.ErrMalformedReply) {
			return CheckEndpoint
		}
		return CheckConnection
	}
}

// denied reports whether the service refuses the credential, or lacks a right for the request.
func denied(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.StatusCode == http.StatusUnauthorized || e.StatusCode == http.StatusForbidden)
}

func unauthorized(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.StatusCode == http.StatusUnauthorized
}
