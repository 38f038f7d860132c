package search

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
)

// ServiceName is the key under which a cloud.Configuration may hold the audience of Azure AI Search in a private
// cloud.
const ServiceName cloud.ServiceName = "azsearch"

// ClientOptions are the options of every client. nil and the zero value are ready
// to use.
//
// The embedded options are those of every Azure client: Transport (an *http.Client, a proxy, an emulator), Retry,
// Telemetry, Logging, Cloud, PerCallPolicies, PerRetryPolicies, TracingProvider. Retry applies to every operation
// except Client.IndexDocumentsRaw and Client.Ping; its StatusCodes default to retry.CallStatuses. Logging never shows
// a credential, even if its AllowedHeaders name one. With IncludeBody it shows documents, and secrets of definitions.
//
// A Transport in the options brings its own connection pool, time-outs and TLS settings. The default transport has 30
// s to connect, 10 s for the TLS handshake, at most 16 idle connections for 90 s, TLS 1.2 or later, and HTTP/2 pings
// after 10 s of silence. No transport limits the time of a reply: the context of a call does, and the RequestTimeout
// of a BufferedSender.
//
// No request follows a redirect, because a redirect would carry the api-key and the documents to another host. The
// protection depends on the Transport:
//
//   - An *http.Client is copied when the client is made. The copy returns a redirect as an *Error with its status,
//     even if the original has a CheckRedirect. The copy keeps Jar, Timeout and Transport; later changes to these
//     fields have no effect.
//   - Any other Transport, and a RoundTripper that is not an *http.Transport, is watched with net/http/httptrace. If
//     the headers of a request are written for a second host after a first reply, its connection is closed before
//     they leave. This works through proxies, for every transport that uses net/http, passes on the context of the
//     request, and has a write buffer that holds the headers (4 kB by default). Any other transport can leak the
//     credential undetected. So can a redirect from https to http on the same host: through a proxy that is itself
//     reached by https, or with a DialTLSContext whose connections are not *tls.Conn and a port in the address.
//   - httptrace does not report the status of the first reply in time, so failover and mirrors within such a
//     Transport are stopped like a redirect. To send to another host use PerRetryPolicies, where each call of Next is
//     watched separately, or one client per region.
//   - The reply to a redirect counts as malformed (models.ErrMalformedReply): nothing is confirmed, and the request
//     is not retried. The same applies to a stopped request, unless the endpoint's own reply is returned, and to a
//     reply whose Request has another method, scheme or host than the request that was sent. A reply without a
//     Request, as a fake returns it, counts as the service's own.
//   - The RoundTripper of an *http.Client may send to another address than the endpoint. It may also follow a
//     redirect with a new request, without the original headers or context and without a Response. The two cannot be
//     distinguished, so that reply counts as the service's own. Make the RoundTripper return redirects.
type ClientOptions struct {
	azcore.ClientOptions

	// APIVersion is the api-version of every request. It hides the field of the same name in the embedded options, which
	// works too. Defaults to DefaultAPIVersion.
	APIVersion string

	// Audience is the resource for which Entra ID tokens are requested, for example "https://search.azure.com". It is
	// unused with an API key. Defaults to the audience in Cloud, otherwise to that of the endpoint's cloud: public, China
	// or US Government.
	Audience string

	// AssumeWholeView declares that this client sees the whole index. Permission filters and sensitivity labels hide
	// documents from a client, even with an admin key. Therefore Scan, Rows, WaitVisible, DeleteMatching and the packages
	// repair and rebuild first read the definition of the index, in api-version 2025-11-01-preview, which shows both, or
	// in 2026-10-01 if the service lacks that preview. If the index has either, they use elevated read, or return
	// ErrPartialView. If the definition cannot be read, Scan, ScanKeys, Rows and WaitVisible log a warning and continue;
	// the others return ErrPartialView. Set it only if nothing hides documents, and if either the client may not read
	// definitions, as with a query key, or the service lacks these api-versions. Defaults to false.
	AssumeWholeView bool

	// MeterProvider receives the metrics of operations on documents, which TELEMETRY.md lists. For spans set the embedded
	// option TracingProvider. Defaults to the global provider of OpenTelemetry, which may be set later.
	MeterProvider metric.MeterProvider
}

