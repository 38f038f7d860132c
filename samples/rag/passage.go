package main

import (
	"fmt"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
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
