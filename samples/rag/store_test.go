package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// emulated returns a store with an emulator.
func emulated(t require.TestingT, opts *searchtest.Options) (*searchtest.Server, *store) {
	service := stage.Emulate(opts)
	s, err := openStore(context.Background(), &stage.Service{Indexes: service.Indexes}, "passages", hashing{}) // like a real service, which shows changes late
	require.NoError(t, err)
	return service.Emulator, s
}

func passage(source, symbol, text string) Passage {
	return Passage{Source: source, Package: "p", Kind: "func", Symbol: symbol, Text: text}
}

// texts returns the texts within a scope, sorted.
func texts(t require.TestingT, s *store, scope search.Filter) []string {
	var all []string
	for p, err := range search.Scan[Passage](context.Background(), s.client, &search.ScanOptions{Filter: scope}) {
		require.NoError(t, err)
		all = append(all, p.Source+" "+p.Symbol+" "+p.Text)
	}
	slices.Sort(all)
	return all
}

// After any sequence of changes the index contains the latest passages of each source, and no others.
func TestIndexHoldsWhatWasIngestedLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s := emulated(t, nil)
		last := map[string][]string{}
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			source := rapid.SampledFrom([]string{"a.go", "it's.go", "a.go' or true"}).Draw(t, "source")
			var passages []Passage
			var want []string
			for range rapid.IntRange(0, 5).Draw(t, "passages") {
				p := passage(source, rapid.SampledFrom([]string{"A", "B", ""}).Draw(t, "symbol"), rapid.StringMatching(`[a-z]{0,9}`).Draw(t, "text"))
				passages = append(passages, p)
				want = append(want, p.Source+" "+p.Symbol+" "+p.Text)
			}
			setIDs(passages)
			_, err := s.replace(context.Background(), search.Eq("source", source), passages)
			require.NoError(t, err)
			slices.Sort(want)
			last[source] = want
			for source, want := range last {
				require.Equal(t, want, texts(t, s, search.Eq("source", source)))
			}
		}
		require.NoError(t, s.sender.Close(context.Background()))
	})
}

func TestStalePassagesAreDeletedLast(t *testing.T) {
	srv, s := emulated(t, nil)
	defer srv.Close()
	defer s.sender.Close(t.Context())
	old := []Passage{passage("a.go", "Old", "old"), passage("a.go", "Kept", "before"), passage("b.go", "Else", "else")}
	setIDs(old)
	_, err := s.replace(t.Context(), search.Eq("package", "p"), old)
	require.NoError(t, err)

	// The service refuses deletes.
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments,
		Documents: []searchtest.DocumentFault{{Keys: []string{old[0].ID}, Status: http.StatusBadRequest, Message: "no"}},
	}}})
	now := []Passage{passage("a.go", "Kept", "after"), passage("a.go", "New", "new")}
	setIDs(now)
	_, err = s.replace(t.Context(), search.Eq("source", "a.go"), now)
	require.Error(t, err)
	require.Equal(t, []string{"a.go Kept after", "a.go New new", "a.go Old old"}, texts(t, s, search.Eq("source", "a.go")))

	srv.SetFaults(nil)
	deleted, err := s.replace(t.Context(), search.Eq("source", "a.go"), now)
	require.NoError(t, err)
	require.Equal(t, 1, deleted)
	require.Equal(t, []string{"a.go Kept after", "a.go New new"}, texts(t, s, search.Eq("source", "a.go")))
	require.Equal(t, []string{"b.go Else else"}, texts(t, s, search.Eq("source", "b.go")))
}

func TestNothingIsDeletedWhenNewPassagesFail(t *testing.T) {
	srv, s := emulated(t, nil)
	defer srv.Close()
	defer s.sender.Close(t.Context())
	old := []Passage{passage("a.go", "Old", "old")}
	setIDs(old)
	_, err := s.replace(t.Context(), search.Eq("source", "a.go"), old)
	require.NoError(t, err)
	now := []Passage{passage("a.go", "New", "new")}
	setIDs(now)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments,
		Documents: []searchtest.DocumentFault{{Keys: []string{now[0].ID}, Status: http.StatusBadRequest}},
	}}})
	_, err = s.replace(t.Context(), search.Eq("source", "a.go"), now)
	var flush *bufferedsender.FlushError
	require.ErrorAs(t, err, &flush)
	require.Equal(t, []string{"a.go Old old"}, texts(t, s, search.Filter{}))
}

func TestChangesAreAwaited(t *testing.T) {
	srv, s := emulated(t, &searchtest.Options{VisibilityLag: 200 * time.Millisecond})
	defer srv.Close()
	defer s.sender.Close(t.Context())
	passages := []Passage{passage("a.go", "A", "a")}
	setIDs(passages)
	_, err := s.replace(t.Context(), search.Eq("source", "a.go"), passages)
	require.NoError(t, err)
	require.Len(t, texts(t, s, search.Filter{}), 1)

	s.patience = 0
	_, err = s.replace(t.Context(), search.Eq("source", "a.go"), nil)
	require.ErrorContains(t, err, "0 passages should be there, and the service shows 1")
}

