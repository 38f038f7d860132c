package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
)

// Passage is one document: a piece of documentation that can be read by itself.
type Passage struct {
	ID      string `json:"id" search:"key,filterable,sortable"` // as search.Scan needs it
	Source  string `json:"source" search:"filterable"`          // the file, from the root
	Package string `json:"package" search:"filterable,facetable"`
	Kind    string `json:"kind" search:"filterable,facetable"` // package, func, method, type, const or var
	Symbol  string `json:"symbol" search:"analyzer=go-names"`  // Client.Do; "" for the package itself
	Text    string `json:"text" search:"analyzer=en.lucene"`   // at most maxPassage bytes, and a heading
	Vector  vector `json:"vector,omitempty" search:"dimensions=256,vectorProfile=nearest"`
}

// vector is not shown in results, as vectors are not unless they are declared
// retrievable.
type vector []float32

// indexDefinition describes an index for Passages.
func indexDefinition(name string) (models.SearchIndex, error) {
	fields, err := models.FieldsOf[Passage]()
	if err != nil {
		return models.SearchIndex{}, err
	}
	return models.SearchIndex{
		Name:   name,
		Fields: fields,
		// Whoever asks how to "read a file" is to find ReadFile.
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

// setIDs gives each passage the hash of its source and its place there: the
// symbol, and how many passages it has before. The same place has the same id in
// every run, so that a passage which is ingested again replaces itself, and what
// else the file declares does not matter to it.
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

// title is what people call the passage.
func (p Passage) title() string {
	if p.Symbol == "" {
		return p.Package
	}
	return p.Package + "." + p.Symbol
}

// openStore creates the index, or updates the one that is there.
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
}

// embedAtOnce is how many texts are embedded together: models take some dozens.
const embedAtOnce = 64

// replace makes passages all there is within scope: the passages of a file, of
// packages, of whatever a filter can say. Those with the same id are replaced, and
// what is left over is deleted; without passages that is all there is.
//
// The new ones are in the index before old ones go, so that whoever asks meanwhile
// does not find nothing. If it fails in between there is too much in the index,
// never too little, and the next call puts that right.
func (s *store) replace(ctx context.Context, scope search.Filter, passages []Passage) (deleted int, err error) {
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
		return 0, err // says which documents failed, and why
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

// upload adds the vectors, and hands the passages over.
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

// count asks how many passages there are within scope.
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

// await returns when the service shows n passages within scope: it confirms a
// change a little before queries see it.
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

// mode says what passages are found by.
type mode int

const (
	byText   mode = iota // words
	byVector             // nearness of vectors
	byBoth               // hybrid: the service fuses both rankings by reciprocal rank
)

func (m mode) String() string { return [...]string{"text", "vector", "hybrid"}[m] }

// retrieve returns the best passages for a question, of those that meet a filter.
func (s *store) retrieve(ctx context.Context, question string, by mode, filter search.Filter, top int) ([]models.SearchResult[Passage], error) {
	opts := &search.SearchOptions{Filter: filter, Top: new(top), Select: []string{"id", "source", "package", "kind", "symbol", "text"}}
	text := ""
	if by != byVector {
		text = search.EscapeText(question) // a question mark is no wildcard
	}
	if by != byText {
		vectors, err := s.embedder.Embed(ctx, []string{question})
		if err != nil {
			return nil, err
		}
		// K is how many passages the vector contributes to a hybrid ranking.
		opts.VectorQueries = []search.VectorQuery{{Vector: models.VectorOf(vectors[0]), Fields: []string{"vector"}, K: 50}}
	}
	page, err := search.NewSearchPager[Passage](s.client, text, opts).NextPage(ctx)
	return page.Results, err
}
