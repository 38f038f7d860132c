package resources

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
)

// With many concurrent creates and updates exactly one create succeeds, and no ETag repeats.
func TestOneOfManyCreatorsWinsConcurrentSafe(t *testing.T) {
	srv := NewService("searchtest", false, store.Options{KeepChanges: -1})
	const small = `{"name":"small","fields":[{"name":"id","type":"Edm.String","key":true}]}`
	const callers = 16
	var mu sync.Mutex
	created, conditional, tags := 0, 0, map[string]bool{}
	put := func(condition http.Header) (*schema.Index, bool) {
		sc, serr := schema.Compile([]byte(small), apiversion.Latest())
		if serr != nil {
			t.Error(serr)
			return nil, false
		}
		srv.lock.Lock()
		_, serr = indexKind.put(srv, &srv.Catalog, sc, condition, routing.Route{Version: apiversion.Latest()})
		srv.lock.Unlock()
		mu.Lock()
		defer mu.Unlock()
		if serr != nil {
			return sc, false
		}
		assert.False(t, tags[sc.ETag], "a tag was given out twice")
		tags[sc.ETag] = true
		return sc, true
	}
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			_, serr := srv.AddIndex([]byte(small), apiversion.Latest())
			mu.Lock()
			if serr == nil {
				created++
			}
			mu.Unlock()
			sc, ok := put(nil)
			assert.True(t, ok)
			if _, ok := put(http.Header{"If-Match": {`"` + sc.ETag + `"`}}); ok {
				mu.Lock()
				conditional++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, created)
	require.Positive(t, conditional, "the last unconditional change of all was followed by its caller's conditional one")
}

func TestAnUpdateWithoutAConnectionStringLeavesIt(t *testing.T) {
	srv := NewService("searchtest", false, store.Options{})
	definition := func(credentials string) []byte {
		return []byte(`{"name":"blobs","type":"azureblob","credentials":` + credentials + `,"container":{"name":"c"}}`)
	}
	_, err := create(srv, dataSourceKind, definition(`{"connectionString":"AccountKey=secret"}`), apiversion.Latest())
	require.Nil(t, err)
	for _, credentials := range []string{`{}`, `{"connectionString":null}`, `{"connectionString":"<unchanged>"}`} {
		next, err := parseDataSource(srv, definition(credentials), apiversion.Latest())
		require.Nil(t, err)
		_, err = dataSourceKind.put(srv, &srv.Catalog, next, nil, routing.Route{Version: apiversion.Latest()})
		require.Nil(t, err)
		assert.Equal(t, "AccountKey=secret", srv.dataSources["blobs"].Object.Object("credentials").Str("connectionString"), credentials)
	}
}
