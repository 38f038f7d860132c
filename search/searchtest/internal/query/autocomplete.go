package query

import (
	"net/http"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// autocompleteModes are the modes of completion by name.
var autocompleteModes = map[string]textindex.AutocompleteMode{
	"": textindex.OneTerm, "oneTerm": textindex.OneTerm, "twoTerms": textindex.TwoTerms, "oneTermWithContext": textindex.OneTermWithContext,
}

// Autocomplete answers GET …/docs/search.autocomplete and POST
// …/docs/search.post.autocomplete.
func (rq *Request) Autocomplete() (status int, body []byte, err *reply.Error) {
	args, err := rq.arguments("autocomplete", autocompleteParameters)
	if err != nil {
		return 0, nil, err
	}
	var p *typedPlan
	prepare := func(v *View) (err *reply.Error) {
		if p, err = planTyped(v.schema, args); err != nil {
			return err
		}
		return p.prepare(v)
	}
	run := func(v *View) {
		p.among(v)
		found, failed := p.complete(v.suggesters[p.name])
		if failed != nil {
			err = refuseText(failed)
			return
		}
		body = p.appendHead(nil, rq.HTTP, "/indexes('"+rq.Route.Index+"')/$metadata#Collection("+shape.ResourceType(rq.Route.Version, "AutocompleteItem")+")")
		for i, c := range found[:min(p.top, len(found))] {
			if i > 0 {
				body = append(body, ',')
			}
			body = append(body, `{"text":`...)
			body = reply.AppendString(body, c.Text)
			body = append(body, `,"queryPlusText":`...)
			body = reply.AppendString(body, c.QueryPlusText)
			body = append(body, '}')
		}
		body = append(body, ']', '}')
	}
	if refusal := rq.Read(prepare, run); refusal != nil {
		return 0, nil, refusal
	}
	return http.StatusOK, body, err
}

// complete finds the completions. Recorded: versions without FuzzyFallback list exact
// prefixes before fuzzy ones.
func (p *typedPlan) complete(s *suggester) ([]textindex.Completion, error) {
	mode, typed := autocompleteModes[p.args.text("autocompleteMode")], p.typed
	if typed.Fuzzy && p.args.version.Has(apiversion.FuzzyFallback) {
		typed.Fuzzy = false
		if found, err := s.Autocomplete(typed, mode, p.tags); err != nil || len(found) > 0 {
			return found, err
		}
	}
	return s.Autocomplete(p.typed, mode, p.tags)
}