// countless replies to every query without a count.
type countless struct{}

func (countless) Do(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"value": []}`))}, nil
}

func TestReplyWithoutACountIsAnError(t *testing.T) {
	opts := &search.ClientOptions{}
	opts.Transport = countless{}
	client, err := search.NewClientWithKey("https://x.search.windows.net", "passages", azcore.NewKeyCredential("k"), opts)
	require.NoError(t, err)
	_, err = (&store{client: client}).count(t.Context(), search.Filter{})
	require.EqualError(t, err, "the service does not say how many passages there are")
}

// broken is an Embedder that always fails.
type broken struct{ err error }

func (b broken) Embed(context.Context, []string) ([][]float32, error) { return nil, b.err }

func TestFailedEmbeddingChangesNothing(t *testing.T) {
	srv, s := emulated(t, nil)
	defer srv.Close()
	defer s.sender.Close(t.Context())
	s.embedder = broken{errors.New("no model")}
	passages := []Passage{passage("a.go", "A", "a")}
	setIDs(passages)
	_, err := s.replace(t.Context(), search.Eq("source", "a.go"), passages)
	require.ErrorIs(t, err, s.embedder.(broken).err)
	require.Zero(t, srv.DocumentCount("passages"))
	_, err = s.retrieve(t.Context(), "anything", byBoth, search.Filter{}, 1)
	require.ErrorIs(t, err, s.embedder.(broken).err)
	_, err = s.retrieve(t.Context(), "anything", byText, search.Filter{}, 1)
	require.NoError(t, err, "text needs no vector")
}

func TestTextVectorAndBothFindWhatTheyAreMadeFor(t *testing.T) {
	srv, s := emulated(t, nil)
	defer srv.Close()
	defer s.sender.Close(t.Context())
	passages := []Passage{
		passage("a.go", "Close", "ends it"),
		passage("a.go", "Open", "begins reading of files"),
		passage("b.go", "ReadFiles", "begins"),
	}
	passages[2].Kind = "method"
	setIDs(passages)
	_, err := s.replace(t.Context(), search.Eq("package", "p"), passages)
	require.NoError(t, err)
	found := func(question string, by mode, filter search.Filter) (symbols []string) {
		results, err := s.retrieve(t.Context(), question, by, filter, 10)
		require.NoError(t, err)
		for _, r := range results {
			symbols = append(symbols, r.Document.Symbol)
			if by == byVector {
				require.Greater(t, r.Score, 0.3, "the nearness itself, not a fused rank")
			} else {
				require.Positive(t, r.Score)
			}
			require.Nil(t, r.Document.Vector)
		}
		return symbols
	}
	require.ElementsMatch(t, []string{"Open", "ReadFiles"}, found("files?", byText, search.Filter{}))
	require.Len(t, found("filling", byVector, search.Filter{}), 3, "vectors find everything, the nearest first")
	require.Equal(t, "Open", found("read the file", byVector, search.Filter{})[0])
	require.Len(t, found("files", byBoth, search.Filter{}), 3)
	require.Equal(t, []string{"ReadFiles"}, found("files", byBoth, search.Eq("kind", "method")))
	require.Equal(t, []string{"ReadFiles"}, found("files", byVector, search.Eq("kind", "method")))
}

// The text of a question must not be parsed as query syntax.
func TestQuestionsMayHoldAnything(t *testing.T) {
	srv, s := emulated(t, nil)
	defer srv.Close()
	defer s.sender.Close(t.Context())
	passages := []Passage{passage("a.go", "Wait", "waits for (all) goroutines - or \"one\"")}
	setIDs(passages)
	_, err := s.replace(t.Context(), search.Filter{}, passages)
	require.NoError(t, err)
	for _, question := range []string{`how do I "wait`, "wait -goroutines", "wait + (", "wait|'", "what is wait~2*"} {
		results, err := s.retrieve(t.Context(), question, byText, search.Filter{}, 1)
		require.NoError(t, err)
		require.Len(t, results, 1, question)
	}
	rapid.Check(t, func(t *rapid.T) {
		_, err := s.retrieve(context.Background(), rapid.String().Draw(t, "question"), byBoth, search.Filter{}, 1)
		require.NoError(t, err)
	})
}

// Embed gets all texts in few calls.
func TestTextsAreEmbeddedTogether(t *testing.T) {
	srv, s := emulated(t, nil)
	defer srv.Close()
	defer s.sender.Close(t.Context())
	counting := &counting{}
	s.embedder = counting
	var passages []Passage
	for i := range embedAtOnce + 1 {
		passages = append(passages, passage("a.go", fmt.Sprint("S", i), strings.Repeat("x", i)))
	}
	setIDs(passages)
	_, err := s.replace(t.Context(), search.Eq("source", "a.go"), passages)
	require.NoError(t, err)
	require.Equal(t, []int{embedAtOnce, 1}, counting.calls)
}

type counting struct{ calls []int }

func (c *counting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.calls = append(c.calls, len(texts))
	return hashing{}.Embed(ctx, texts)
}
