package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
)

// RowsOptions are the options of NewRows.
type RowsOptions struct {
	// Version is the name of a top-level field that increases with each change of the document: an Edm.Int64, an
	// Edm.Int32, or an Edm.DateTimeOffset with the time of the change, converted to milliseconds since 1970, the
	// precision of the service. Defaults to none.
	Version string
	// Digest is the name of a top-level Edm.String field that differs whenever documents differ. Defaults to none.
	Digest string
	// DigestOf names top-level fields from which models.DigestOf computes a digest; they are read with each document. It
	// excludes Digest.
	DigestOf []string
	// Filter is the condition for documents. Defaults to no condition.
	Filter Filter
	// KeyField, PageSize, ReadAhead and SessionID have the meaning of ScanOptions.
	KeyField  string
	PageSize  int
	ReadAhead int
	SessionID string
}

// Rows reads an index as rows of keys, versions and digests, for comparisons with the source of the documents. Each
// Scan and each Lookup first reads the definition of the index, because permission filters may have been added, or an
// alias moved to another index; a pass of a repair and a receipt read it once. See ClientOptions.AssumeWholeView. It is
// safe for concurrent use.
type Rows struct {
	client  *Client
	options RowsOptions

	mu       sync.Mutex // guards the fields below, which hold what the last call found
	keyField string
	view     *view
}

// NewRows returns the rows of an index, whose key field must be filterable and sortable. The error joins all problems
// of the options. NewRows sends nothing. Without Version, Digest and DigestOf, rows hold keys only.
func NewRows(c *Client, opts *RowsOptions) (*Rows, error) {
	if c == nil {
		return nil, errors.New("search: NewRows: the client is nil")
	}
	if opts == nil {
		opts = &RowsOptions{}
	}
	r := &Rows{client: c, options: *opts, keyField: opts.KeyField}
	r.options.DigestOf = slices.Clone(opts.DigestOf)
	var problems []error
	if opts.Digest != "" && len(opts.DigestOf) > 0 {
		problems = append(problems, errors.New("there are Digest, a field that has a digest, and DigestOf, fields to make one of: use one of them"))
	}
	for _, name := range r.selected("") {
		// A field below the top level would be missing in each document, so that all documents would look equal.
		if name == "*" || strings.Contains(name, "/") {
			problems = append(problems, fmt.Errorf("%q is not the name of a field at the top level, as Version, Digest and DigestOf are", name))
		}
	}
	if slices.Contains(opts.DigestOf, "") {
		problems = append(problems, errors.New("DigestOf has an empty name"))
	}
	if err := r.scan("", "", cmp.Or(opts.KeyField, "key")).check(c.conn.apiVersion); err != nil {
		problems = append(problems, err)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("search: NewRows: %w", errors.Join(problems...))
	}
	return r, nil
}

// String describes the index, for messages.
func (r *Rows) String() string {
	return fmt.Sprintf("index %q", r.client.indexName)
}

// IndexName returns the name of the index, or of its alias.
func (r *Rows) IndexName() string {
	if r == nil {
		return ""
	}
	return r.client.IndexName()
}

// Endpoint returns the address of the service.
func (r *Rows) Endpoint() string {
	if r == nil {
		return ""
	}
	return r.client.Endpoint()
}

// HasVersions reports whether RowsOptions.Version is set. If so, the other side of a comparison must have versions
// too.
func (r *Rows) HasVersions() bool { return r != nil && r.options.Version != "" }

