package query

import (
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// analyzeShape is the body of an analyze request.
var analyzeShape = shape.Shape{TypeName: "AnalyzeRequest", Members: []shape.Property{
	shape.Text("text").Must(),
	shape.Text("analyzer"),
	shape.Text("tokenizer"),
	shape.Text("normalizer").When(apiversion.AnalyzeNormalizer),
	shape.Texts("tokenFilters"),
	shape.Texts("charFilters"),
}}

// Analyze breaks the text of a request into terms by the definition sc, and returns the reply
// to POST /indexes('x')/search.analyze. context is the beginning of the reply.
func Analyze(sc *schema.Index, body, context []byte, version apiversion.Version) ([]byte, *reply.Error) {
	request, err := parseAnalyze(body, version)
	if err != nil {
		return nil, err
	}
	tokens, err := sc.Analyze(request)
	if err != nil {
		return nil, err
	}
	return append(appendTokens(context, request.Str("text"), tokens), '}'), nil
}

// parseAnalyze reads the body of an analyze request, which must name exactly one way to
// analyze.
func parseAnalyze(body []byte, version apiversion.Version) (*shape.Object, *reply.Error) {
	p := shape.NewParser("request", version)
	request, err := p.Read(body, &analyzeShape)
	if err != nil {
		return nil, err
	}
	var ways, given []string
	for _, name := range []string{"analyzer", "tokenizer", "normalizer"} {
		if !version.Has(analyzeShape.Members[analyzeShape.Index(name)].Needs) {
			continue
		}
		ways = append(ways, "'"+name+"'")
		if request.Str(name) != "" {
			given = append(given, "'"+name+"'")
		}
	}
	switch {
	case len(given) == 0:
		return nil, p.Refuse("MissingAnalyzer", "One of the parameters "+strings.Join(ways, ", ")+" must be specified.")
	case len(given) > 1:
		return nil, p.Refuse("AmbiguousAnalyzer", "The parameters "+strings.Join(given, ", ")+" are mutually exclusive.")
	}
	if request.Str("tokenizer") == "" {
		for _, name := range []string{"tokenFilters", "charFilters"} {
			if len(request.Strings(name)) > 0 {
				return nil, p.Refuse("FiltersWithoutTokenizer", "The parameter '"+name+"' can only be specified together with 'tokenizer'.")
			}
		}
	}
	return request, nil
}

// appendTokens appends the member with the tokens of a text, with offsets in UTF-16 code
// units as in the service.
func appendTokens(dst []byte, text string, tokens []analysis.Token) []byte {
	// Two counters, because each is fast only for ascending offsets.
	starts, ends := analysis.NewUTF16(text), analysis.NewUTF16(text)
	dst = append(dst, `"tokens":[`...)
	for i, t := range tokens {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"token":`...)
		dst = reply.AppendString(dst, t.Text)
		dst = append(dst, `,"startOffset":`...)
		dst = strconv.AppendInt(dst, int64(starts.Offset(t.Start)), 10)
		dst = append(dst, `,"endOffset":`...)
		dst = strconv.AppendInt(dst, int64(ends.Offset(t.End)), 10)
		dst = append(dst, `,"position":`...)
		dst = strconv.AppendInt(dst, int64(t.Position), 10)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
