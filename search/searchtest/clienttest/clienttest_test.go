package clienttest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

const motels = `{"name":"motels","fields":[{"name":"id","type":"Edm.String","key":true}]}`

func TestOneLineMakesAClientForAnIndexThatHoldsTheDocuments(t *testing.T) {
	var hotels []Hotel
	for i := range 2*search.DefaultMaxBatchActions + 1 {
		hotels = append(hotels, Hotel{ID: fmt.Sprint(i), Name: "Ritz", Rating: float64(i)})
	}
	client := clienttest.New(t, hotels...)
	assert.Equal(t, "hotel", client.IndexName())
	last := hotels[len(hotels)-1]
	got, err := search.GetDocument[Hotel](t.Context(), client, last.ID, nil)
	require.NoError(t, err)
	assert.Equal(t, last, got)
	count, err := client.DocumentCount(t.Context(), nil)
	require.NoError(t, err)
	assert.EqualValues(t, len(hotels), count)
}

type Dot[T any] struct {
	ID string `json:"id" search:"key"`
}

type Zürich struct {
	ID string `json:"id" search:"key"`
}

func TestIndexIsNamedAfterTheTypeIfThatIsALegalName(t *testing.T) {
	type X struct {
		ID string `json:"id" search:"key"`
	}
	assert.Equal(t, "hotel", clienttest.New[*Hotel](t).IndexName())
	assert.Equal(t, "documents", clienttest.New[Dot[int]](t).IndexName())
	assert.Equal(t, "documents", clienttest.New[Zürich](t).IndexName())
	assert.Equal(t, "documents", clienttest.New[X](t).IndexName())
	assert.Equal(t, "documents", clienttest.New(t, struct {
		ID string `json:"id" search:"key"`
	}{"1"}).IndexName())
}

func TestServiceEndsWithTheTest(t *testing.T) {
	var client *search.Client
	t.Run("inner", func(t *testing.T) {
		client = clienttest.New[Hotel](t)
		_, err := client.DocumentCount(t.Context(), nil)
		require.NoError(t, err)
	})
	quick := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}}}
	synctest.Test(t, func(t *testing.T) { // virtual time for the waits between attempts
		_, err := client.DocumentCount(t.Context(), nil)
		require.Error(t, err)
	})

	srv := searchtest.NewServer(nil)
	t.Run("with its own server", func(t *testing.T) {
		client = clienttest.NewClient(t, motels, &clienttest.Options{Server: srv, Client: quick})
	})
	_, err := client.DocumentCount(t.Context(), nil)
	require.NoError(t, err, "the server of the options stays open")
	assert.Nil(t, quick.Transport, "the options are the caller's")
}

// synctest waits for the goroutines of a bubble and fails if one remains.
func TestClientsWorkInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		client := clienttest.New(t, Hotel{ID: "1", Name: "Ritz"})
		got, err := search.GetDocument[Hotel](t.Context(), client, "1", nil)
		require.NoError(t, err)
		assert.Equal(t, "Ritz", got.Name)
		assert.Zero(t, time.Since(start))

		slow := clienttest.NewClient(t, motels, &clienttest.Options{Server: searchtest.NewServer(&searchtest.Options{Latency: time.Hour})})
		_, err = slow.DocumentCount(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, time.Hour, time.Since(start))
	})
}

func TestClientsOfOneServerShareItAndOthersDoNot(t *testing.T) {
	opts := &clienttest.Options{Server: searchtest.NewServer(&searchtest.Options{AdminKeys: []string{"mine"}}), Key: "mine"}
	hotels := clienttest.NewClient(t, models.SearchIndex{Name: "hotels", Fields: []models.SearchField{{Name: "id", Type: models.DataTypeString, Key: new(true)}}}, opts)
	clienttest.NewClient(t, []byte(motels), opts)
	indexes := clienttest.NewIndexClient(t, opts)
	for _, name := range []string{"hotels", "motels"} {
		_, err := indexes.GetIndex(t.Context(), name, nil)
		require.NoError(t, err)
	}
	assert.Equal(t, "hotels", hotels.IndexName())
	_, err := indexes.IndexerClient().GetIndexer(t.Context(), "none", nil)
	require.ErrorIs(t, err, search.ErrIndexerNotFound, "it asks the same service with the same key")
	clienttest.NewClient(t, json.RawMessage(motels), nil) // another service
	_, err = clienttest.NewIndexClient(t, nil).GetIndex(t.Context(), "motels", nil)
	require.ErrorIs(t, err, search.ErrIndexNotFound)
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

func TestTransportOfTheOptionsIsUsed(t *testing.T) {
	srv := searchtest.NewServer(nil)
	var seen []string
	client := clienttest.NewClient(t, motels, &clienttest.Options{Server: srv, Client: &search.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
			seen = append(seen, r.URL.Path)
			return srv.Do(r)
		}),
	}}})
	_, err := client.DocumentCount(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"/indexes('motels')/docs/$count"}, seen)
}

// failingT records the failure that would end a test.
type failingT struct {
	testing.TB
	said string
}

func (t *failingT) Fatalf(format string, args ...any) {
	t.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestProblemsEndTheTestAndSayWhatIsWrong(t *testing.T) {
	type keyless struct {
		Name string `json:"name"`
	}
	for name, c := range map[string]struct {
		call func(t testing.TB)
		says string
	}{
		"a type without a key":               {func(t testing.TB) { clienttest.New[keyless](t) }, "no field is the key"},
		"documents that the service refuses": {func(t testing.TB) { clienttest.New(t, Hotel{ID: "a b"}) }, "uploading the documents"},
		"a definition that is not JSON":      {func(t testing.TB) { clienttest.NewClient(t, `{"name":`, nil) }, "not a JSON object"},
		"an empty definition":                {func(t testing.TB) { clienttest.NewClient(t, func() {}, nil) }, "the definition of the index"},
		"an illegal definition":              {func(t testing.TB) { clienttest.NewClient(t, `{"name":"hotels","fields":[]}`, nil) }, "Found 0 key fields"},
		"an illegal name":                    {func(t testing.TB) { clienttest.NewClient(t, strings.Replace(motels, "motels", "Motels", 1), nil) }, "Invalid index name"},
		"an invalid version": {func(t testing.TB) {
			clienttest.NewIndexClient(t, &clienttest.Options{Client: &search.ClientOptions{APIVersion: "latest"}})
		}, "latest"},
	} {
		t.Run(name, func(t *testing.T) {
			failing := &failingT{TB: t}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				c.call(failing)
			}()
			<-ended
			assert.True(t, strings.HasPrefix(failing.said, "clienttest: "), failing.said)
			assert.Contains(t, failing.said, c.says)
		})
	}
}
