package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Service checks a search service.
type Service struct {
	Client     *search.IndexClient
	APIVersion string // of the requests
	WithKey    bool   // with an API key, not Entra ID
	Index      string // name of the index to check; "" for none
}

const (
	noKey     = "set AZURE_SEARCH_API_KEY, or sign in with az login"
	withKey   = "set AZURE_SEARCH_API_KEY to a key of this service (portal: Settings, Keys)"
	withRoles = "assign a role to the identity: Search Index Data Reader to query, Search Index Data Contributor to write documents, Search Service Contributor for definitions"
)

// Endpoint adds a failure and returns false if endpoint is not a valid URL of a service.
func Endpoint(f *Findings, endpoint string) bool {
	_, err := search.NewIndexClientWithKey(endpoint, azcore.NewKeyCredential("key"), nil)
	if endpoint == "" {
		err = errors.New("no service is named")
	}
	if err != nil {
		f.Fail("endpoint", "set AZURE_SEARCH_ENDPOINT or -endpoint to the URL that the portal shows, https://NAME.search.windows.net", "%v", err)
	}
	return err == nil
}

// Check checks the credential, the api-version, the quotas and the index.
func (s Service) Check(ctx context.Context, f *Findings) {
	stats, err := s.Client.GetServiceStatistics(ctx, nil)
	if said := (*search.Error)(nil); errors.As(err, &said) && said.StatusCode == http.StatusNotFound {
		if u, e := url.Parse(s.Client.Endpoint()); e == nil && strings.Trim(u.Path, "/") != "" {
			f.Fail("service", "remove the path "+u.Path+" from the endpoint", "%v", err)
			return
		}
	}
	before := f.Count(Failure)
	var index *models.SearchIndex
	if s.Index == "" {
		s.credential(f, err)
	} else {
		index = s.rights(ctx, f, err)
	}
	fine := f.Count(Failure) == before
	if fine && s.Index != "" && err != nil && !refused(err) {
		s.trouble(f, err)
		return
	}
	if fine || err == nil {
		f.Ok("api-version", "%s", s.APIVersion)
	}
	quotas(f, &stats.Counters)
	if index != nil {
		s.index(ctx, f, index, &stats.Limits)
	}
}

func status(err error) int {
	var said *search.Error
	if errors.As(err, &said) && !said.Foreign() {
		return said.StatusCode
	}
	return 0
}

func refused(err error) bool {
	return status(err) == http.StatusUnauthorized || status(err) == http.StatusForbidden
}

// credential reports the credential's rights from err, the outcome of a request for the statistics.
func (s Service) credential(f *Findings, err error) {
	switch {
	case err == nil && s.WithKey:
		f.Ok("credential", "an admin key")
	case err == nil:
		f.Ok("credential", "Entra ID, may read definitions; add -index NAME to check its permissions on documents")
	case refused(err) && s.WithKey:
		f.Fail("credential", withKey+"; add -index NAME to distinguish a query key from a wrong key", "the key is not an admin key of this service")
	case refused(err):
		f.Warn("credential", withRoles, "Entra ID, may not read statistics; add -index NAME to check its permissions on documents")
	default:
		s.trouble(f, err)
	}
}

// trouble adds a failure for an error that is not about permissions.
func (s Service) trouble(f *Findings, err error) {
	var credential *search.CredentialError
	switch {
	case errors.As(err, &credential):
		f.Fail("credential", noKey, "%v", err)
	case status(err) == http.StatusBadRequest:
		f.Fail("api-version", "update azsearch, or set -api-version to one that the service supports", "%s is refused: %v", s.APIVersion, err)
	default:
		f.Fail("service", "try again; if it persists, check the health of the service in the portal", "%v", err)
	}
}

// use is an operation that a credential may or may not permit.
type use struct {
	name  string
	roles []string // roles it lacks; nil if permitted
}

