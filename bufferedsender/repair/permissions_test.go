package repair_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// guarded is a document with permitted users.
type guarded struct {
	ID    string   `json:"id" search:"key,filterable,sortable"`
	Owner string   `json:"owner" search:"filterable"`
	Rev   int64    `json:"rev" search:"filterable"`
	Users []string `json:"users" search:"permissionFilter=userIds,filterable"`
}

// identity is a credential with every role.
type identity struct{}

func (identity) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "t", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// permissionRig is an index with permission filters, with three public and seven restricted documents of a customer.
// It has clients with the admin key and with every role.
type permissionRig struct {
	service   *searchtest.Server
	key, role *search.Client
	sender    *bufferedsender.BufferedSender[guarded]
	truth     []guarded
}

func newPermissionRig(t *testing.T) *permissionRig {
	t.Helper()
	r := &permissionRig{service: searchtest.NewServer(&searchtest.Options{Token: func(string) bool { return true }})}
	t.Cleanup(func() { assert.NoError(t, r.service.Close()) })
	opts := &search.ClientOptions{}
	opts.Transport = r.service
	fields, err := models.FieldsOf[guarded]()
	require.NoError(t, err)
	index := models.SearchIndex{Name: "guarded", Fields: fields, PermissionFilterOption: models.PermissionFilterEnabled}
	r.key, err = search.NewClientWithKey(r.service.URL(), "guarded", azcore.NewKeyCredential(searchtest.AdminKey), opts)
	require.NoError(t, err)
	r.role, err = search.NewClient(r.service.URL(), "guarded", identity{}, opts)
	require.NoError(t, err)
	_, err = search.Do(t.Context(), r.key, http.MethodPost, "/indexes", index, &search.DoOptions{APIVersion: "2026-10-01"})
	require.NoError(t, err)
	for i := range 10 {
		users := []string{"all"}
		if i >= 3 {
			users = []string{"alice"}
		}
		r.truth = append(r.truth, guarded{ID: string(rune('a' + i)), Owner: "c", Rev: 1, Users: users})
	}
	_, err = search.UploadDocuments(t.Context(), r.key, r.truth, nil)
	require.NoError(t, err)
	r.sender, err = bufferedsender.New(r.key, &bufferedsender.Options[guarded]{Logger: sendertest.NoLog})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.sender.Close(context.Background())) })
	return r
}

// option sets the permission filter option of the index.
func (r *permissionRig) option(t *testing.T, value string) {
	t.Helper()
	index, err := search.Do(t.Context(), r.key, http.MethodGet, "/indexes/guarded", nil, &search.DoOptions{APIVersion: "2026-10-01"})
	require.NoError(t, err)
	var definition models.SearchIndex
	require.NoError(t, json.NewDecoder(index.Body).Decode(&definition))
	definition.PermissionFilterOption = value
	_, err = search.Do(t.Context(), r.key, http.MethodPut, "/indexes/guarded", definition, &search.DoOptions{APIVersion: "2026-10-01"})
	require.NoError(t, err)
}

func (r *permissionRig) rows(t *testing.T, client *search.Client) *search.Rows {
	t.Helper()
	rows, err := search.NewRows(client, &search.RowsOptions{Version: "rev", Filter: search.Eq("owner", "c")})
	require.NoError(t, err)
	return rows
}

// source is the source of truth; the index equals it.
func (r *permissionRig) source() repair.Source {
	load := func(_ context.Context, keys []string) (found []guarded, _ error) {
		for _, d := range r.truth {
			if slices.Contains(keys, d.ID) {
				found = append(found, d)
			}
		}
		return found, nil
	}
	return repair.Functions{
		ScanRows: func(_ context.Context, after, through string) iter.Seq2[models.Row, error] {
			return func(yield func(models.Row, error) bool) {
				for _, d := range r.truth {
					if d.ID > after && (through == "" || d.ID <= through) && !yield(models.Row{Key: d.ID, Version: d.Rev}, nil) {
						return
					}
				}
			}
		},
		ReadKeys: repair.Uploads(load, func(d guarded) string { return d.ID }),
	}
}

