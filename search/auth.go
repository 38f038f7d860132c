package search

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
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
		return []policy.Policy{runtime.NewBearerTokenPolicy(a.token, []string{a.scope}, &policy.BearerTokenOptions{
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
		return nil, credentialError{"the API key is empty"}
	case key != strings.TrimSpace(key):
		return nil, credentialError{"the API key has white space around it, perhaps the line end of the file it came from"}
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, credentialError{"the API key contains characters that no key has"}
	}
	return req.Next()
}

// credentialError is about a credential that no request can be sent with.
type credentialError struct{ problem string }

func (e credentialError) Error() string {
	return fmt.Sprintf("%s (set it with azcore.NewKeyCredential or its Update)", e.problem)
}

// NonRetriable tells azcore's retry policy that trying again is pointless.
func (credentialError) NonRetriable() {}
