package searchtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// OpSuggest finds documents by what was typed.
const OpSuggest Operation = "suggest"

func init() {
	register(operation{name: OpSuggest, reads: true, serve: (*Server).suggest, routes: []string{
		"GET /indexes/{index}/docs/search.suggest", "POST /indexes/{index}/docs/search.post.suggest",
		"GET /indexes/{index}/docs/suggest?suggesterName", "POST /indexes/{index}/docs/suggest",
	}})
}

// The limits of suggestions and autocompletion.
const (
	defaultSuggestions = 5
	mostSuggestions    = 100
	longestTyped       = 100 // characters
)

// typedPlan is what suggestions and autocompletion have in common: a request
// that was checked against the definition of its index.
type typedPlan struct {
	args     *arguments
	sc       *schema.Index
	name     string // of the suggester
	typed    textindex.TypedText
	filter   *odata.Filter
	tags     textindex.Tags
	coverage bool
	top      int
}

// planTyped checks the parameters that both have.
func planTyped(sc *schema.Index, a *arguments) (*typedPlan, *reply.Error) {
	if err := sc.CompileNormalizers(); err != nil {
		return nil, err
	}
	p := &typedPlan{args: a, sc: sc, name: a.text("suggesterName")}
	if p.name == "" {
		return nil, a.refuseSuggester("suggestions", "Cannot find fields enabled for suggestions. Please provide a value for 'suggesterName' in the query.")
	}
	sources := sc.SuggesterFields(p.name)
	if sources == nil {
		return nil, a.refuseSuggester("name", "The specified suggester name '"+p.name+"' does not exist in this index definition.")
	}
	p.typed = textindex.TypedText{Text: a.text("search"), Fuzzy: a.flag("fuzzy")}
	if n := utf8.RuneCountInString(p.typed.Text); strings.TrimSpace(p.typed.Text) == "" || n > longestTyped {
		return nil, a.refuse("search", "The search text must have from 1 to 100 characters.")
	}
	var err *reply.Error
	if p.typed.Fields, err = searchFields(sc, a); err != nil {
		return nil, err
	}
	for _, path := range p.typed.Fields {
		if !slices.ContainsFunc(sources, func(f schema.TextField) bool { return f.Path == path }) {
			return nil, a.refuse("searchFields", "The field '"+path+"' in the search field list is not a source field of the suggester '"+p.name+"'.")
		}
	}
	options := sc.Expressions()
	options.NoFullText = true
	if p.filter, err = a.compileFilter(options, sc); err != nil {
		return nil, err
	}
	if a.has("highlightPreTag") && a.has("highlightPostTag") {
		p.tags = textindex.Tags{Pre: a.text("highlightPreTag"), Post: a.text("highlightPostTag")}
	}
	top := a.whole("top", defaultSuggestions)
	if top < 1 || top > mostSuggestions {
		return nil, a.refuse("$top", "Value must be between 1 and 100.")
	}
	p.top = int(top)
	p.coverage, err = a.coverage()
	return p, err
}

// refuseSuggester refuses a request for want of a suggester.
func (a *arguments) refuseSuggester(name, message string) *reply.Error {
	e := a.refuseCoded("MissingSuggesterName", name, message)
	if e.Code != "" {
		e.Code = "MissingRequiredParameter"
	}
	return e
}

// prepare makes the suggester, and finds the documents that pass the filter.
func (p *typedPlan) prepare(v *view) *reply.Error {
	components, err := p.sc.Components()
	if err != nil {
		return schema.NotAnalyzed("the index '"+p.sc.Name+"'", err)
	}
	words, err := components.Analyzer("standard.lucene")
	if err != nil {
		return schema.NotAnalyzed("the index '"+p.sc.Name+"'", err)
	}
	v.needSuggester(p.name, p.sc.SuggesterFields(p.name), words)
	return nil
}

// among finds the documents that may be suggested.
func (p *typedPlan) among(v *view) {
	if p.filter == nil {
		return
	}
	p.typed.Filter = new(textindex.IDs)
	v.all(func(id uint32, data []byte) {
		if p.filter.Match(data, id, nil) {
			p.typed.Filter.Add(id)
		}
	})
}

// appendHead appends what the replies of both begin with, the brace included.
func (p *typedPlan) appendHead(dst []byte, r *http.Request, context string) []byte {
	dst = append(dst, '{')
	dst = reply.AppendContext(dst, r, context)
	if p.coverage {
		dst = append(dst, `"@search.coverage":100.0,`...)
	}
	return append(dst, `"value":[`...)
}

// suggest answers GET …/docs/search.suggest and POST …/docs/search.post.suggest.
func (s *Server) suggest(w http.ResponseWriter, r *http.Request, rt route, x *exchange) {
	body, err := s.suggestReply(r, rt, x)
	writeQueryReply(w, r, http.StatusOK, body, err)
}

func (s *Server) suggestReply(r *http.Request, rt route, x *exchange) ([]byte, *reply.Error) {
	ix, missing := s.requestedIndex(rt)
	if missing != nil {
		return nil, missing
	}
	args, err := readArguments(r, rt, x.body, "suggest", suggestParameters)
	if err != nil {
		return nil, err
	}
	if args.reader, err = s.readerOf(r, rt); err != nil {
		return nil, err
	}
	var p *typedPlan
	var order *odata.Order
	var ordered bool
	var chosen *selection
	prepare := func(v *view) (err *reply.Error) {
		if p, err = planTyped(v.schema, args); err != nil {
			return err
		}
		if order, ordered, err = orderOf(v.schema, args); err != nil {
			return err
		}
		text := args.text("select")
		if text == "" {
			text = v.schema.Key.Name
		}
		if chosen, err = parseSelection(v.schema, text); err != nil {
			return err
		}
		return p.prepare(v)
	}
	var body []byte
	run := func(v *view) {
		p.among(v)
		found, failed := v.suggesters[p.name].Suggest(p.typed)
		if failed != nil {
			err = refuseText(failed)
			return
		}
		body = p.appendSuggestions(r, rt, v, found, order, ordered, chosen)
	}
	if refusal := ix.read(time.Now(), prepare, run); refusal != nil {
		return nil, refusal
	}
	return body, err
}

// appendSuggestions makes the reply.
func (p *typedPlan) appendSuggestions(r *http.Request, rt route, v *view, found *textindex.Suggestions, order *odata.Order, ordered bool, chosen *selection) []byte {
	list := found.List
	if ordered {
		byID := make(map[uint32]textindex.Suggestion, len(list))
		best := odata.NewTop(order, p.top)
		for _, s := range list {
			byID[s.ID] = s
			best.Add(odata.Row{ID: s.ID, Score: float64(s.Score), Document: v.document(s.ID)})
		}
		list = nil
		for _, row := range best.Rows() {
			list = append(list, byID[row.ID])
		}
	}
	body := p.appendHead(nil, r, "/indexes('"+rt.index+"')/$metadata#docs(*)")
	for i, s := range list[:min(p.top, len(list))] {
		if i > 0 {
			body = append(body, ',')
		}
		document := v.document(s.ID)
		text := schema.AppendTexts(nil, p.sc.Texts[p.sc.TextField(s.Path)].Fields, document)[s.Value]
		body = append(body, `{"@search.text":`...)
		body = reply.AppendString(body, found.Mark(text, p.tags))
		body = appendFields(body, p.sc, document, chosen)
		body = append(body, '}')
	}
	return append(body, ']', '}')
}
