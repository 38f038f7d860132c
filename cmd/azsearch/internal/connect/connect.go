// Package connect gives commands their connection to a service: the flags and variables that name it, the
// credential, and an emulator inside the process.
package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The environment variables. A key has no flag, because other users can see the flags of a process.
const (
	EndpointVariable = "AZURE_SEARCH_ENDPOINT"
	KeyVariable      = "AZURE_SEARCH_API_KEY"
	ToKeyVariable    = "AZURE_SEARCH_TO_API_KEY" // of the second service of a command
	VersionVariable  = "AZURE_SEARCH_API_VERSION"

	variables = KeyVariable + " (for -to-endpoint " + ToKeyVariable + ")"

	// Emulator is the value of -endpoint that starts an emulator inside the process.
	Emulator = "emulator"
)

// Flags returns the flags of every command that uses a service.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name: "endpoint", Sources: cli.EnvVars(EndpointVariable), HideDefault: true,
			Usage: "`URL` of the service, or \"emulator\" for one that runs inside the command; signs in with the key in " + KeyVariable + ", or without a key with Entra ID (az login, a managed identity, the variables of azidentity)",
		},
		&cli.StringFlag{
			Name: "api-version", Sources: cli.EnvVars(VersionVariable), Value: search.DefaultAPIVersion,
			Usage: "use `VERSION` of the REST API, for a service that does not support " + search.DefaultAPIVersion,
		},
	}
}

// ToFlags returns the flags for a second service. what names its role in the help text.
func ToFlags(what string) []cli.Flag {
	return []cli.Flag{&cli.StringFlag{Name: "to-endpoint", Usage: "use the service at `URL` for " + what + ", with the key in " + ToKeyVariable + "; by default the same service"}}
}

// OpenTo returns the second service: that of -to-endpoint, or a new connection to the first one.
func OpenTo(c *cli.Command) (*Service, error) {
	if to := c.String("to-endpoint"); to != "" {
		return open(c.Root().ErrWriter, to, os.Getenv(ToKeyVariable), c.String("api-version"), c.Int("in-flight"))
	}
	return Open(c)
}

// Service is a connection to a service.
type Service struct {
	*search.IndexClient
	Indexers   *search.IndexerClient
	WithKey    bool   // with an API key, not Entra ID
	APIVersion string // "" for the default

	emulator *searchtest.Server // nil for a real service
	stderr   io.Writer
	noted    string // the alias of the last note
}

// Open returns the service that the flags and variables name. It sends no request.
func Open(c *cli.Command) (*Service, error) {
	return open(c.Root().ErrWriter, c.String("endpoint"), os.Getenv(KeyVariable), c.String("api-version"), c.Int("in-flight"))
}

// GetIndex hides that of search.IndexClient. Of an alias it returns the definition of its index, and says so in a line
// on stderr, because commands then use the index itself: an alias may be moved while they run.
func (s *Service) GetIndex(ctx context.Context, name string, opts *search.GetIndexOptions) (models.SearchIndex, error) {
	return throughAlias(ctx, s, name, func(name string) (models.SearchIndex, error) { return s.IndexClient.GetIndex(ctx, name, opts) })
}

// GetIndexStatistics hides that of search.IndexClient, which knows no aliases.
func (s *Service) GetIndexStatistics(ctx context.Context, name string, opts *search.GetIndexStatisticsOptions) (models.IndexStatistics, error) {
	return throughAlias(ctx, s, name, func(name string) (models.IndexStatistics, error) {
		return s.IndexClient.GetIndexStatistics(ctx, name, opts)
	})
}

// throughAlias calls get with a name, and again with that of the index if it is the name of an alias.
func throughAlias[T any](ctx context.Context, s *Service, name string, get func(name string) (T, error)) (T, error) {
	if err := s.valid(name); err != nil {
		var none T
		return none, err
	}
	got, err := get(name)
	if !errors.Is(err, search.ErrIndexNotFound) {
		return got, err
	}
	of, unread := s.aliased(ctx, name)
	switch {
	case unread != nil: // there may be an alias, so err is not the answer
		return got, unread
	case of == "":
		return got, err
	}
	return get(of)
}

// valid returns a nameError if no index can have the name.
func (s *Service) valid(name string) error {
	if _, err := s.Client(name); err != nil {
		return &nameError{err}
	}
	return nil
}

// nameError is the error of a name with which no request is sent, so it is a mistake of usage.
type nameError struct{ error }

// aliased returns the name of the index of an alias, "" if there is no such alias.
func (s *Service) aliased(ctx context.Context, name string) (string, error) {
	alias, err := s.GetAlias(ctx, name, nil)
	if refused := (*search.Error)(nil); errors.Is(err, search.ErrAliasNotFound) ||
		errors.As(err, &refused) && refused.StatusCode == http.StatusBadRequest { // an api-version without aliases
		return "", nil
	}
	if err != nil || len(alias.Indexes) != 1 {
		return "", err
	}
	if s.noted != name {
		s.noted = name
		fmt.Fprintf(s.stderr, "azsearch: %s is an alias of the index %s, which is used\n", name, alias.Indexes[0])
	}
	return alias.Indexes[0], nil
}

// usualQueries is the maximum number of concurrent queries of a command without the flag -in-flight.
const usualQueries = 16