// rights reports the credential's permissions on the index. It returns the definition, nil if that cannot be read.
// stats is the outcome of a request for the statistics.
func (s Service) rights(ctx context.Context, f *Findings, stats error) *models.SearchIndex {
	client, err := s.Client.Client(s.Index)
	if err != nil {
		f.Fail("index", "check -index", "%v", err)
		return nil
	}
	report, reading := search.Check[map[string]any](ctx, client, nil)
	_, writing := search.Check[map[string]any](ctx, client, &search.CheckOptions{Use: search.CheckForWriting})
	uses := []use{{name: "read definitions"}, {name: "query"}, {name: "write documents"}}
	if report.Index == nil {
		uses[0].roles = []string{"Search Service Contributor"}
	}
	missing := false
	for i, err := range []error{reading, writing} {
		for _, p := range problems(err) {
			switch p.Kind {
			case search.CheckRole:
				uses[i+1].roles = append(uses[i+1].roles, p.Want)
			case search.CheckIndex:
				missing = true
			default: // report it once
				hint := p.Hint
				if p.Kind == search.CheckCredential && !s.WithKey {
					hint = strings.TrimPrefix(hint+"; or "+noKey, "; or ")
				}
				f.Fail(string(p.Kind), hint, "%s", p.Problem)
				return nil
			}
		}
	}
	if missing {
		switch {
		case stats == nil && s.WithKey:
			f.Ok("credential", "an admin key")
		case stats == nil:
			f.Ok("credential", "Entra ID, may read definitions")
		}
		f.Fail("index", "azsearch stats lists the indexes; azsearch load -create creates one", "%q does not exist", s.Index)
		return nil
	}
	s.may(f, uses)
	return report.Index
}

// problems returns the problems in an error of search.Check.
func problems(err error) []*search.CheckProblem {
	var found *search.CheckError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &found):
		return found.Problems
	}
	return []*search.CheckProblem{{Kind: search.CheckService, Problem: err.Error()}}
}

// may reports the permitted and missing uses.
func (s Service) may(f *Findings, uses []use) {
	var can, cannot, roles []string
	for _, u := range uses {
		if u.roles == nil {
			can = append(can, u.name)
		} else {
			cannot, roles = append(cannot, u.name), append(roles, u.roles...)
		}
	}
	switch {
	case s.WithKey && cannot == nil:
		f.Ok("credential", "an admin key")
	case s.WithKey:
		f.Warn("credential", "set AZURE_SEARCH_API_KEY to an admin key to write", "a query key, which cannot write; definition and quotas were not checked")
	case cannot == nil:
		f.Ok("credential", "Entra ID, may %s", strings.Join(can, ", "))
	case can == nil:
		f.Fail("credential", withRoles, "Entra ID, may do nothing with index %q", s.Index)
	default:
		f.Warn("credential", "if the program needs more, assign to the identity "+strings.Join(roles, ", "), "Entra ID, may %s; may not %s", strings.Join(can, ", "), strings.Join(cannot, ", "))
	}
}

// near is the usage of a limit, in percent, from which a check warns.
const near = 80

// limit checks the usage of a limit. It adds a finding if the usage is high, else it returns a text for a combined
// finding.
func limit(f *Findings, check, do, what string, used, most int64, show func(int64) string) string {
	text := fmt.Sprintf("%s %s of %s", what, show(used), show(most))
	switch {
	case most > 0 && used >= most:
		f.Fail(check, do, "%s: exhausted, the service refuses more", text)
	case most > 0 && used >= most/100*near && used*100 >= most*near:
		f.Warn(check, do, "%s (%d %%)", text, used*100/most)
	default:
		return text
	}
	return ""
}

// Counter is the usage of one resource of a service. Its quota may be nil.
type Counter struct {
	*models.ResourceCounter
	Name string
	Show func(int64) string
}

