package query

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// The limits of suggestions and autocompletion.
const (
	defaultSuggestions = 5
	mostSuggestions    = 100
	longestTyped       = 100 // characters
)

// typedPlan is a request for suggestions or autocompletion that was checked against the
// definition of its index.
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

// planTyped checks the parameters that both kinds of requests have.
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

// refuseSuggester refuses a request without a valid suggester.
func (a *arguments) refuseSuggester(name, message string) *reply.Error {
	e := a.refuseCoded("MissingSuggesterName", name, message)
	if e.Code != "" {
		e.Code = "MissingRequiredParameter"
	}
	return e
}

// prepare builds the suggester, and finds the documents that pass the filter.
func (p *typedPlan) prepare(v *View) *reply.Error {
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
func (p *typedPlan) among(v *View) {
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

// appendHead appends the beginning of both kinds of replies, with the brace.
func (p *typedPlan) appendHead(dst []byte, r *http.Request, context string) []byte {
	dst = append(dst, '{')
	dst = reply.AppendContext(dst, r, context)
	if p.coverage {
		dst = append(dst, `"@search.coverage":100.0,`...)
	}
	return append(dst, `"value":[`...)
}

// Suggest answers GET …/docs/search.suggest and POST …/docs/search.post.suggest.
func (rq *Request) Suggest() (status int, body []byte, err *reply.Error) {
	args, err := rq.arguments("suggest", suggestParameters)
	if err != nil {
		return 0, nil, err
	}
	var p *typedPlan
	var order *odata.Order
	var ordered bool
	var chosen *selection
	prepare := func(v *View) (err *reply.Error) {
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
	run := func(v *View) {
		p.among(v)
		found, failed := v.suggesters[p.name].Suggest(p.typed)
		if failed != nil {
			err = refuseText(failed)
			return
		}
		body = p.appendSuggestions(rq, v, found, order, ordered, chosen)
	}
	if refusal := rq.Read(prepare, run); refusal != nil {
		return 0, nil, refusal
	}
	return http.StatusOK, body, err
}

// appendSuggestions appends the body of the reply.
func (p *typedPlan) appendSuggestions(rq *Request, v *View, found *textindex.Suggestions, order *odata.Order, ordered bool, chosen *selection) []byte {
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
	body := p.appendHead(nil, rq.HTTP, "/indexes('"+rq.Route.Index+"')/$metadata#docs(*)")
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
