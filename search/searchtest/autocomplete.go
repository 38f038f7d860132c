package searchtest

import (
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// OpAutocomplete completes what was typed.
const OpAutocomplete Operation = "autocomplete"

func init() {
	register(operation{name: OpAutocomplete, reads: true, serve: (*Server).autocomplete, routes: []string{
		"GET /indexes/{index}/docs/search.autocomplete", "POST /indexes/{index}/docs/search.post.autocomplete",
		"GET /indexes/{index}/docs/autocomplete?suggesterName", "POST /indexes/{index}/docs/autocomplete",
	}})
}

// autocompleteModes are the ways to complete, by name.
var autocompleteModes = map[string]textindex.AutocompleteMode{
	"": textindex.OneTerm, "oneTerm": textindex.OneTerm, "twoTerms": textindex.TwoTerms, "oneTermWithContext": textindex.OneTermWithContext,
}

// autocomplete answers GET …/docs/search.autocomplete and POST
// …/docs/search.post.autocomplete.
func (s *Server) autocomplete(w http.ResponseWriter, r *http.Request, rt route, x *exchange) {
	body, err := s.autocompleteReply(r, rt, x)
	writeQueryReply(w, r, http.StatusOK, body, err)
}

func (s *Server) autocompleteReply(r *http.Request, rt route, x *exchange) ([]byte, *reply.Error) {
	ix, missing := s.requestedIndex(rt)
	if missing != nil {
		return nil, missing
	}
	args, err := readArguments(r, rt, x.body, "autocomplete", autocompleteParameters)
	if err != nil {
		return nil, err
	}
	if args.reader, err = s.readerOf(r, rt); err != nil {
		return nil, err
	}
	var p *typedPlan
	prepare := func(v *view) (err *reply.Error) {
		if p, err = planTyped(v.schema, args); err != nil {
			return err
		}
		return p.prepare(v)
	}
	var body []byte
	run := func(v *view) {
		p.among(v)
		found, failed := p.complete(v.suggesters[p.name])
		if failed != nil {
			err = refuseText(failed)
			return
		}
		body = p.appendHead(nil, r, "/indexes('"+rt.index+"')/$metadata#Collection("+shape.ResourceType(rt.version, "AutocompleteItem")+")")
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
	if refusal := ix.read(time.Now(), prepare, run); refusal != nil {
		return nil, refusal
	}
	return body, err
}

// complete finds the completions. Recorded: versions without FuzzyFallback list the
// fuzzy ones behind those that begin as was typed.
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