// selected returns the fields to read: the key, if not "", and those of the options.
func (r *Rows) selected(key string) []string {
	var fields []string
	if key != "" {
		fields = append(fields, key)
	}
	for _, name := range append([]string{r.options.Version, r.options.Digest}, r.options.DigestOf...) {
		if name != "" && !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	return fields
}

func (r *Rows) scan(after, through, key string) *ScanOptions {
	o := &r.options
	filter := o.Filter
	if through != "" {
		filter = And(Le(key, through), filter)
	}
	return &ScanOptions{
		Filter: filter, Select: r.selected(key), KeyField: key, After: after, PageSize: o.PageSize, ReadAhead: o.ReadAhead, SessionID: o.SessionID,
	}
}

// key returns the name of the key field and the view for reading the index. earlier allows the view of an earlier call.
func (r *Rows) key(ctx context.Context, earlier bool) (_ string, _ *view, err error) {
	r.mu.Lock()
	name, s := r.keyField, &scan{client: r.client, call: r.client.call("Scan", readDocuments), view: r.view}
	r.mu.Unlock()
	if s.view == nil || wholeindex.Required(ctx) || !earlier && !s.view.Lasts() {
		if s.view, err = r.client.view(ctx, s.call); err != nil {
			return "", nil, err
		}
		if s.view.index != nil { // perhaps of another index, with another key
			name = r.options.KeyField
		}
	}
	if s.view.index != nil {
		wholeindex.Saw(ctx, s.view.index.ETag)
	}
	if name == "" {
		if name, err = s.scannableKey(ctx); err != nil {
			return "", nil, err
		}
	}
	r.mu.Lock()
	r.keyField, r.view = name, s.view
	r.mu.Unlock()
	return name, s.view, nil
}

// Scan returns the rows in the order of their keys, from after (excluded) to through (included); "" means no limit.
// Otherwise it is like the function Scan.
func (r *Rows) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		key, v, err := r.key(ctx, false)
		if err != nil {
			yield(models.Row{}, err)
			return
		}
		s, err := newScan[json.RawMessage](ctx, r.client, *r.scan(after, through, key), v)
		if err != nil {
			yield(models.Row{}, err)
			return
		}
		for found, err := range s.documents(ctx) {
			if err != nil {
				yield(models.Row{}, r.named(err))
				return
			}
			row, err := r.row(found.key, found.json)
			if err != nil {
				yield(models.Row{}, s.call.wrap(err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// named adds the options to an error for which they may be the cause, a status 400.
func (r *Rows) named(err error) error {
	if status := (*Error)(nil); errors.As(err, &status) && status.StatusCode == http.StatusBadRequest {
		return fmt.Errorf("%w (of RowsOptions: Version %q, Digest %q, DigestOf %q, Filter %q)", err, r.options.Version, r.options.Digest, r.options.DigestOf, r.options.Filter)
	}
	return err
}

// mostKeys is the number of keys in one query.
const mostKeys = 500

// Lookup returns the rows of the given keys that are in the index and match the filter, in the order of their keys,
// without duplicates. It sends one query per 500 keys, one after another.
func (r *Rows) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	return r.lookup(ctx, keys, false)
}

func (r *Rows) lookup(ctx context.Context, keys []string, earlier bool) ([]models.Row, error) {
	key, v, err := r.key(ctx, earlier)
	if err != nil {
		return nil, err
	}
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	var rows []models.Row
	for part := range slices.Chunk(keys, mostKeys) {
		options := r.scan("", "", key)
		options.Filter = And(In(key, part...), options.Filter)
		s, err := newScan[json.RawMessage](ctx, r.client, *options, v)
		if err != nil {
			return nil, err
		}
		for found, err := range s.documents(ctx) {
			if err != nil {
				return nil, r.named(err)
			}
			row, err := r.row(found.key, found.json)
			if err != nil {
				return nil, s.call.wrap(err)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// row converts a document.
func (r *Rows) row(key string, document json.RawMessage) (models.Row, error) {
	o, row := &r.options, models.Row{Key: key}
	if o.Version == "" && o.Digest == "" && len(o.DigestOf) == 0 {
		return row, nil
	}
	var err error
	if len(o.DigestOf) > 0 {
		if row.Digest, err = models.DigestOf(document, o.DigestOf...); err != nil {
			return row, err
		}
		if o.Version == "" {
			return row, nil
		}
	}
	var digest, version json.RawMessage
	err = wire.EachMember(document, func(name, value []byte) bool { // encoding/json has checked that it is an object
		if o.Digest != "" && wire.Quotes(name, o.Digest) {
			digest = value
		}
		if o.Version != "" && wire.Quotes(name, o.Version) {
			version = value
		}
		return true
	})
	if err != nil {
		return row, fmt.Errorf("%w: the document with the key %q: %w", models.ErrMalformedReply, key, err)
	}
	if o.Digest != "" {
		if err := json.Unmarshal(orNull(digest), &row.Digest); err != nil {
			return row, fmt.Errorf("the digest field %q of the document with the key %q is not a string", o.Digest, key)
		}
	}
	if o.Version != "" {
		if row.Version, err = versionOf(orNull(version)); err != nil {
			return row, fmt.Errorf("the field %q of the document with the key %q: %w", o.Version, key, err)
		}
	}
	return row, nil
}

func orNull(field json.RawMessage) json.RawMessage {
	if field == nil {
		return json.RawMessage("null")
	}
	return field
}

// versionOf parses a version: a whole number or a time. null is 0.
func versionOf(field json.RawMessage) (int64, error) {
	if string(field) == "null" {
		return 0, nil
	}
	if n, err := strconv.ParseInt(string(field), 10, 64); err == nil {
		return n, nil
	}
	var text string
	if json.Unmarshal(field, &text) == nil {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return t.UnixMilli(), nil
		}
	}
	return 0, errors.New("a version must be a whole number or a time")
}
