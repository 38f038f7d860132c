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

// ServiceName is the name under which a cloud.Configuration may hold the
// audience of Azure AI Search in a cloud of its own.
const ServiceName cloud.ServiceName = "azsearch"

// ClientOptions are the options of every client. nil and the zero value are ready
// to use.
//
// The embedded options are those of every Azure client: Transport (your own
// *http.Client, a proxy, an emulator), Retry, Telemetry, Logging, Cloud,
// PerCallPolicies, PerRetryPolicies, TracingProvider. Retry applies to every
// operation but Client.IndexDocumentsRaw and Client.Ping; its StatusCodes default
// to retry.CallStatuses. Logging never shows a credential, whatever its
// AllowedHeaders name; with IncludeBody it shows documents, and secrets of definitions.
//
// A Transport of your own brings its own connection pool, time-outs and TLS
// settings. The default has 30 s to connect, 10 s for the TLS handshake, at most 16
// idle connections for 90 s, TLS 1.2 or later, and HTTP/2 pings after 10 s of silence.
// No transport limits how long a reply takes: the context of a call does, and the
// RequestTimeout of a BufferedSender.
//
// No request follows a redirect, within the limits below: a redirect would carry the
// api-key and the documents to the host that it names.
//
//   - An *http.Client is copied when the client is made. The copy returns redirects
//     as an *Error with their status, also if the client has a CheckRedirect. Jar,
//     Timeout and Transport are kept, and changes to these fields made later have no
//     effect.
//   - Any other Transport, and a RoundTripper that is not an *http.Transport, is
//     watched by net/http/httptrace: after a first reply, the headers of a request
//     that are on the way to a second host are stopped by closing its connection.
//     That works through proxies, and for every transport that is net/http
//     underneath, passes the context of the request on, and has a write buffer that
//     holds the headers (4 kB by default). Any other can give the credential away
//     unseen. So can a redirect from https to http of the same host, through a proxy
//     that is itself reached by https, or with a DialTLSContext whose connections
//     are not *tls.Conn and a port in the address.
//   - httptrace does not give the status of the first reply in time, so failover and
//     mirrors inside of such a Transport are stopped like a redirect. Send to another
//     host in PerRetryPolicies, whose calls of Next are watched one by one, or use
//     one client per region.
//   - A reply to a redirect counts as malformed (models.ErrMalformedReply): nothing
//     is confirmed, and the request is not sent again. So does a request that was
//     stopped, unless the endpoint's own reply is returned, and a reply whose Request
//     has another method, scheme or host than the request that was sent. A reply
//     without a Request, as a fake returns it, is taken for the service's own.
//   - The RoundTripper of an *http.Client may send to another address than the
//     endpoint. A redirect that it follows with a request of its own, without our
//     headers or our context and without a Response, cannot be told apart from that:
//     the reply is taken for the service's own. Make the RoundTripper return redirects.
type ClientOptions struct {
	azcore.ClientOptions

	// APIVersion is the version of the REST API to ask for, in every request. It hides the
	// member of the same name of the embedded options, which works as well. Defaults to
	// DefaultAPIVersion.
	APIVersion string

	// Audience is the resource that Entra ID tokens are requested for, for
	// example "https://search.azure.com". It plays no part with an API key.
	// Defaults to what Cloud says, and without that to the audience of the
	// cloud that the endpoint belongs to: public, China or US Government.
	Audience string

	// AssumeWholeView takes what this client is shown for the whole index. Permission
	// filters hide documents from a client, with an admin key as well. So Scan, Rows,
	// WaitVisible, DeleteMatching and the packages repair and rebuild read the definition
	// of the index first, in api-version 2026-10-01 unless APIVersion has permission
	// filters. If there are some they use elevated read, or return ErrPartialView. Where
	// the definition cannot be read, Scan, ScanKeys, Rows and WaitVisible log a warning
	// and continue; the others return ErrPartialView. Set it if the index has no
	// permission filters and the client, with a query key for example, may not read
	// definitions, or the service does not know that version. Defaults to false.
	AssumeWholeView bool

	// MeterProvider makes the metrics of operations on documents, which TELEMETRY.md
	// lists. Spans are made by the embedded option TracingProvider. Defaults to the
	// global one of OpenTelemetry, which may be set later.
	MeterProvider metric.MeterProvider
}

// apiVersionPattern is what versions look like: a date, perhaps a preview.
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

// check reports what could only panic later.
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

// The audiences and the endpoints of the clouds, from the service's
// documentation of keyless connections.
const (
	publicAudience     = "https://search.azure.com"
	chinaAudience      = "https://search.azure.cn"
	governmentAudience = "https://search.azure.us"
)

// tokenScope returns the scope to request a token for. What the caller said in
// so many words wins over what can be derived: a private endpoint or a gateway
// may have any name.
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

// audienceOfCloud returns the audience in a cloud that the caller configured,
// "" if it is none of the well-known ones.
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

// audienceOfHost returns the audience of the cloud that host belongs to.
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