func TestReceiptIsOfTheWholeIndexOrThereIsNone(t *testing.T) {
	r := newPermissionRig(t)
	ctx := t.Context()
	for _, dry := range []bool{false, true} {
		opts := &repair.DeleteOptions{MaxShare: 1, Pause: -1, DryRun: dry, AllowDeletes: 3}
		receipt, err := repair.DeleteWhere(ctx, &watched{Index: r.rows(t, r.key)}, r.sender.Raw(), opts) // also through a wrapper
		require.ErrorIs(t, err, search.ErrPartialView)
		assert.ErrorContains(t, err, "elevatedOperations/read")
		assert.Zero(t, receipt.NoneLeftAt)
		assert.Zero(t, receipt.Deleted)
		assert.Len(t, r.service.DocumentKeys("guarded"), 10)
	}
	total := func(ctx context.Context) (int64, error) { return r.role.DocumentCount(ctx, nil) }
	r.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		assert.NotContains(t, req.URL.Path, "$count", "permissions may trim the count")
		return next(req)
	})
	receipt, err := repair.DeleteWhere(ctx, r.rows(t, r.role), r.sender.Raw(), &repair.DeleteOptions{Total: total, MaxShare: 1, Pause: -1})
	require.NoError(t, err)
	assert.EqualValues(t, 10, receipt.Matched)
	assert.EqualValues(t, 10, receipt.Deleted)
	assert.EqualValues(t, 10, receipt.Total)
	assert.NotZero(t, receipt.NoneLeftAt)
	assert.Empty(t, r.service.DocumentKeys("guarded"))
}

func TestRepairIsOfTheWholeIndexOrThereIsNone(t *testing.T) {
	r := newPermissionRig(t)
	ctx := t.Context()
	written := len(r.service.Changes("guarded"))
	for name, run := range map[string]func(*repair.Repairer) (repair.Report, error){
		"Run":     func(p *repair.Repairer) (repair.Report, error) { return p.Run(ctx) },
		"RunKeys": func(p *repair.Repairer) (repair.Report, error) { return p.RunKeys(ctx, "a", "h") },
	} {
		pass := func(client *search.Client) (repair.Report, error) {
			return run(&repair.Repairer{Source: r.source(), Index: r.rows(t, client), Sender: r.sender.Raw(), Options: repair.Options{Pause: time.Millisecond, Logger: sendertest.NoLog, MaxShare: 1}})
		}
		_, err := pass(r.key)
		require.ErrorIs(t, err, search.ErrPartialView, name)
		report, err := pass(r.role)
		require.NoError(t, err, name)
		assert.Zero(t, report.Repaired, name)
	}
	assert.Len(t, r.service.Changes("guarded"), written, "no document was written again")
}

// client returns a client with a credential and an api-version.
func (r *permissionRig) client(t *testing.T, credential, version string) (client *search.Client) {
	t.Helper()
	opts := &search.ClientOptions{APIVersion: version}
	opts.Transport, opts.Retry.MaxRetries = r.service, -1
	var err error
	switch credential {
	case "role":
		client, err = search.NewClient(r.service.URL(), "guarded", identity{}, opts)
	default:
		client, err = search.NewClientWithKey(r.service.URL(), "guarded", azcore.NewKeyCredential(credential), opts)
	}
	require.NoError(t, err)
	return client
}

