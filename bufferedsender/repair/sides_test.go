package repair

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const thingsIndex = `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},
	{"name":"version","type":"Edm.Int64","filterable":true},{"name":"hash","type":"Edm.String"}]}`

// things is the same table in each database.
func things(db *sql.DB) *SQLSource {
	return &SQLSource{DB: db, Table: "things", Key: "id", Version: "version", Load: Uploads(func(_ context.Context, keys []string) (all []thing, _ error) {
		for _, k := range keys {
			all = append(all, thing{ID: k, Version: 7})
		}
		return all, nil
	}, func(d thing) string { return d.ID })}
}

func TestAStateOfATableInAnotherDatabaseIsRefused(t *testing.T) {
	service := searchtest.NewServer(nil)
	defer service.Close()
	require.NoError(t, service.CreateIndex(thingsIndex))
	client := sendertest.NewClient(t, service)
	sender, err := bufferedsender.New(client, &bufferedsender.Options[thing]{Logger: quiet})
	require.NoError(t, err)
	defer sender.Close(t.Context())
	rows, err := search.NewRows(client, &search.RowsOptions{Version: "version"})
	require.NoError(t, err)
	store, err := NewFileStore(t.TempDir())
	require.NoError(t, err)
	opts := &Options{Pause: time.Millisecond, Store: store, Logger: quiet}
	here, there := newTable(t), newTable(t)
	for range 2 {
		_, err = repairer(things(here), rows, sender.Raw(), opts).Run(t.Context())
		require.NoError(t, err)
	}
	_, err = repairer(things(there), rows, sender.Raw(), opts).Run(t.Context())
	require.ErrorContains(t, err, "the saved state is of sqlite ")
	require.ErrorContains(t, err, "set another Name or Store, or delete the state to start over")
}

// A file is replaced under its path, and an index is deleted and created again, between two runs of a pass.
func TestAPassStartsOverIfItsFileOrItsIndexWasReplaced(t *testing.T) {
	service := searchtest.NewServer(nil)
	defer service.Close()
	require.NoError(t, service.CreateIndex(thingsIndex))
	rows, err := search.NewRows(sendertest.NewClient(t, service), &search.RowsOptions{Version: "version"})
	require.NoError(t, err)
	clientOptions := &search.ClientOptions{}
	clientOptions.Transport = service
	indexes, err := search.NewIndexClientWithKey(service.URL(), azcore.NewKeyCredential(searchtest.AdminKey), clientOptions)
	require.NoError(t, err)
	store, err := NewFileStore(t.TempDir())
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "things.jsonl")
	of := func() sides {
		j, err := OpenJSONL(path, &JSONLOptions{Key: "id", Version: "version"})
		require.NoError(t, err)
		defer j.Close()
		p, err := repairer(j, rows, nil, &Options{DryRun: true, Store: store, Logger: quiet}).newPass()
		require.NoError(t, err)
		p.identify(wholeindex.Require(t.Context()), j, rows)
		return p.of
	}
	write := func(text string) {
		require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	}
	write(`{"id":"a"}`)
	require.NotEmpty(t, of().ETag)
	for _, c := range []struct {
		name   string
		knows  func(*sides)
		change func()
		over   bool
	}{
		{"nothing", func(*sides) {}, func() {}, false},
		{"a state of an older version", func(s *sides) { s.File, s.ETag = "", "" }, func() { write(`{"id":"b","version":1}`) }, false},
		{"another file", func(*sides) {}, func() { write(`{"id":"c","version":22}`) }, true},
		{"the index created again", func(*sides) {}, func() {
			require.NoError(t, indexes.DeleteIndex(t.Context(), "hotels", nil))
			require.NoError(t, service.CreateIndex(thingsIndex))
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &state{Format: 1, Of: of(), Through: "m", Rejected: map[string]rejection{"k": {At: time.Now()}}}
			c.knows(&s.Of)
			require.NoError(t, s.save(t.Context(), store, c.name))
			c.change()
			now := of()
			resumed, err := load(t.Context(), store, c.name, now)
			require.NoError(t, err)
			assert.Equal(t, c.over, resumed.Through == "")
			assert.Equal(t, c.over, len(resumed.Rejected) == 0)
			assert.Equal(t, now, resumed.Of)
		})
	}
}

func TestWhatOnlyAnOlderRunKnewOfTheSidesIsKept(t *testing.T) {
	known := sides{"s", "i", "d", "f", "e"}
	assert.Equal(t, known, known.updated(sides{}))
	assert.Equal(t, sides{"s", "i", "D", "f", "E"}, known.updated(sides{Database: "D", ETag: "E"}))
	assert.False(t, known.replaced(sides{}))
}
