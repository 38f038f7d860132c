package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
)

// ErrPartialView means that permission filters may hide documents of the index from this client, so an operation on
// the whole index is impossible. See ClientOptions.AssumeWholeView.
var ErrPartialView = errors.New("search: permissions may hide documents of the index")

// elevatedRead is the permission to read without permission filters.
const elevatedRead = "Microsoft.Search/searchServices/indexes/contentSecurity/elevatedOperations/read"

// statisticsLag is how long a view compares its count with the statistics of the index before it is refused.
const statisticsLag = 5 * time.Second

// view is the way in which a client reads a whole index.
type view struct {
	conn     *connection // the client's, or one whose api-version has permission filters
	elevated bool
	shown    bool                // a reply shows that reads are elevated
	index    *models.SearchIndex // nil if it was not read
}

// view determines how to read the whole index, once for each task that requires it (see internal/wholeindex). If the
// definition cannot be read, only such a task fails.
func (c *Client) view(ctx context.Context, call call) (*view, error) {
	if c.conn.assumeWhole {
		return &view{conn: c.conn}, nil
	}
	return wholeindex.Once(ctx, c, func() (*view, error) { return c.findView(ctx, call) })
}

// Lasts implements wholeindex.Lasting. A view that is shown to be elevated is kept, because it could not be proved
// again after the documents that proved it are deleted. Other views are not kept, because permission filters may be
// added to the index, or documents that are hidden from them.
func (v *view) Lasts() bool { return v.shown }

func (c *Client) findView(ctx context.Context, call call) (_ *view, err error) {
	ctx, end := c.conn.span(ctx, "Client."+call.operation)
	defer func() { end(err) }()
	conn := c.conn
	if !conn.apiVersion.Has(apiversion.PermissionFilters) {
		newer := *conn
		newer.apiVersion = apiversion.PermissionFilters.Stable()
		conn = &newer
	}
	reading := call
	reading.needs = manageIndexes
	index, err := conn.everything(ctx, c.indexName, reading)
	switch {
	case err == nil:
	case !answered(err, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound):
		return nil, err
	case !wholeindex.Required(ctx):
		if !errors.Is(err, ErrIndexNotFound) { // the query itself will return that error
			c.warned.Do(func() {
				slog.WarnContext(ctx, "search: definition unreadable; documents may be hidden",
					"index", c.indexName, "error", err, "fix", "grant Search Service Contributor, or set ClientOptions.AssumeWholeView")
			})
		}
		return &view{conn: c.conn}, nil
	case errors.Is(err, ErrIndexNotFound):
		return nil, err
	default:
		return nil, call.wrap(fmt.Errorf("%w: its definition cannot be read in api-version %s; grant the role %q or use an admin key, "+
			"or set ClientOptions.AssumeWholeView if there are no permission filters: %w", ErrPartialView, conn.apiVersion, manageIndexes.role(), err))
	}
	// A proxy that removes the permissions from a definition goes unnoticed: the statistics count what it hides, but also,
	// for minutes, what was deleted, so a difference must not refuse the work. An elevated count would take a role that is
	// not required where there are no permission filters.
	if !wholeindex.Trims(index) {
		return &view{conn: c.conn, index: index}, nil
	}
	v := &view{conn: conn, elevated: true, index: index}
	return v, v.prove(ctx, c, call)
}

// everything reads the definition of an index in an api-version that shows all that may hide documents. Sensitivity
// labels are in previews only. A service without that preview has no labels, so c's own api-version shows everything.
func (c *connection) everything(ctx context.Context, name string, call call) (*models.SearchIndex, error) {
	if c.apiVersion.Has(apiversion.SensitivityLabels) {
		return c.definition(ctx, name, call)
	}
	labelled := *c
	labelled.apiVersion = apiversion.SensitivityLabels.Oldest()
	index, err := labelled.definition(ctx, name, call)
	if answered(err, http.StatusBadRequest) {
		return c.definition(ctx, name, call)
	}
	return index, err
}

// answered reports whether err is a reply with one of the statuses.
func answered(err error, statuses ...int) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(statuses, e.StatusCode)
}

