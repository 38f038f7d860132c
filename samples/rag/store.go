package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
)

// Passage is one document: a piece of documentation that is understandable alone.
type Passage struct {
	ID      string `json:"id" search:"key,filterable,sortable"` // sortable for search.Scan
	Source  string `json:"source" search:"filterable"`          // file, relative to the root
	Package string `json:"package" search:"filterable,facetable"`
	Kind    string `json:"kind" search:"filterable,facetable"` // package, func, method, type, const or var
	Symbol  string `json:"symbol" search:"analyzer=go-names"`  // Client.Do; "" for the package comment
	Text    string `json:"text" search:"analyzer=en.lucene"`   // about maxPassage bytes, with a title line
	Vector  vector `json:"vector,omitempty" search:"dimensions=256,vectorProfile=nearest"`
}

// vector is not in results, because vector fields are not retrievable by default.
type vector []float32

// indexDefinition returns the definition of an index for Passages.
func indexDefinition(name string) (models.SearchIndex, error) {
	fields, err := models.FieldsOf[Passage]()
	if err != nil {
		return models.SearchIndex{}, err
	}
	return models.SearchIndex{
		Name:   name,
		Fields: fields,
		// So that the words "read file" find ReadFile.
		Analyzers: []models.Analyzer{&models.CustomAnalyzer{
			Name: "go-names", Tokenizer: models.TokenizerWhitespace,
			TokenFilters: []models.TokenFilterName{"go-words", models.TokenFilterLowercase},
		}},
		TokenFilters: []models.TokenFilter{&models.WordDelimiterTokenFilter{Name: "go-words", PreserveOriginal: new(true)}},
		VectorSearch: &models.VectorSearch{
			Algorithms: []models.VectorSearchAlgorithm{{Name: "graph", Kind: models.VectorSearchAlgorithmHNSW}},
			Profiles:   []models.VectorSearchProfile{{Name: "nearest", Algorithm: "graph"}},
		},
	}, nil
}

// setIDs sets each ID to a hash of the file, the symbol, and the number of the passage within the symbol. The ID is
// the same in every run, so an upload replaces the earlier passage, and changes to other symbols do not affect it.
func setIDs(passages []Passage) {
	type place struct{ source, symbol string }
	before := map[place]int{}
	for i := range passages {
		p := &passages[i]
		at := place{p.Source, p.Symbol}
		p.ID = keys.Hash(fmt.Sprintf("%s#%s#%d", p.Source, p.Symbol, before[at]))
		before[at]++
	}
}

// title is the name of the passage for people.
func (p Passage) title() string {
	if p.Symbol == "" {
		return p.Package
	}
	return p.Package + "." + p.Symbol
}

// openStore creates the index if it is missing. An existing index must have the fields.
func openStore(ctx context.Context, service *stage.Service, index string, embedder Embedder) (*store, error) {
	definition, err := indexDefinition(index)
	if err != nil {
		return nil, err
	}
	client, err := service.Open(ctx, definition)
	if err != nil {
		return nil, err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Passage]{Limits: bufferedsender.Limits{MaxInFlight: 2}})
	if err != nil {
		return nil, err
	}
	return &store{client: client, sender: sender, embedder: embedder, patience: service.Patience()}, nil
}

// store keeps passages in an index.
type store struct {
	client   *search.Client
	sender   *bufferedsender.BufferedSender[Passage]
	embedder Embedder
	patience time.Duration // how long the service may take to show a change

	mu sync.Mutex // one replace at a time: a Flush returns failures of all, and each failure once
}

// embedAtOnce is the number of texts in one call of Embed. Models accept some dozens.
const embedAtOnce = 64

// replace makes the index contain exactly the given passages within a scope, for example a file or a package. It
// replaces passages with the same ID and deletes all others in the scope; without passages it deletes all of them.
//
// It uploads before it deletes, so that concurrent queries always find passages. If it fails in between, the index
// has surplus passages, never too few, and the next call deletes them.
func (s *store) replace(ctx context.Context, scope search.Filter, passages []Passage) (deleted int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stale := map[string]bool{}
	for id, err := range search.ScanKeys(ctx, s.client, &search.ScanOptions{Filter: scope, KeyField: "id"}) {
		if err != nil {
			return 0, err
		}
		stale[id] = true
	}
	for some := range slices.Chunk(passages, embedAtOnce) {
		if err := s.upload(ctx, some); err != nil {
			return 0, err
		}
	}
	if err := s.sender.Flush(ctx, nil); err != nil {
		return 0, err // names the failed documents and the reasons
	}
	for i := range passages {
		delete(stale, passages[i].ID)
	}
	if err := s.sender.DeleteDocumentsByKey(ctx, slices.Sorted(maps.Keys(stale))...); err != nil {
		return 0, err
	}
	if err := s.sender.Flush(ctx, nil); err != nil {
		return 0, err
	}
	return len(stale), s.await(ctx, scope, int64(len(passages)))
}

// upload embeds passages and adds them to the sender.
func (s *store) upload(ctx context.Context, passages []Passage) error {
	texts := make([]string, len(passages))
	for i := range passages {
		texts[i] = passages[i].Text
	}
	vectors, err := s.embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	for i := range passages {
		passages[i].Vector = vectors[i]
	}
	return s.sender.UploadDocuments(ctx, passages...)
}

// count returns the number of passages within a scope.
func (s *store) count(ctx context.Context, scope search.Filter) (int64, error) {
	page, err := search.NewSearchPager[Passage](s.client, "", &search.SearchOptions{Filter: scope, IncludeTotalCount: true, Top: new(0)}).NextPage(ctx)
	if err != nil {
		return 0, err
	}
	if page.Count == nil {
		return 0, errors.New("the service does not say how many passages there are")
	}
	return *page.Count, nil
}

// await returns when queries show n passages within a scope. A change becomes visible shortly after the service has
// confirmed it.
func (s *store) await(ctx context.Context, scope search.Filter, n int64) error {
	var count int64
	err := stage.Until(ctx, s.patience, time.Second, func() (_ bool, err error) {
		count, err = s.count(ctx, scope)
		return count == n, err
	})
	if errors.Is(err, stage.ErrPatience) {
		return fmt.Errorf("%d passages should be there, and the service shows %d", n, count)
	}
	return err
}

// mode is the way of searching.
type mode int

const (
	byText   mode = iota // words
	byVector             // similarity of vectors
	byBoth               // hybrid: the service fuses both rankings by reciprocal rank
)

func (m mode) String() string { return [...]string{"text", "vector", "hybrid"}[m] }

// retrieve returns the best passages for a question among those that match a filter.
func (s *store) retrieve(ctx context.Context, question string, by mode, filter search.Filter, top int) ([]models.SearchResult[Passage], error) {
	opts := &search.SearchOptions{Filter: filter, Top: new(top), Select: []string{"id", "source", "package", "kind", "symbol", "text"}}
	text := ""
	if by != byVector {
		text = search.EscapeText(question) // a question mark must not be a wildcard
	}
	if by != byText {
		vectors, err := s.embedder.Embed(ctx, []string{question})
		if err != nil {
			return nil, err
		}
		// K is the number of passages that the vector adds to a hybrid ranking.
		opts.VectorQueries = []search.VectorQuery{{Vector: models.VectorOf(vectors[0]), Fields: []string{"vector"}, K: 50}}
	}
	page, err := search.NewSearchPager[Passage](s.client, text, opts).NextPage(ctx)
	return page.Results, err
}
