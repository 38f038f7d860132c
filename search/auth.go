package search

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/retry"
)

// keyHeader is the header that carries an API key.
const keyHeader = "api-key"

// authentication is how a client proves who it is: exactly one of the two
// credentials is set.
type authentication struct {
	key   *azcore.KeyCredential
	token azcore.TokenCredential
	scope string // of the tokens, for errors too
}

// check reports a missing credential, also a nil pointer inside an interface,
// which azcore would take for "no authentication wanted".
func (a authentication) check() error {
	token := reflect.ValueOf(a.token)
	if a.key == nil && (a.token == nil || token.Kind() == reflect.Pointer && token.IsNil()) {
		return errors.New("the credential is nil")
	}
	return nil
}

// policies returns the pipeline policies that authenticate each attempt.
func (a authentication) policies(allowHTTP bool) []policy.Policy {
	if a.token != nil {
		return []policy.Policy{runtime.NewBearerTokenPolicy(tokens{a.token}, []string{a.scope}, &policy.BearerTokenOptions{
			InsecureAllowCredentialWithHTTP: allowHTTP,
		})}
	}
	return []policy.Policy{
		runtime.NewKeyCredentialPolicy(a.key, keyHeader, &runtime.KeyCredentialPolicyOptions{
			InsecureAllowCredentialWithHTTP: allowHTTP,
		}),
		keyShape{},
	}
}

// keyShape stops requests whose key cannot be one. azcore does not let us look
// into a credential when the client is made, and it may be rotated at any time,
// so this happens per request. Without it a key that was read from a file with
// its line end fails deep inside net/http with a message about header values.
type keyShape struct{}

func (keyShape) Do(req *policy.Request) (*http.Response, error) {
	key := req.Raw().Header.Get(keyHeader)
	switch {
	case key == "":
		return nil, badKey("the API key is empty")
	case key != strings.TrimSpace(key):
		return nil, badKey("the API key has white space around it, perhaps the line end of the file it came from")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, badKey("the API key contains characters that no key has")
	}
	return req.Next()
}

func badKey(problem string) error {
	return &CredentialError{Err: fmt.Errorf("%s (set it with azcore.NewKeyCredential or its Update)", problem), permanent: true}
}

// tokens marks the errors of a token credential as what they are: they come
// before the request is sent, and must not pass for a broken connection.
type tokens struct{ azcore.TokenCredential }

func (t tokens) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := t.TokenCredential.GetToken(ctx, options)
	if err != nil {
		// azcore and azidentity mark what is no use trying again.
		var final interface{ NonRetriable() }
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
