package search_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// writers is the number of goroutines that change one definition concurrently, so high that most conflict at the
// first attempt.
const writers = 8

// rivals calls update in writers goroutines and returns their joined errors.
func rivals(update func(i int) error) error {
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { errs[i] = update(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// rendezvous delays the first reply to each writer until all writers have one, so that all read the same version.
func rendezvous(srv *searchtest.Server) {
	var all sync.WaitGroup
	all.Add(writers)
	var n atomic.Int32
	srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		resp, err := next(req)
		if req.Method == http.MethodGet && n.Add(1) <= writers {
			all.Done()
			all.Wait()
		}
		return resp, err
	})
}

// Each writer adds a field to the same version; the final index has all fields.
func TestNoUpdateOfAnIndexIsLostConcurrentSafe(t *testing.T) {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	rendezvous(srv)
	var attempts atomic.Int32
	require.NoError(t, rivals(func(i int) error {
		_, err := indexes.UpdateIndex(t.Context(), "hotels", func(index *models.SearchIndex) error {
			attempts.Add(1)
			index.Fields = append(index.Fields, models.SearchField{Name: fmt.Sprint("field", i), Type: models.DataTypeString})
			return nil
		}, &search.UpdateIndexOptions{MaxAttempts: writers})
		return err
	}))
	index, err := indexes.GetIndex(t.Context(), "hotels", nil)
	require.NoError(t, err)
	assert.Len(t, index.Fields, 4+writers)
	for i := range writers {
		assert.True(t, slices.ContainsFunc(index.Fields, func(f models.SearchField) bool { return f.Name == fmt.Sprint("field", i) }), i)
	}
	assert.GreaterOrEqual(t, int(attempts.Load()), 2*writers-1, "one writer was first, all others had to repeat")
	assert.EqualValues(t, 2, srv.DocumentCount("hotels"), "documents stay")
}

func TestNoUpdateOfASynonymMapIsLostConcurrentSafe(t *testing.T) {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	_, err := indexes.CreateSynonymMap(t.Context(), models.SynonymMap{Name: "lodging", Synonyms: []string{"hotel, inn"}}, nil)
	require.NoError(t, err)
	rendezvous(srv)
	require.NoError(t, rivals(func(i int) error {
		_, err := indexes.UpdateSynonymMap(t.Context(), "lodging", func(m *models.SynonymMap) error {
			m.Synonyms = append(m.Synonyms, fmt.Sprintf("word%d, term%d", i, i))
			return nil
		}, &search.UpdateSynonymMapOptions{MaxAttempts: writers})
		return err
	}))
	synonyms, err := indexes.GetSynonymMap(t.Context(), "lodging", nil)
	require.NoError(t, err)
	assert.Len(t, synonyms.Synonyms, 1+writers)
	for i := range writers {
		assert.Contains(t, synonyms.Synonyms, fmt.Sprintf("word%d, term%d", i, i))
	}
}

// The update reports the conflict and overwrites no other change.
func TestUpdateThatNeverGetsThroughSaysSo(t *testing.T) {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	rendezvous(srv)
	var lost atomic.Int32
	require.NoError(t, rivals(func(i int) error {
		_, err := indexes.UpdateIndex(t.Context(), "hotels", func(index *models.SearchIndex) error {
			index.Description += fmt.Sprint(i)
			return nil
		}, &search.UpdateIndexOptions{MaxAttempts: -1})
		if errors.Is(err, search.ErrPreconditionFailed) {
			lost.Add(1)
			return nil
		}
		return err
	}))
	index, err := indexes.GetIndex(t.Context(), "hotels", nil)
	require.NoError(t, err)
	assert.EqualValues(t, writers-1, lost.Load())
	assert.Len(t, index.Description, 1, "the description is that of the successful writer")
}

// The pipeline's retry fails with 412 because the update itself changed the ETag. The update must detect this.
func TestUpdateWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	srv, _ := emulatedIndexClient()
	defer srv.Close()
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), impatient(srv))
	require.NoError(t, err)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpCreateOrUpdateIndex, Count: 1, Cut: searchtest.CutAfterCommit}}})
	calls := 0
	index, err := indexes.UpdateIndex(t.Context(), "hotels", func(index *models.SearchIndex) error {
		calls++
		index.Description += "once"
		return nil
	}, nil)
	require.NoError(t, err)
	assert.Equal(t, "once", index.Description)
	assert.Equal(t, 1, calls)
}

// While an alias refers to an index, the index cannot be deleted.
func TestAliasIsFollowedByQueriesAtOnce(t *testing.T) {
	ctx := t.Context()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	blue, err := indexes.GetIndex(ctx, "hotels", nil)
	require.NoError(t, err)
	green := blue
	green.Name, green.ETag = "green", ""
	_, err = indexes.CreateIndex(ctx, green, nil)
	require.NoError(t, err)
	greenClient, err := indexes.Client("green")
	require.NoError(t, err)
	_, err = search.UploadDocuments(ctx, greenClient, []Hotel{{ID: "9", Name: "Green Inn"}}, nil)
	require.NoError(t, err)
	alias, err := indexes.CreateAlias(ctx, models.Alias{Name: "stays", Indexes: []string{"hotels"}}, nil)
	require.NoError(t, err)
	client, err := indexes.Client("stays")
	require.NoError(t, err)
	names := func() (names []string) {
		for result, err := range search.Search[Hotel](ctx, client, "", nil) {
			require.NoError(t, err)
			names = append(names, result.Document.Name)
		}
		return names
	}
	assert.Equal(t, []string{"Fancy Stay", "Roach Motel"}, names())
	alias.Indexes = []string{"green"}
	moved, err := indexes.CreateOrUpdateAlias(ctx, alias, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"Green Inn"}, names())
	_, err = indexes.CreateOrUpdateAlias(ctx, alias, nil)
	require.ErrorIs(t, err, search.ErrPreconditionFailed, "the ETag is not the one that was read")
	assert.NotEqual(t, alias.ETag, moved.ETag)

	require.Error(t, indexes.DeleteIndex(ctx, "green", nil), "an alias leads to it")
	require.NoError(t, indexes.DeleteAlias(ctx, "stays", nil))
	require.NoError(t, indexes.DeleteIndex(ctx, "green", nil))
}
