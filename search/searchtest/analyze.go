package searchtest

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// OpAnalyze breaks a text into terms.
const OpAnalyze Operation = "analyze"

func init() {
	register(operation{name: OpAnalyze, serve: (*Server).analyzeText, routes: []string{"POST /indexes/{index}/search.analyze", "POST /indexes/{index}/analyze"}})
}

// analyzeShape is the body of an analyze request.
var analyzeShape = shape{typeName: "AnalyzeRequest", members: []property{
	text("text").must(),
	text("analyzer"),
	text("tokenizer"),
	text("normalizer").when(apiversion.AnalyzeNormalizer),
	texts("tokenFilters"),
	texts("charFilters"),
}}

// analyzeText answers POST /indexes('x')/search.analyze.
func (s *Server) analyzeText(w http.ResponseWriter, r *http.Request, rt route, _ *exchange) {
	// Documented: not by the name of an alias.
	ix, ok := s.lookupIndex(rt.index)
	if !ok {
		writeError(w, r, s.noSuchIndex(rt.index))
		return
	}
	body, err := readAll(r)
	var tokens []analysis.Token
	var request *object
	if err == nil {
		request, err = parseAnalyze(body, rt.version)
	}
	if err == nil {
		tokens, err = ix.schema.Load().analyzeText(request)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	reply := appendContext([]byte{'{'}, r, "/$metadata#"+resourceType(rt.version, "AnalyzeResult"))
	reply = appendTokens(reply, request.str("text"), tokens)
	writeJSON(w, r, http.StatusOK, append(reply, '}'))
}

// parseAnalyze reads the body of an analyze request and checks that it says in
// exactly one way what to do.
func parseAnalyze(body []byte, version apiversion.Version) (*object, *serviceError) {
	p := newParser("request", version)
	request, err := p.read(body, &analyzeShape)
	if err != nil {
		return nil, err
	}
	var ways, given []string
	for _, name := range []string{"analyzer", "tokenizer", "normalizer"} {
		if !version.Has(analyzeShape.members[analyzeShape.index(name)].needs) {
			continue
		}
		ways = append(ways, "'"+name+"'")
		if request.str(name) != "" {
			given = append(given, "'"+name+"'")
		}
	}
	switch {
	case len(given) == 0:
		return nil, p.refuse("MissingAnalyzer", "One of the parameters "+strings.Join(ways, ", ")+" must be specified.")
	case len(given) > 1:
		return nil, p.refuse("AmbiguousAnalyzer", "The parameters "+strings.Join(given, ", ")+" are mutually exclusive.")
	}
	if request.str("tokenizer") == "" {
		for _, name := range []string{"tokenFilters", "charFilters"} {
			if len(request.strings(name)) > 0 {
				return nil, p.refuse("FiltersWithoutTokenizer", "The parameter '"+name+"' can only be specified together with 'tokenizer'.")
			}
		}
	}
	return request, nil
}

// analyzeText breaks the text of a request into tokens.
func (sc *schema) analyzeText(request *object) ([]analysis.Token, *serviceError) {
	text := request.str("text")
	components, err := sc.analysis()
	if err != nil {
		return nil, notAnalyzed("the index '"+sc.name+"'", err)
	}
	if name := request.str("normalizer"); name != "" {
		normalizer, err := components.Normalizer(name)
		if err != nil {
			return nil, notAnalyzing(err)
		}
		// A normalizer makes one token of the whole text.
		return []analysis.Token{{Text: normalizer.Normalize(text), End: len(text)}}, nil
	}
	var analyzer analysis.Analyzer
	if name := request.str("analyzer"); name != "" {
		analyzer, err = components.Analyzer(name)
	} else {
		analyzer, err = components.Chain(request.str("tokenizer"), request.strings("tokenFilters"), request.strings("charFilters"))
	}
	if err != nil {
		return nil, notAnalyzing(err)
	}
	return analyzer.Analyze(text), nil
}

// notAnalyzing refuses an analyze request for a component that it names.
func notAnalyzing(err error) *serviceError {
	if unknown := (*analysis.UnknownError)(nil); errors.As(err, &unknown) {
		return &serviceError{
			status:  http.StatusBadRequest,
			message: "The " + unknown.Kind + " '" + unknown.Name + "' is neither defined in the index nor one of the service.",
		}
	}
	return notAnalyzed("this request", err)
}

// appendTokens appends the member with the tokens of a text. The service counts
// UTF-16 code units.
func appendTokens(dst []byte, text string, tokens []analysis.Token) []byte {
	// Two counters, because each is cheap only for offsets that ascend.
	starts, ends := analysis.NewUTF16(text), analysis.NewUTF16(text)
	dst = append(dst, `"tokens":[`...)
	for i, t := range tokens {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"token":`...)
		dst = appendJSONString(dst, t.Text)
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

// definesAnalysis reports whether the definition has analysis components of its
// own.
func (sc *schema) definesAnalysis() bool {
	for _, list := range []string{"analyzers", "tokenizers", "tokenFilters", "charFilters", "normalizers"} {
		if len(sc.object.objects(list)) > 0 {
			return true
		}
	}
	return false
}

// unsupportedAnalysis is the refusal of a definition that names a part of text
// analysis which the emulator does not have, nil if it names none: what
// Options.StrictAnalysis asks for.
func (sc *schema) unsupportedAnalysis() *serviceError {
	components, err := sc.analysis()
	if err == nil {
		err = components.Check()
	}
	if err != nil {
		return notAnalyzed("the index '"+sc.name+"'", err)
	}
	for i := range sc.texts {
		if _, _, err := sc.analyzers(&sc.texts[i]); err != nil {
			return notAnalyzed("the field '"+sc.texts[i].path+"'", err)
		}
	}
	return sc.compileNormalizers()
}
