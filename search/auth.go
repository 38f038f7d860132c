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

// secretHeaders are the headers of a request that hold a credential.
var secretHeaders = []string{keyHeader, "Authorization", userTokenHeader}

// authentication is how a client proves who it is: with key or, unless withKey,
// with token.
type authentication struct {
	withKey bool
	key     *azcore.KeyCredential
	token   azcore.TokenCredential
	scope   string // of the tokens, for errors too
}

// check reports a credential that cannot be one: a missing one, also a nil
// inside an interface, which azcore would take for "no authentication wanted",
// and an API key that no service has given out.
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

// keyIn returns the key in a credential. azcore has no function for that, but a
// policy that writes the key into a request: here into one that is never sent,
// because it has no pipeline behind that policy. It is false for a credential
// that was not made by azcore.NewKeyCredential, at which azcore panics.
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

// keyShape stops requests whose key cannot be one. The key was checked when the
// client was made, but Update may have replaced it since. Without this a key that
// was read from a file with its line end fails deep inside net/http with a
// message about header values.
type keyShape struct{}

func (keyShape) Do(req *policy.Request) (*http.Response, error) {
	if err := keyProblem(req.Raw().Header.Get(keyHeader)); err != nil {
		return nil, &CredentialError{Err: err, permanent: true}
	}
	return req.Next()
}

// keyProblem says why key cannot be an API key, without quoting it.
func keyProblem(key string) error {
	trimmed := strings.TrimSpace(key)
	switch {
	case key == "":
		return errors.New("the API key is empty: pass a key of the service to azcore.NewKeyCredential or its Update; perhaps a variable of the environment is not set")
	case trimmed == "":
		return errors.New("the API key is nothing but white space: pass a key of the service to azcore.NewKeyCredential or its Update")
	case key != trimmed && strings.TrimRight(key, "\r\n") == trimmed:
		return errors.New("the API key ends with a line end, as keys do that were read from a file: pass strings.TrimSpace(key) to azcore.NewKeyCredential or its Update")
	case key != trimmed:
		return errors.New("the API key has white space around it: pass strings.TrimSpace(key) to azcore.NewKeyCredential or its Update")
	case strings.ContainsAny(key, "\r\n"):
		return errors.New("the API key has several lines: pass one key to azcore.NewKeyCredential or its Update")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the API key contains characters that no key has: only letters, digits and punctuation of ASCII can be sent")
	}
	return nil
}

// tokens marks the errors of a token credential as what they are: they come
// before the request is sent, and must not pass for a broken connection.
type tokens struct{ azcore.TokenCredential }

// tokenWanted notes, before and behind the policy that asks for a token, whether a request waits for one: if its
// context ends meanwhile azcore reports just that, which would pass for a service that does not answer.
type tokenWanted bool

func (wanted tokenWanted) Do(req *policy.Request) (*http.Response, error) {
	if made := (*attempts)(nil); req.OperationValue(&made) {
		made.wantsToken = bool(wanted)
		made.sent = made.sent || !bool(wanted)
	}
	return req.Next()
}

// nonRetriable is how azcore and azidentity mark an error that another try would not end.
type nonRetriable interface{ NonRetriable() }

func (t tokens) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := t.TokenCredential.GetToken(ctx, options)
	if err != nil {
		var final nonRetriable
		return token, &CredentialError{Err: err, permanent: errors.As(err, &final)}
	}
	return token, nil
}

// CredentialError says that a request could not be sent because there was
// nothing to prove with who sends it: no token could be had, or the API key
// cannot be one.
type CredentialError struct {
	// Err is the error of the credential.
	Err       error
	permanent bool
}

var _ retry.UnsentError = (*CredentialError)(nil)

func (e *CredentialError) Error() string { return "no credential to send: " + e.Err.Error() }

// Unwrap returns Err.
func (e *CredentialError) Unwrap() error { return e.Err }

// Permanent reports whether trying again is no use.
func (e *CredentialError) Permanent() bool { return e.permanent }

// NonRetriable tells azcore's retry policy not to repeat a request for which
// the credential has done its own retries already.
func (e *CredentialError) NonRetriable() {}
