package schema

import (
	"errors"
	"net/http"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// Analyze breaks the text of a request into tokens.
func (sc *Index) Analyze(request *shape.Object) ([]analysis.Token, *reply.Error) {
	text := request.Str("text")
	components, err := sc.Components()
	if err != nil {
		return nil, NotAnalyzed("the index '"+sc.Name+"'", err)
	}
	if name := request.Str("normalizer"); name != "" {
		normalizer, err := components.Normalizer(name)
		if err != nil {
			return nil, notAnalyzing(err)
		}
		// A normalizer makes the whole text one token.
		return []analysis.Token{{Text: normalizer.Normalize(text), End: len(text)}}, nil
	}
	var analyzer analysis.Analyzer
	if name := request.Str("analyzer"); name != "" {
		analyzer, err = components.Analyzer(name)
	} else {
		analyzer, err = components.Chain(request.Str("tokenizer"), request.Strings("tokenFilters"), request.Strings("charFilters"))
	}
	if err != nil {
		return nil, notAnalyzing(err)
	}
	return analyzer.Analyze(text), nil
}

// notAnalyzing refuses an analyze request because of a component in it.
func notAnalyzing(err error) *reply.Error {
	if unknown := (*analysis.UnknownError)(nil); errors.As(err, &unknown) {
		return &reply.Error{
			Status:  http.StatusBadRequest,
			Message: "The " + unknown.Kind + " '" + unknown.Name + "' is neither defined in the index nor one of the service.",
		}
	}
	return NotAnalyzed("this request", err)
}

// DefinesAnalysis reports whether the definition has its own analysis components.
func (sc *Index) DefinesAnalysis() bool {
	for _, list := range []string{"analyzers", "tokenizers", "tokenFilters", "charFilters", "normalizers"} {
		if len(sc.Object.Objects(list)) > 0 {
			return true
		}
	}
	return false
}

// UnsupportedAnalysis returns the refusal of a definition with text analysis that is not
// emulated, nil if there is none. Options.StrictAnalysis uses it.
func (sc *Index) UnsupportedAnalysis() *reply.Error {
	components, err := sc.Components()
	if err == nil {
		err = components.Check()
	}
	if err != nil {
		return NotAnalyzed("the index '"+sc.Name+"'", err)
	}
	for i := range sc.Texts {
		if _, _, err := sc.Analyzers(&sc.Texts[i]); err != nil {
			return NotAnalyzed("the field '"+sc.Texts[i].Path+"'", err)
		}
	}
	return sc.CompileNormalizers()
}