func open(stderr io.Writer, endpoint, key, version string, inFlight int) (*Service, error) {
	opts := &search.ClientOptions{APIVersion: version}
	opts.PerRetryPolicies = []policy.Policy{newQueries(cmp.Or(inFlight, usualQueries))}
	switch endpoint {
	case "":
		return nil, fmt.Errorf("no service is named: set %s or use -endpoint URL; -endpoint emulator runs the command without a service", EndpointVariable)
	case Emulator:
		server := searchtest.NewServer(&searchtest.Options{KeepRequests: -1, KeepChanges: -1})
		opts.Transport = &http.Client{Transport: server.Transport()}
		s, err := withKey(server.URL(), searchtest.AdminKey, opts)
		s.emulator, s.stderr = server, stderr
		return s, err
	}
	if key != "" {
		s, err := withKey(endpoint, key, opts)
		if err != nil {
			return nil, fmt.Errorf("%w (endpoint from -endpoint or %s, key from %s)", err, EndpointVariable, KeyVariable)
		}
		s.stderr = stderr
		return s, nil
	}
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("no credential: %w; set %s to an admin key, or sign in with az login", err, KeyVariable)
	}
	var signIn azcore.TokenCredential = cred
	if Loopback(endpoint) {
		signIn = localCredential{cred}
	}
	indexes, err := search.NewIndexClient(endpoint, signIn, opts)
	if err != nil {
		return nil, fmt.Errorf("%w (endpoint from -endpoint or %s)", err, EndpointVariable)
	}
	return &Service{IndexClient: indexes, Indexers: indexes.IndexerClient(), APIVersion: opts.APIVersion, stderr: stderr}, nil
}

// localCredential replaces the error of a credential, a list of everything that was tried. Who uses an emulator on this
// machine has forgotten the key.
type localCredential struct{ azcore.TokenCredential }

func (c localCredential) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := c.TokenCredential.GetToken(ctx, o)
	if err != nil && ctx.Err() == nil {
		err = noKeyError{}
	}
	return token, err
}

type noKeyError struct{}

func (noKeyError) Error() string {
	return "set " + KeyVariable + " to the key that azsearch emulator prints, or sign in with az login"
}

// NonRetriable stops the retries of azcore: waiting does not help.
func (noKeyError) NonRetriable() {}

// Loopback reports whether an endpoint is reachable only from this machine.
func Loopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

func withKey(endpoint, key string, opts *search.ClientOptions) (*Service, error) {
	indexes, err := search.NewIndexClientWithKey(endpoint, azcore.NewKeyCredential(key), opts)
	if err != nil {
		return &Service{}, err
	}
	return &Service{IndexClient: indexes, Indexers: indexes.IndexerClient(), WithKey: true, APIVersion: opts.APIVersion}, nil
}

// Close stops the emulator, which loses its data. For a real service it does nothing.
func (s *Service) Close() error {
	if s.emulator == nil {
		return nil
	}
	return s.emulator.Close()
}

// Failed adds the exit code Service to an error of a request, and advice for the user; Usage if the name of the index
// was refused before. It returns nil for nil.
func Failed(err error) error {
	var said *search.Error
	var signIn *azidentity.AuthenticationFailedError
	var unreachable net.Error
	var name *nameError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &name):
		return exit.With(exit.Usage, err)
	case errors.As(err, &said) && (said.StatusCode == http.StatusUnauthorized || said.StatusCode == http.StatusForbidden):
		err = fmt.Errorf("%w; set %s to an admin key, or assign a role of the service to the identity", err, variables)
	case errors.As(err, &said): // the texts name Go functions, not commands
		err = &commandError{err}
	case errors.As(err, &signIn):
		err = fmt.Errorf("%w; set %s, or sign in with az login", err, variables)
	case errors.As(err, &unreachable):
		err = fmt.Errorf("%w; check the endpoint and the network", err)
	}
	return exit.With(exit.Service, err)
}

// commandError replaces a function in the text of an error by commands, and leaves out options of Go; of an index that
// does not exist it leaves only the advice, which repeats the rest. The text of a
// wrapped error is fixed when the wrapper is created, so that changing the hint of the *search.Error would be too late.
type commandError struct{ error }

func (e *commandError) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), " (of RowsOptions: ") // flags gave them
	if _, advice, found := strings.Cut(text, "): the index \""); found && errors.Is(e.error, search.ErrIndexNotFound) {
		text = "the index \"" + advice
	}
	text = strings.TrimPrefix(text, "repair: DeleteWhere: the scan: ")
	return strings.Replace(text, "or create it with IndexClient.CreateIndex", "see azsearch stats for those that exist, or create it with azsearch load -create or apply", 1)
}

func (e *commandError) Unwrap() error { return e.error }

// Withdraw deletes an index that was just created, unless its definition has another ETag since.
func (s *Service) Withdraw(ctx context.Context, index, etag string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	opts := &search.DeleteIndexOptions{}
	if etag != "" {
		opts.IfMatch = new(azcore.ETag(etag))
	}
	if err := s.DeleteIndex(ctx, index, opts); err != nil {
		return fmt.Errorf("index %s was created, is not used, and could not be deleted again: %w", index, err)
	}
	return nil
}
