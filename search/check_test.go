package search_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Check a client at start-up. Here the index was created for an earlier document type.
func ExampleCheck() {
	ctx := context.Background()
	srv, client := emulatedClient()
	defer srv.Close()

	type Hotel struct {
		ID      string   `json:"hotelId" search:"key"`
		Name    string   `json:"Name"`
		Rating  float64  `json:"rating"`
		Tags    []string `json:"tags" search:"sortable"`
		Address struct {
			City string `json:"city"`
		} `json:"address"`
	}
	report, err := search.Check[Hotel](ctx, client, &search.CheckOptions{Use: search.CheckForWriting})
	fmt.Println(strings.ReplaceAll(err.Error(), srv.URL(), "https://my-service.search.windows.net"))
	fmt.Println("unchecked:", len(report.Skipped))
	// Output:
	// search: the check of index "hotels" at https://my-service.search.windows.net found 4 problems:
	// - field Name: search_test.Hotel has it and the index does not, which refuses documents with it: the index has "name": names are case-sensitive, so correct the json tag
	// - field rating: it is Edm.Double in search_test.Hotel and Edm.Int64 in the index: the index refuses its JSON: change its Go type, or say in its tag search:"type=…" what it holds
	// - field tags: the tag makes the field sortable, but the index does not: queries that rely on it fail: make a new index with the field as the tag says, or correct the tag
	// - field address: search_test.Hotel has it and the index does not, which refuses documents with it: add it to the index (IndexClient.UpdateIndex), or leave it out of documents with the tag json:"-"
	// unchecked: 0
}

// A client that may only read documents cannot read the definition of the index.
func ExampleCheckReport() {
	srv, opts := emulated()
	defer srv.Close()
	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.QueryKey), opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := search.Check[Hotel](context.Background(), client, nil)
	fmt.Println(err)
	for _, gap := range report.Skipped {
		fmt.Println(gap)
	}
	// Output:
	// <nil>
	// schema not checked: the credential may not read the definition of the index, which takes an admin key
}