// apiVersionPattern matches an api-version: a date, optionally with a suffix such as "-preview".
var apiVersionPattern = regexp.MustCompile(`^\d{4}-\d\d-\d\d(-[A-Za-z]+)?$`)

// version returns the api-version to send.
func (o *ClientOptions) version() (v apiversion.Version, err error) {
	ours, theirs := o.APIVersion, o.ClientOptions.APIVersion
	switch {
	case ours != "" && theirs != "" && ours != theirs:
		return v, fmt.Errorf("APIVersion is %q in the options and %q in the embedded azcore options: set one of them", ours, theirs)
	case ours == "":
		ours = theirs
	}
	if ours == "" {
		return apiversion.Latest(), nil
	}
	if !apiVersionPattern.MatchString(ours) {
		return v, fmt.Errorf("APIVersion %q is not a date like %q", ours, DefaultAPIVersion)
	}
	return apiversion.Of(ours), nil
}

// check returns an error for nil options that would cause a panic later.
func (o *ClientOptions) check() error {
	var errs []error
	if o.Transport != nil && nilcheck.IsNil(o.Transport) {
		errs = append(errs, fmt.Errorf("the option Transport is a nil %T: leave it out for the default", o.Transport))
	}
	if o.MeterProvider != nil && nilcheck.IsNil(o.MeterProvider) {
		errs = append(errs, fmt.Errorf("the option MeterProvider is a nil %T: leave it out for the global one", o.MeterProvider))
	}
	notNil := func(name string, policies []policy.Policy) {
		for i, p := range policies {
			if nilcheck.IsNil(p) {
				errs = append(errs, fmt.Errorf("%s[%d] is nil", name, i))
			}
		}
	}
	notNil("PerCallPolicies", o.PerCallPolicies)
	notNil("PerRetryPolicies", o.PerRetryPolicies)
	return errors.Join(errs...)
}

// The audiences of the clouds, from the service's documentation of keyless connections.
const (
	publicAudience     = "https://search.azure.com"
	chinaAudience      = "https://search.azure.cn"
	governmentAudience = "https://search.azure.us"
)

// tokenScope returns the scope of the tokens to request. An explicit option takes precedence over the host, because a
// private endpoint or a gateway may have any name.
func (o *ClientOptions) tokenScope(host string) (string, error) {
	audience := o.Audience
	if audience == "" {
		audience = o.Cloud.Services[ServiceName].Audience
	}
	if audience == "" {
		audience = audienceOfCloud(o.Cloud)
	}
	if audience == "" {
		audience = audienceOfHost(host)
	}
	if strings.ContainsAny(audience, " \t\r\n") {
		return "", fmt.Errorf("audience %q contains white space", audience)
	}
	if u, err := url.Parse(audience); err != nil {
		return "", fmt.Errorf("audience %q: %w", audience, errors.Unwrap(err))
	} else if u.Scheme == "" {
		return "", fmt.Errorf("audience %q is not a URL like %q", audience, publicAudience)
	}
	if strings.HasSuffix(audience, "/.default") {
		return audience, nil
	}
	return strings.TrimRight(audience, "/") + "/.default", nil
}

// audienceOfCloud returns the audience of a configured cloud, "" if it is not a well-known one.
func audienceOfCloud(c cloud.Configuration) string {
	switch strings.TrimRight(c.ActiveDirectoryAuthorityHost, "/") {
	case strings.TrimRight(cloud.AzurePublic.ActiveDirectoryAuthorityHost, "/"):
		return publicAudience
	case strings.TrimRight(cloud.AzureChina.ActiveDirectoryAuthorityHost, "/"):
		return chinaAudience
	case strings.TrimRight(cloud.AzureGovernment.ActiveDirectoryAuthorityHost, "/"):
		return governmentAudience
	}
	return ""
}

// audienceOfHost returns the audience of the cloud to which host belongs.
func audienceOfHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	switch {
	case strings.HasSuffix(host, ".azure.cn"):
		return chinaAudience
	case strings.HasSuffix(host, ".azure.us"):
		return governmentAudience
	}
	return publicAudience
}