// wholeOperations are the operations on the whole index. Each returns how many of its ten documents it has seen; the
// last deletes all.
var wholeOperations = []struct {
	name string
	run  func(context.Context, *testing.T, *permissionRig, *search.Client) (int64, error)
}{
	{"Scan", func(ctx context.Context, t *testing.T, r *permissionRig, c *search.Client) (n int64, _ error) {
		for _, err := range r.rows(t, c).Scan(ctx, "", "") {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}},
	{"Count", func(ctx context.Context, _ *testing.T, _ *permissionRig, c *search.Client) (int64, error) {
		return c.DocumentCount(ctx, nil)
	}},
	{"Run", func(ctx context.Context, t *testing.T, r *permissionRig, c *search.Client) (int64, error) {
		report, err := r.repairer(t, c).Run(ctx)
		return 10 - report.Repaired, err
	}},
	{"RunKeys", func(ctx context.Context, t *testing.T, r *permissionRig, c *search.Client) (int64, error) {
		report, err := r.repairer(t, c).RunKeys(ctx, "a", "d", "j")
		return 10 - report.Repaired, err
	}},
	{"Watch", func(ctx context.Context, t *testing.T, r *permissionRig, c *search.Client) (n int64, err error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		n = 10
		passes := 0
		_ = r.repairer(t, c).Watch(ctx, time.Millisecond, func(report repair.Report, failed error) {
			if passes++; passes <= 3 {
				n, err = n-report.Repaired, failed
			}
			if passes == 3 {
				cancel()
			}
		})
		return n, err
	}},
	{"DryRun", func(ctx context.Context, t *testing.T, r *permissionRig, c *search.Client) (int64, error) {
		receipt, err := repair.DeleteWhere(ctx, r.rows(t, c), r.sender.Raw(), &repair.DeleteOptions{DryRun: true, SameIndex: true})
		return receipt.Matched, err
	}},
	{"DeleteWhere", func(ctx context.Context, t *testing.T, r *permissionRig, c *search.Client) (int64, error) {
		receipt, err := repair.DeleteWhere(ctx, r.rows(t, c), r.sender.Raw(), &repair.DeleteOptions{AllowDeletes: 10, Pause: -1, SameIndex: true})
		if left := len(r.service.DocumentKeys("guarded")); left > 0 {
			assert.Zero(t, receipt.NoneLeftAt, "%d documents are left", left)
			assert.Error(t, err, "%d documents are left", left)
		}
		return receipt.Deleted, err
	}},
}

func (r *permissionRig) repairer(t *testing.T, c *search.Client) *repair.Repairer {
	return &repair.Repairer{Source: r.source(), Index: r.rows(t, c), Sender: r.sender.Raw(), Options: repair.Options{Pause: time.Millisecond, Logger: sendertest.NoLog, MaxShare: 1, SameIndex: true}}
}

// The test combines every key, role, header, filter and api-version. An operation without an error has seen all ten
// documents and rewritten none. Only a role reads an index whose results are trimmed, or an index with permission
// fields but no option, where only the statistics show that nothing is hidden.
func TestEveryOperationOnTheWholeIndexSeesItOrRefuses(t *testing.T) {
	before := slog.Default()
	slog.SetDefault(sendertest.NoLog) // a query key causes a warning
	defer slog.SetDefault(before)
	headers := map[string]func(context.Context) context.Context{
		"no header":     func(ctx context.Context) context.Context { return ctx },
		"alice's token": func(ctx context.Context) context.Context { return search.WithUserToken(ctx, "alice") },
		"no user":       func(ctx context.Context) context.Context { return search.WithUserToken(ctx, "nobody") },
		"elevated":      search.WithElevatedRead,
	}
	for filter, trimmed := range map[string]bool{models.PermissionFilterEnabled: true, models.PermissionFilterDisabled: false, "": true} {
		for _, version := range []string{"2026-10-01", "2025-11-01-preview", "2026-04-01", "2024-07-01"}[:testkit.Cases(2, 4, 4)] {
			for credential, sees := range map[string]bool{searchtest.AdminKey: !trimmed, searchtest.QueryKey: false, "role": true} {
				for header, with := range headers {
					t.Run(fmt.Sprintf("filter %q, %s, %s, %s", filter, version, credential, header), func(t *testing.T) {
						r := newPermissionRig(t)
						r.option(t, filter)
						written := len(r.service.Changes("guarded"))
						client := r.client(t, credential, version)
						for _, o := range wholeOperations {
							n, err := o.run(with(t.Context()), t, r, client)
							switch {
							case sees || o.name == "Count" && err == nil: // of the service, which does not trim it
								require.NoError(t, err, o.name)
								assert.EqualValues(t, 10, n, o.name)
							case credential != searchtest.QueryKey || o.name != "Scan": // with a warning
								require.ErrorIs(t, err, search.ErrPartialView, o.name)
							}
							if o.name != "DeleteWhere" || !sees {
								assert.Len(t, r.service.Changes("guarded"), written, "%s has written", o.name)
							}
						}
					})
				}
			}
		}
	}
}

// between calls meanwhile before the first query.
type between struct {
	next      policy.Transporter
	meanwhile func()
}

func (b *between) Do(req *http.Request) (*http.Response, error) {
	if b.meanwhile != nil && strings.HasSuffix(req.URL.Path, "search.post.search") {
		meanwhile := b.meanwhile
		b.meanwhile = nil
		meanwhile()
	}
	return b.next.Do(req)
}

// The definition has no filters when it is read, and then the first page is trimmed.
func TestPermissionFiltersThatComeMeanwhileLeaveNoFalseReceipt(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(context.Context, *permissionRig, *search.Client) error{
		"DeleteWhere": func(ctx context.Context, r *permissionRig, client *search.Client) error {
			_, err := repair.DeleteWhere(ctx, r.rows(t, client), r.sender.Raw(), &repair.DeleteOptions{AllowDeletes: 3, SameIndex: true})
			return err
		},
		"DeleteMatching": func(ctx context.Context, _ *permissionRig, client *search.Client) error {
			_, err := search.DeleteMatching(ctx, client, "id", search.Eq("owner", "c"), nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPermissionRig(t)
			r.option(t, models.PermissionFilterDisabled)
			opts := &search.ClientOptions{}
			opts.Transport = &between{next: r.service, meanwhile: func() { r.option(t, models.PermissionFilterEnabled) }}
			client, err := search.NewClientWithKey(r.service.URL(), "guarded", azcore.NewKeyCredential(searchtest.AdminKey), opts)
			require.NoError(t, err)
			require.ErrorIs(t, remove(t.Context(), r, client), search.ErrPartialView)
		})
	}
}

// late adds a restricted document before the definition is read for the last scan, and permission filters after it.
type late struct {
	*permissionRig
	t           *testing.T
	definitions int
}

func (l *late) Do(req *http.Request) (*http.Response, error) {
	switch {
	case req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/indexes('guarded')"):
		if l.definitions++; l.definitions == 2 {
			_, err := search.UploadDocuments(l.t.Context(), l.role, []guarded{{ID: "late", Owner: "c", Users: []string{"u"}}}, nil)
			require.NoError(l.t, err)
		}
	case l.definitions == 2 && strings.HasSuffix(req.URL.Path, "search.post.search"):
		l.definitions++
		l.option(l.t, models.PermissionFilterEnabled)
	}
	return l.service.Do(req)
}

// The definition has no filters when it is read for the last scan, which is trimmed.
func TestPermissionFiltersDuringTheLastScanLeaveNoFalseReceipt(t *testing.T) {
	t.Parallel()
	r := newPermissionRig(t)
	r.option(t, models.PermissionFilterDisabled)
	opts := &search.ClientOptions{}
	opts.Transport = &late{permissionRig: r, t: t}
	client, err := search.NewClientWithKey(r.service.URL(), "guarded", azcore.NewKeyCredential(searchtest.AdminKey), opts)
	require.NoError(t, err)
	receipt, err := repair.DeleteWhere(t.Context(), r.rows(t, client), r.sender.Raw(), &repair.DeleteOptions{AllowDeletes: 10, SameIndex: true})
	require.ErrorIs(t, err, search.ErrPartialView)
	assert.Zero(t, receipt.NoneLeftAt)
	assert.Equal(t, []string{"late"}, r.service.DocumentKeys("guarded"))
}