// CheckError gives access to each problem.
func ExampleCheckError() {
	srv, opts := emulated()
	defer srv.Close()
	client, err := search.NewClientWithKey(srv.URL(), "motels", azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = search.Check[Hotel](context.Background(), client, nil)
	var problems *search.CheckError
	if errors.As(err, &problems) {
		for _, p := range problems.Problems {
			fmt.Println(p.Kind, errors.Is(p, search.ErrIndexNotFound))
		}
	}
	// Output: index true
}

// roles emulates role-based access. Each field is the status of a refusal, 0 to allow.
type roles struct{ definitions, reads, writes int } // status of a refusal; 0 allows the request

func (r roles) around(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	status := r.definitions
	switch {
	case strings.Contains(req.URL.Path, "search.index"):
		status = r.writes
	case strings.Contains(req.URL.Path, "/docs"):
		status = r.reads
	}
	if status == 0 {
		return next(req)
	}
	return response(status, ""), nil
}

// kinds returns the problems of an error in short form, each with its field.
func kinds(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var problems *search.CheckError
	require.ErrorAs(t, err, &problems)
	var list []string
	for _, p := range problems.Problems {
		list = append(list, strings.TrimSuffix(string(p.Kind)+" "+p.Field, " "))
		require.NotEmpty(t, p.Problem)
		require.ErrorContains(t, err, p.Error())
		require.NotContains(t, p.Error(), "\n")
		var reached *search.CheckProblem
		require.ErrorAs(t, p, &reached)
	}
	return list
}

func gaps(report search.CheckReport) (list []string) {
	for _, g := range report.Skipped {
		list = append(list, strings.TrimSuffix(string(g.Kind)+" "+g.Field, " "))
	}
	return list
}

func TestAReportOfACheckPrintsWhatWasSkipped(t *testing.T) {
	assert.Equal(t, "everything was checked", search.CheckReport{}.String())
	assert.Equal(t, "schema not checked: no right\nrole of field x not checked: why", search.CheckReport{Skipped: []search.CheckSkipped{
		{Kind: search.CheckSchema, Reason: "no right"}, {Kind: search.CheckRole, Field: "x", Reason: "why"},
	}}.String())
}

// Each row has one problem between the client and the index, and the checks that it prevents.
func TestCheckNamesWhatIsWrongOnTheWayToTheIndex(t *testing.T) {
	later := []string{"credential", "role", "index", "schema"}
	refused := []string{"role", "index", "schema"}
	fault := func(f searchtest.Fault) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			return response(f.Status, f.Message, "Content-Type", "text/html"), nil
		}
	}
	fails := func(err error) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			return nil, err
		}
	}
	for name, c := range map[string]struct {
		around   func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error)
		endpoint string
		index    string
		key      string // "" for a token
		use      search.CheckUse
		problems []string
		gaps     []string
		text     string // of the problem
		want     string
	}{
		"unknown host":                       {around: fails(&net.DNSError{Err: "no such host", Name: "svc", IsNotFound: true}), key: searchtest.AdminKey, problems: []string{"host"}, gaps: later, text: "no such host: check the name of the service in the endpoint http"},
		"nothing listens":                    {around: fails(connectionRefused), key: searchtest.AdminKey, problems: []string{"connection"}, gaps: later, text: "connection refused: nothing listens there"},
		"connections are cut":                {around: fails(connectionReset), key: searchtest.AdminKey, problems: []string{"connection"}, gaps: later, text: "connection reset by peer: the connection broke"},
		"no TLS":                             {around: fails(http.ErrSchemeMismatch), key: searchtest.AdminKey, problems: []string{"TLS"}, gaps: later, text: "does not speak https"},
		"a certificate not trusted":          {around: fails(&tls.CertificateVerificationError{Err: errors.New("x509: expired")}), key: searchtest.AdminKey, problems: []string{"TLS"}, gaps: later, text: "is not trusted"},
		"another server":                     {around: fault(searchtest.Fault{Status: 404, Message: "<h1>nginx</h1>"}), key: searchtest.AdminKey, problems: []string{"endpoint"}, gaps: later, text: "nginx (HTTP 404, request id 11111111-2222-3333-4444-555555555555): this reply does not come from a search service"},
		"a page with status 200":             {around: fault(searchtest.Fault{Status: 200, Message: "<html>"}), key: searchtest.AdminKey, problems: []string{"endpoint"}, gaps: later, text: "malformed reply: it is a page of HTML"},
		"a redirect":                         {around: fault(searchtest.Fault{Status: 302}), key: searchtest.AdminKey, problems: []string{"endpoint"}, gaps: later, text: "HTTP 302"},
		"a wrong path":                       {endpoint: "https://gateway.example/wrong", key: searchtest.AdminKey, problems: []string{"endpoint"}, gaps: later, text: "check the endpoint"},
		"an overloaded service":              {around: roles{definitions: 503, reads: 503, writes: 503}.around, key: searchtest.AdminKey, problems: []string{"service"}, gaps: later, text: "the service is too busy"},
		"no such index":                      {index: "motels", key: searchtest.AdminKey, problems: []string{"index"}, gaps: []string{"schema"}, text: `the index "motels" does not exist`},
		"no such index, by a query key":      {index: "motels", key: searchtest.QueryKey, problems: []string{"index"}, gaps: []string{"schema"}, text: `the index "motels" does not exist`},
		"another key":                        {key: "of-another-service", problems: []string{"credential"}, gaps: refused, text: "the key belongs to another service", want: "a query key or an admin key"},
		"another key, to write":              {key: "of-another-service", use: search.CheckForWriting, problems: []string{"credential"}, gaps: refused, text: "the key belongs to another service", want: "an admin key (query keys only read documents)"},
		"a query key, to write":              {key: searchtest.QueryKey, use: search.CheckForWriting, problems: []string{"role"}, gaps: []string{"schema"}, text: "the key is a query key", want: "an admin key"},
		"a query key, for both":              {key: searchtest.QueryKey, use: search.CheckForBoth, problems: []string{"role"}, gaps: []string{"schema"}, text: "writing documents needs an admin key", want: "an admin key"},
		"a query key, to read":               {key: searchtest.QueryKey, gaps: []string{"schema"}},
		"an admin key":                       {key: searchtest.AdminKey, use: search.CheckForBoth},
		"no role":                            {around: roles{403, 403, 403}.around, problems: []string{"role"}, gaps: []string{"schema"}, text: `the identity needs the role "Search Index Data Reader"`, want: "Search Index Data Reader"},
		"no role, to write":                  {around: roles{403, 403, 403}.around, use: search.CheckForWriting, problems: []string{"role"}, gaps: []string{"schema"}, text: `the role "Search Index Data Contributor"`, want: "Search Index Data Contributor"},
		"no role for either":                 {around: roles{403, 403, 403}.around, use: search.CheckForBoth, problems: []string{"role", "role"}, gaps: []string{"schema"}, text: `the role "Search Index Data Reader"`, want: "Search Index Data Reader"},
		"a token refused":                    {around: roles{401, 401, 401}.around, use: search.CheckForBoth, problems: []string{"credential"}, gaps: refused, text: "was refused: check that the service allows role-based access", want: "Search Index Data Contributor"},
		"a role for definitions only":        {around: roles{reads: 403, writes: 403}.around, problems: []string{"role"}, text: `the role "Search Index Data Reader"`, want: "Search Index Data Reader"},
		"a role to read only, to write":      {around: roles{definitions: 403, writes: 403}.around, use: search.CheckForBoth, problems: []string{"role"}, gaps: []string{"schema"}, text: `the role "Search Index Data Contributor"`, want: "Search Index Data Contributor"},
		"a role to write, to write":          {around: roles{definitions: 403, reads: 403}.around, use: search.CheckForWriting, gaps: []string{"schema"}},
		"a role to read, to read":            {around: roles{definitions: 403, writes: 403}.around, gaps: []string{"schema"}},
		"all roles":                          {use: search.CheckForBoth},
		"no index, and no role to write":     {index: "motels", around: roles{writes: 403}.around, use: search.CheckForWriting, problems: []string{"index", "role"}, gaps: []string{"schema"}, text: `the index "motels" does not exist`},
		"no index, and all roles":            {index: "motels", use: search.CheckForBoth, problems: []string{"index"}, gaps: []string{"schema"}, text: `the index "motels" does not exist`},
		"a token refused for documents only": {around: roles{reads: 401}.around, problems: []string{"role"}, text: `the role "Search Index Data Reader"`, want: "Search Index Data Reader"},
		"trouble after the definition":       {around: roles{reads: 500}.around, problems: []string{"service"}, gaps: []string{"role"}, text: "HTTP 500"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := searchtest.NewServer(&searchtest.Options{Token: func(string) bool { return true }})
			defer srv.Close()
			fields, err := models.FieldsOf[Hotel]()
			require.NoError(t, err)
			require.NoError(t, srv.CreateIndex(models.SearchIndex{Name: "hotels", Fields: fields}))
			if c.around != nil {
				srv.Intercept(c.around)
			}
			index := c.index
			if index == "" {
				index = "hotels"
			}
			endpoint := c.endpoint
			if endpoint == "" {
				endpoint = srv.URL()
			}
			var client *search.Client
			if c.key != "" {
				client, err = search.NewClientWithKey(endpoint, index, azcore.NewKeyCredential(c.key), impatient(srv))
			} else {
				client, err = search.NewClient(endpoint, index, &tokens{expires: time.Hour}, impatient(srv))
			}
			require.NoError(t, err)
			report, err := search.Check[Hotel](t.Context(), client, &search.CheckOptions{Use: c.use})
			assert.Equal(t, c.problems, kinds(t, err))
			assert.Equal(t, c.gaps, gaps(report))
			if c.text != "" {
				require.ErrorContains(t, err, c.text)
				var p *search.CheckProblem
				require.ErrorAs(t, err, &p)
				assert.Equal(t, c.want, p.Want)
				require.Error(t, p.Err)
			}
			for _, g := range report.Skipped {
				assert.NotEmpty(t, g.Reason)
			}
		})
	}
}