// Counters returns the counters that the service reported.
func Counters(c *models.ServiceCounters) []Counter {
	return slices.DeleteFunc([]Counter{
		{c.Documents, "documents", humanize.Comma}, {c.StorageSize, "storage", Size}, {c.VectorIndexSize, "vectors in memory", Size},
		{c.Indexes, "indexes", humanize.Comma}, {c.Aliases, "aliases", humanize.Comma}, {c.SynonymMaps, "synonym maps", humanize.Comma},
		{c.DataSources, "data sources", humanize.Comma}, {c.Indexers, "indexers", humanize.Comma}, {c.Skillsets, "skillsets", humanize.Comma},
	}, func(x Counter) bool { return x.ResourceCounter == nil })
}

// Size formats a number of bytes.
func Size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// quotas checks the usage of the service's quotas.
func quotas(f *Findings, c *models.ServiceCounters) {
	var fine []string
	for _, x := range Counters(c) {
		if x.Quota == nil || *x.Quota == 0 && x.Usage == 0 {
			continue
		}
		if text := limit(f, "quota", "delete what is not needed, add partitions, or use a larger tier", x.Name, x.Usage, *x.Quota, x.Show); text != "" {
			fine = append(fine, text)
		}
	}
	if len(fine) > 0 {
		f.Ok("quota", "%s", strings.Join(fine, ", "))
	}
}

// index checks the definition of an index and its usage of limits. s.Index may be an alias.
func (s Service) index(ctx context.Context, f *Findings, index *models.SearchIndex, limits *models.ServiceLimits) {
	client, err := s.Client.Client(s.Index)
	if err == nil {
		definition(f, client, index)
		var stats models.IndexStatistics
		if stats, err = s.Client.GetIndexStatistics(ctx, index.Name, nil); err == nil {
			size(f, index, &stats, limits)
		}
	}
	if err != nil {
		f.Fail("index", "try again", "%v", err)
	}
}

// definition checks whether all documents and fields of an index can be read.
func definition(f *Findings, client *search.Client, index *models.SearchIndex) {
	x, err := keyrange.Of(client, index, search.Filter{}, nil)
	if err != nil {
		f.Fail("key field", "create the index again with a retrievable key field", "%v", err)
		return
	}
	const again = "the key field of an existing index cannot be changed: use azsearch copy -create to copy to a new index"
	if x.Unscannable != "" {
		f.Warn("key field", again, "%s: backup and verify read at most %s documents, delete deletes 1000 at a time, repair refuses the index", x.Unscannable, humanize.Comma(keyrange.Paged))
	} else {
		f.Ok("key field", "%q is filterable and sortable, so every document can be reached", x.Key())
	}
	if len(x.Hidden) > 0 {
		f.Warn("fields", "keep their source: backups and copies lack these values; retrievable can be changed later, stored cannot", "cannot be read back: %s", strings.Join(x.Hidden, ", "))
	} else {
		f.Ok("fields", "all can be read back")
	}
	if x.Trimmed {
		f.Warn("permissions", "to back up, compare or repair the index, use an identity with the role of elevated read", "permission filters hide documents from queries")
	}
}

// size checks the usage of the limits per index.
func size(f *Findings, index *models.SearchIndex, stats *models.IndexStatistics, limits *models.ServiceLimits) {
	fine := []string{amount.Of(stats.DocumentCount, "document")}
	add := func(do, what string, used int64, most *int64, show func(int64) string) {
		text := what + " " + show(used)
		if most != nil {
			text = limit(f, "index", do, what, used, *most, show)
		}
		if text != "" {
			fine = append(fine, text)
		}
	}
	add("delete documents, or divide them among several indexes", "storage", stats.StorageSize, limits.MaxStoragePerIndex, Size)
	add("create the index again with fewer fields", "fields", countFields(index.Fields), limits.MaxFieldsPerIndex, humanize.Comma)
	f.Ok("index", "%s", strings.Join(fine, ", "))
}

func countFields(fields []models.SearchField) (n int64) {
	for _, x := range fields {
		n += 1 + countFields(x.Fields)
	}
	return n
}