// definition reads the definition of an index. name may be that of an alias.
func (c *connection) definition(ctx context.Context, name string, call call) (*models.SearchIndex, error) {
	index, err := indexKind.read(ctx, c, call, name)
	err = c.orByAlias(ctx, name, call, err, func(of string) (err error) {
		index, err = indexKind.read(ctx, c, call, of)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &index, nil
}

// orByAlias returns err, the result of reading the definition of an index. If there is no such index but an alias of
// that name, it returns the result of get for the index of the alias.
func (c *connection) orByAlias(ctx context.Context, name string, call call, err error, get func(index string) error) error {
	if !errors.Is(err, ErrIndexNotFound) {
		return err
	}
	of, unread := c.aliased(ctx, name, call)
	switch {
	case unread != nil: // there may be an alias, so err is not the answer
		return unread
	case of == "":
		return err
	}
	return get(of)
}

// aliased returns the name of the index of an alias, "" if there is no such alias.
func (c *connection) aliased(ctx context.Context, name string, call call) (string, error) {
	alias, err := read[models.Alias](ctx, c, "/aliases"+quoted(name), call)
	switch {
	case err == nil && len(alias.Indexes) == 1:
		return alias.Indexes[0], nil
	case err == nil, answered(err, http.StatusBadRequest, http.StatusNotFound): // 400: an api-version without aliases
		return "", nil
	}
	return "", err
}

// read reads a definition, or statistics, with the required members.
func read[T any](ctx context.Context, c *connection, path string, call call, required ...string) (*T, error) {
	body, resp, err := c.getURL(ctx, c.url(path), call)
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := decodeInto(v, body, required...); err != nil {
		return nil, call.wrap(malformed(err, resp))
	}
	return v, nil
}

// prove returns nil if replies show that reads are elevated, or that nothing is hidden from them. Reads are elevated if
// documents that are not open to all are shown and counted with the header, but not without it. Status 200 is not a
// proof, because a service may ignore the header. $count is not one either, because it may be trimmed as well.
func (v *view) prove(ctx context.Context, c *Client, call call) error {
	hidden := v.restricted()
	first, err := v.page(ctx, c, &SearchOptions{Filter: hidden, Top: new(1)}, call)
	switch {
	case answered(err, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden):
		return call.wrap(fmt.Errorf("%w, which has permission filters: elevated read was refused; use an identity of a role with the permission %s: %w", ErrPartialView, elevatedRead, err))
	case err != nil:
		return err
	}
	plain := *v
	plain.elevated = false
	open, err := plain.count(ctx, c, hidden, call)
	if err != nil {
		return err
	}
	shown, err := v.count(ctx, c, hidden, call)
	if err != nil {
		return err
	}
	if len(first.Results) > 0 && shown > 0 && open == 0 {
		v.shown = true
		return nil
	}
	seen, total, err := v.compare(ctx, c, call)
	if err != nil || seen == total {
		return err
	}
	return call.wrap(fmt.Errorf("%w, which has permission filters: no reply shows that this client reads elevated (of restricted documents %d came with elevated read, %d without), "+
		"and it counts %d documents, the statistics %d; use an identity of a role with the permission %s, and keep one document in the index that no user may see; "+
		"or try again when the statistics, which lag some minutes, show all writes", ErrPartialView, shown, open, seen, total, elevatedRead))
}

// compare returns the number of documents that v sees and the number in the statistics of the index. If they are
// equal, nothing is hidden from v, whether its reads are elevated or not: the index is empty, or has only documents
// that are open to all. If they differ, documents may be hidden, or the statistics lag behind writes, so it compares
// again for up to statisticsLag, and then returns the last numbers. Fewer documents in the statistics prove nothing.
//
// It assumes what the service does not document: that permissions do not trim the statistics, which are not a query,
// and that no hidden documents were added so recently that the statistics lack them.
func (v *view) compare(ctx context.Context, c *Client, call call) (seen, total int64, err error) {
	reading := call
	reading.needs = manageIndexes
	for began, pause := time.Now(), firstLookPause; ; pause = min(2*pause, longestLookPause) {
		if seen, err = v.count(ctx, c, Filter{}, call); err != nil {
			return 0, 0, err
		}
		stats, err := read[models.IndexStatistics](ctx, v.conn, "/indexes"+quoted(v.index.Name)+"/search.stats", reading, "documentCount")
		switch {
		case answered(err, http.StatusUnauthorized, http.StatusForbidden):
			return 0, 0, call.wrap(fmt.Errorf("%w, which has permission filters: its statistics were refused; grant the role %q or use an admin key: %w", ErrPartialView, manageIndexes.role(), err))
		case err != nil:
			return 0, 0, err
		}
		if total = stats.DocumentCount; seen == total || time.Since(began)+pause > statisticsLag {
			return seen, total, nil
		}
		if err := sleep.For(ctx, pause); err != nil {
			return 0, 0, call.wrap(err)
		}
	}
}

// restricted returns the filter for documents that are not open to all.
func (v *view) restricted() Filter {
	var open []Filter
	for _, f := range v.index.Fields {
		switch {
		case f.PermissionFilter != models.PermissionFilterUserIDs && f.PermissionFilter != models.PermissionFilterGroupIDs:
		case strings.HasPrefix(string(f.Type), "Collection("):
			open = append(open, Any(f.Name, "id", Eq("id", "all")))
		default:
			open = append(open, Eq(f.Name, "all"))
		}
	}
	if open == nil {
		return Filter{}
	}
	return Not(Or(open...))
}

// search returns the first page of a query, which must be complete and have the count that the query asks for.
func (v *view) search(ctx context.Context, c *Client, query *SearchOptions, call call) (*scanPage, error) {
	body, err := query.body("", c.conn.apiVersion)
	if err != nil {
		return nil, call.wrap(err)
	}
	call.reader = &reader{elevated: v.elevated}
	page, err := searchPage[json.RawMessage](ctx, c, v.conn.url(c.docs+"/search.post.search"), body, call)
	if err != nil {
		return nil, err
	}
	if err := wholeindex.Page(page.StatusCode, page.Coverage, page.AdditionalProperties); err != nil {
		return nil, call.wrap(fmt.Errorf("%w (request id %s)", err, page.RequestID))
	}
	if query.IncludeTotalCount && page.Count == nil {
		return nil, call.wrap(fmt.Errorf("%w: it has no count (request id %s)", models.ErrMalformedReply, page.RequestID))
	}
	return &page, nil
}

// page returns the first page of a query that has a Top. It is checked as by agreed, if reads are elevated or if the
// page shows fewer documents than it counts.
func (v *view) page(ctx context.Context, c *Client, query *SearchOptions, call call) (*scanPage, error) {
	query.IncludeTotalCount = true
	page, err := v.search(ctx, c, query, call)
	switch {
	case err != nil:
		return nil, err
	case !v.elevated && int64(len(page.Results)) >= min(*page.Count, int64(*query.Top)):
		return page, nil
	}
	again, err := v.agreed(ctx, c, query, len(page.Results), call)
	if again != nil {
		page = again
	}
	return page, err
}

// agreed returns an error if a page of n results has fewer documents than are counted for its query, up to Top: a
// service may elevate counts, but not results. As writes may come between page and count, the page is read again
// between two counts, for up to statisticsLag, until it has as many as one of them. It returns that page, or nil if the
// first count agrees.
func (v *view) agreed(ctx context.Context, c *Client, query *SearchOptions, n int, call call) (page *scanPage, _ error) {
	before := int64(*query.Top)
	for began, pause := time.Now(), firstLookPause; ; pause = min(2*pause, longestLookPause) {
		count, err := v.count(ctx, c, query.Filter, call)
		switch {
		case err != nil:
			return nil, err
		case int64(n) >= min(before, count):
			return page, nil
		case time.Since(began)+pause > statisticsLag:
			return nil, call.wrap(fmt.Errorf("%w: the service counts %d documents, but shows %d of them: permission filters apply to its results, but not to its counts", ErrPartialView, count, n))
		}
		before = min(count, int64(*query.Top))
		if err := sleep.For(ctx, pause); err != nil {
			return nil, call.wrap(err)
		}
		if page, err = v.search(ctx, c, query, call); err != nil {
			return nil, err
		}
		if n = len(page.Results); continues(page.NextLink, page.NextPageParameters) {
			n = *query.Top // the service cut the page short
		}
	}
}

// count returns the number of documents that match a filter.
func (v *view) count(ctx context.Context, c *Client, filter Filter, call call) (int64, error) {
	page, err := v.search(ctx, c, &SearchOptions{Filter: filter, IncludeTotalCount: true, Top: new(int)}, call)
	if err != nil {
		return 0, err
	}
	return *page.Count, nil
}
