package search

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/retry"
)

// keyHeader is the header that carries an API key.
const keyHeader = "api-key"

// secretHeaders are the request headers that hold a credential.
var secretHeaders = []string{keyHeader, "Authorization", userTokenHeader}

// authentication is the credential of a client: key if withKey, otherwise token.
type authentication struct {
	withKey bool
	key     *azcore.KeyCredential
	token   azcore.TokenCredential
	scope   string // of the tokens; errors name it too
}

// check returns an error for an unusable credential: a missing one, a nil inside an interface, which azcore would
// take for "no authentication wanted", and a malformed API key.
func (a authentication) check() error {
	if !a.withKey {
		if nilcheck.IsNil(a.token) {
			return errors.New("the credential is nil: pass an azcore.TokenCredential, for example of azidentity.NewDefaultAzureCredential")
		}
		return nil
	}
	if a.key == nil {
		return errors.New("the credential is nil: pass the API key in azcore.NewKeyCredential(key)")
	}
	key, ok := keyIn(a.key)
	if !ok {
		return errors.New("the credential holds no API key: make it with azcore.NewKeyCredential(key)")
	}
	return keyProblem(key)
}

// keyIn returns the key in a credential. azcore has no function for that, only a policy that writes the key into a
// request. keyIn runs that policy on a request that cannot be sent, because no transport follows in its pipeline. ok
// is false for a credential that azcore.NewKeyCredential did not make: the policy panics for such a credential.
func keyIn(credential *azcore.KeyCredential) (key string, ok bool) {
	defer func() {
		if recover() != nil {
			key, ok = "", false
		}
	}()
	req, err := runtime.NewRequest(context.Background(), http.MethodGet, "https://localhost")
	if err != nil {
		return "", false // the address is a constant
	}
	_, _ = runtime.NewKeyCredentialPolicy(credential, keyHeader, nil).Do(req) // "no more policies"
	return req.Raw().Header.Get(keyHeader), true
}

// policies returns the pipeline policies that authenticate each attempt.
func (a authentication) policies(allowHTTP bool) []policy.Policy {
	if !a.withKey {
		bearer := runtime.NewBearerTokenPolicy(tokens{a.token}, []string{a.scope}, &policy.BearerTokenOptions{
			InsecureAllowCredentialWithHTTP: allowHTTP,
		})
		return []policy.Policy{tokenWanted(true), bearer, tokenWanted(false)}
	}
	return []policy.Policy{
		runtime.NewKeyCredentialPolicy(a.key, keyHeader, &runtime.KeyCredentialPolicyOptions{
			InsecureAllowCredentialWithHTTP: allowHTTP,
		}),
		keyShape{},
	}
}

// keyShape stops requests with a malformed key. The key was checked when the client was made, but Update may have
// replaced it since. Without this check, a key with the line end of its file fails inside net/http with a message
// about header values.
type keyShape struct{}

func (keyShape) Do(req *policy.Request) (*http.Response, error) {
	if err := keyProblem(req.Raw().Header.Get(keyHeader)); err != nil {
		return nil, &CredentialError{Err: err, permanent: true}
	}
	return req.Next()
}

// keyProblem returns why key cannot be an API key, without quoting it. nil is a usable key.
func keyProblem(key string) error {
	trimmed := strings.TrimSpace(key)
	switch {
	case key == "":
		return errors.New("the API key is empty: pass a key of the service to azcore.NewKeyCredential, or to the credential's Update method; perhaps an environment variable is not set")
	case trimmed == "":
		return errors.New("the API key is nothing but white space: pass a key of the service to azcore.NewKeyCredential, or to the credential's Update method")
	case key != trimmed && strings.TrimRight(key, "\r\n") == trimmed:
		return errors.New("the API key ends with a line end, as keys do that were read from a file: pass strings.TrimSpace(key) to azcore.NewKeyCredential, or to the credential's Update method")
	case key != trimmed:
		return errors.New("the API key has white space around it: pass strings.TrimSpace(key) to azcore.NewKeyCredential, or to the credential's Update method")
	case strings.ContainsAny(key, "\r\n"):
		return errors.New("the API key has several lines: pass one key to azcore.NewKeyCredential, or to the credential's Update method")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the API key contains characters that no key has: only letters, digits and punctuation of ASCII can be sent")
	}
	return nil
}

// tokens wraps the errors of a token credential in *CredentialError. They occur before the request is sent, so they
// must not be classified as a broken connection.
type tokens struct{ azcore.TokenCredential }

// tokenWanted records, before and after the policy that gets a token, whether a request waits for one. If the context
// ends during that wait, azcore returns only the context's error, which would look like a service that does not
// reply.
type tokenWanted bool

func (wanted tokenWanted) Do(req *policy.Request) (*http.Response, error) {
	if made := (*attempts)(nil); req.OperationValue(&made) {
		made.wantsToken = bool(wanted)
		made.sent = made.sent || !bool(wanted)
	}
	return req.Next()
}

// nonRetriable is the marker of azcore and azidentity for an error that a retry cannot cure.
type nonRetriable interface{ NonRetriable() }

func (t tokens) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := t.TokenCredential.GetToken(ctx, options)
	if err != nil {
		var final nonRetriable
		return token, &CredentialError{Err: err, permanent: errors.As(err, &final)}
	}
	return token, nil
}

// CredentialError is the error of a request that was not sent for lack of a credential: no token could be obtained,
// or the API key is malformed.
type CredentialError struct {
	// Err is the error of the credential.
	Err       error
	permanent bool
}

var _ retry.UnsentError = (*CredentialError)(nil)

func (e *CredentialError) Error() string { return "no credential to send: " + e.Err.Error() }

// Unwrap returns Err.
func (e *CredentialError) Unwrap() error { return e.Err }

// Permanent reports whether a retry cannot succeed.
func (e *CredentialError) Permanent() bool { return e.permanent }

// NonRetriable keeps azcore's retry policy from repeating the request: the credential has already done its own
// retries.
func (e *CredentialError) NonRetriable() {}