func TestCheckReportsACredentialThatHasNoToken(t *testing.T) {
	noLogin := errors.New("no login")
	w := reply(200, "1")
	client, err := search.NewClient(testEndpoint, "hotels", failingCredential{noLogin}, options(w))
	require.NoError(t, err)
	report, err := search.Check[Hotel](t.Context(), client, nil)
	assert.Equal(t, []string{"credential"}, kinds(t, err))
	assert.Equal(t, []string{"role", "index", "schema"}, gaps(report))
	require.ErrorIs(t, err, noLogin)
	require.EqualError(t, err, `search: the check of index "hotels" at https://svc.search.windows.net: no credential to send: no login`)
	assert.Empty(t, w.requests)
}

// No use and no role makes Check write.
func TestCheckWritesNothing(t *testing.T) {
	for _, use := range []search.CheckUse{search.CheckForReading, search.CheckForWriting, search.CheckForBoth} {
		for _, key := range []string{searchtest.AdminKey, searchtest.QueryKey, ""} {
			srv := searchtest.NewServer(&searchtest.Options{Token: func(string) bool { return true }, KeepBodies: 1000})
			defer srv.Close()
			fields, err := models.FieldsOf[Hotel]()
			require.NoError(t, err)
			require.NoError(t, srv.CreateIndex(models.SearchIndex{Name: "hotels", Fields: fields}))
			before := len(srv.Requests())
			client, err := search.NewClient(srv.URL(), "hotels", &tokens{expires: time.Hour}, impatient(srv))
			if key != "" {
				client, err = search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(key), impatient(srv))
			}
			require.NoError(t, err)
			_, _ = search.Check[Hotel](t.Context(), client, &search.CheckOptions{Use: use})
			requests := srv.Requests()[before:]
			assert.LessOrEqual(t, len(requests), 3)
			for _, r := range requests {
				if r.Method != http.MethodGet {
					assert.Equal(t, `{"value":[]}`, string(r.Body))
					assert.NotEqual(t, search.CheckForReading, use)
				}
			}
			if key == searchtest.AdminKey {
				assert.Len(t, requests, 1)
			}
			assert.Zero(t, srv.DocumentCount("hotels"))
		}
	}
}

func TestCheckRefusesAUseThatItDoesNotKnow(t *testing.T) {
	w := reply(200, "1")
	_, err := search.Check[Hotel](t.Context(), newClient(t, w), &search.CheckOptions{Use: 7})
	require.ErrorContains(t, err, "CheckOptions.Use is 7")
	assert.Empty(t, w.requests)
}
