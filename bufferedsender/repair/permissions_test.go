package repair_test

import (
	"context"
	"encoding/json"
	"iter"
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
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// guarded is a document that its users may see.
type guarded struct {
	ID    string   `json:"id" search:"key,filterable,sortable"`
	Owner string   `json:"owner" search:"filterable"`
	Rev   int64    `json:"rev" search:"filterable"`
	Users []string `json:"users" search:"permissionFilter=userIds,filterable"`
}

// identity is an identity with every role.
type identity struct{}

func (identity) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "t", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// permissionRig is an index with permission filters, three documents of a customer that are open
// to all and seven that are not, and clients with the admin key and with every role.
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

func (r *permissionRig) rows(t *testing.T, client *search.Client) *search.Rows {
	t.Helper()
	rows, err := search.NewRows(client, &search.RowsOptions{Version: "rev", Filter: search.Eq("owner", "c")})
	require.NoError(t, err)
	return rows
}

// source is the truth, which the index is like.
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
		receipt, err := repair.DeleteWhere(ctx, &watched{Index: r.rows(t, r.key)}, r.sender.Raw(), opts) // whatever it is wrapped in
		require.ErrorIs(t, err, search.ErrPartialView)
		assert.ErrorContains(t, err, "elevatedOperations/read")
		assert.Zero(t, receipt.NoneLeftAt)
		assert.Zero(t, receipt.Deleted)
		assert.Len(t, r.service.DocumentKeys("guarded"), 10)
	}
	total := func(ctx context.Context) (int64, error) { return r.role.DocumentCount(ctx, nil) }
	r.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		assert.NotContains(t, req.URL.Path, "$count", "which may be trimmed")
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
	assert.Len(t, r.service.Changes("guarded"), written, "nothing was written again")
}

// between calls meanwhile before the first query goes out.
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

// TestPermissionFiltersThatComeMeanwhileLeaveNoFalseReceipt: the definition has none when it is read,
// and the first page is trimmed.
func TestPermissionFiltersThatComeMeanwhileLeaveNoFalseReceipt(t *testing.T) {
	for name, remove := range map[string]func(context.Context, *permissionRig, *search.Client) error{
		"DeleteWhere": func(ctx context.Context, r *permissionRig, client *search.Client) error {
			_, err := repair.DeleteWhere(ctx, r.rows(t, client), r.sender.Raw(), &repair.DeleteOptions{AllowDeletes: 3, SameIndex: true})
			return err
		},
		"DeleteMatching": func(ctx context.Context, _ *permissionRig, client *search.Client) error {
			_, err := search.DeleteMatching(ctx, client, "id", search.Eq("owner", "c"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPermissionRig(t)
			option := func(value string) {
				index, err := search.Do(t.Context(), r.key, http.MethodGet, "/indexes/guarded", nil, &search.DoOptions{APIVersion: "2026-10-01"})
				require.NoError(t, err)
				var definition models.SearchIndex
				require.NoError(t, json.NewDecoder(index.Body).Decode(&definition))
				definition.PermissionFilterOption = value
				_, err = search.Do(t.Context(), r.key, http.MethodPut, "/indexes/guarded", definition, &search.DoOptions{APIVersion: "2026-10-01"})
				require.NoError(t, err)
			}
			option(models.PermissionFilterDisabled)
			opts := &search.ClientOptions{}
			opts.Transport = &between{next: r.service, meanwhile: func() { option(models.PermissionFilterEnabled) }}
			client, err := search.NewClientWithKey(r.service.URL(), "guarded", azcore.NewKeyCredential(searchtest.AdminKey), opts)
			require.NoError(t, err)
			require.ErrorIs(t, remove(t.Context(), r, client), search.ErrPartialView)
		})
	}
}
