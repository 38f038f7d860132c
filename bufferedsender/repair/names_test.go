package repair

import (
	"bytes"
	"database/sql"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// named is an index whose client reports a name, and namedSender a sender that reports another one.
type named struct {
	Index
	index string
}

func (n named) IndexName() string { return n.index }
func (n named) Endpoint() string  { return "https://hotels.search.windows.net" }

type namedSender struct {
	Sender
	endpoint, index string
}

func (n namedSender) Info() models.SenderInfo {
	info := n.Sender.Info()
	info.Endpoint, info.IndexName = n.endpoint, n.index
	return info
}

func TestADryRunNeedsNoSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3)
		var none *bufferedsender.RawSender
		index := named{half{w, "index"}, "hotels"}
		_, err := repairer(half{w, "source"}, index, none, &Options{DryRun: true, Logger: quiet}).Run(t.Context())
		require.NoError(t, err)
		_, err = DeleteWhere(t.Context(), index, none, &DeleteOptions{DryRun: true, Logger: quiet})
		require.NoError(t, err)
	})
}

func TestASenderThatNamesAnotherIndexIsRefused(t *testing.T) {
	const here, there = "https://hotels.search.windows.net", "https://rooms.search.windows.net"
	for name, tc := range map[string]struct {
		endpoint, index, says string
	}{
		"the same":                          {here, "hotels", ""},
		"another index":                     {here, "rooms", `Sender writes to "rooms"`},
		"another service":                   {there, "hotels", "Sender writes to " + there},
		"the sender reports no name":        {"", "", ""},
		"the sender reports part of a name": {"", "hotels", ""},
		"another spelling":                  {"https://Hotels.search.windows.net:443/", "hotels", ""},
		"an alias, perhaps":                 {here, "hotels-2", "set SameIndex if one is an alias"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.fill(100)
				w.set(key(0), nil)
				index, to := named{half{w, "index"}, "hotels"}, namedSender{w.sender(nil).Raw(), tc.endpoint, tc.index}
				var log bytes.Buffer
				logger := slog.New(slog.NewTextHandler(&log, nil))
				calls := map[string]func(same, dry bool) error{
					"Run": func(same, dry bool) error {
						_, err := repairer(half{w, "source"}, index, to, &Options{Logger: logger, SameIndex: same, DryRun: dry, MaxShare: 1}).Run(t.Context())
						return err
					},
					"RunKeys": func(same, dry bool) error {
						_, err := repairer(half{w, "source"}, index, to, &Options{Logger: logger, SameIndex: same, DryRun: dry, MaxShare: 1}).RunKeys(t.Context(), key(0))
						return err
					},
					"DeleteWhere": func(same, dry bool) error {
						w.mu.Lock()
						rows := half{w, "index"}.rows()
						n := int64(len(rows))
						w.mu.Unlock()
						_, err := DeleteWhere(t.Context(), index, to, &DeleteOptions{Logger: logger, AllowDeletes: n, SameIndex: same, DryRun: dry})
						return err
					},
				}
				for what, call := range calls {
					require.NoError(t, call(false, true), what)
					if tc.says == "" {
						assert.Empty(t, log.String(), what)
						continue
					}
					assert.Contains(t, log.String(), "would be refused", what)
					require.ErrorContains(t, call(false, false), tc.says, what)
					assert.Empty(t, w.deleted, what)
					log.Reset()
				}
				for _, what := range []string{"RunKeys", "Run", "DeleteWhere"} {
					if err := calls[what](true, false); tc.endpoint == there {
						require.ErrorContains(t, err, tc.says, "an alias has the same service")
					} else {
						require.NoError(t, err, what)
					}
				}
			})
		})
	}
}

func TestNilPointersAreNamed(t *testing.T) {
	var rows *search.Rows
	var table *SQLSource
	var sender *bufferedsender.RawSender
	_, err := repairer(table, rows, sender, nil).Run(t.Context())
	for _, says := range []string{"Source is nil", "Index is nil", "the Sender is nil"} {
		require.ErrorContains(t, err, says)
	}
	var db *sql.DB
	for _, err := range (&SQLSource{DB: db, Table: "t", Key: "k"}).Scan(t.Context(), "", "") {
		require.ErrorContains(t, err, "DB is nil")
	}
	_, err = repairer(table, rows, sender, &Options{Store: (*SQLStore)(nil)}).Run(t.Context())
	require.ErrorContains(t, err, "Store is a nil *repair.SQLStore")
	_, err = DeleteWhere(t.Context(), rows, sender, nil)
	require.ErrorContains(t, err, "there is no index")
	_, err = search.NewRows(nil, nil)
	require.ErrorContains(t, err, "client is nil")
}
