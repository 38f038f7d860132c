package query

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

// parameter is one parameter of a query, with its names in the body of a POST and in the
// address of a GET. get is "" if a GET cannot have it.
type parameter struct {
	post, get string
	kind      parameterKind
	needs     apiversion.Capability // 0 for none
	among     []string              // the allowed values, nil for any
	must      bool                  // required in a POST
}

type parameterKind uint8

const (
	parameterText parameterKind = iota
	parameterFlag
	parameterWhole
	parameterNumber
	parameterTexts
	parameterVectors
	parameterObject
)

// searchParameters are the parameters of searches.
var searchParameters = []parameter{
	{post: "search", get: "search"},
	{post: "count", get: "$count", kind: parameterFlag},
	{post: "facets", get: "facet", kind: parameterTexts},
	{post: "filter", get: "$filter"},
	{post: "highlight", get: "highlight"},
	{post: "highlightPreTag", get: "highlightPreTag"},
	{post: "highlightPostTag", get: "highlightPostTag"},
	{post: "minimumCoverage", get: "minimumCoverage", kind: parameterNumber},
	{post: "orderby", get: "$orderby"},
	{post: "queryType", get: "queryType", among: []string{"simple", "full", "semantic"}},
	{post: "scoringParameters", get: "scoringParameter", kind: parameterTexts},
	{post: "scoringProfile", get: "scoringProfile"},
	{post: "scoringStatistics", get: "scoringStatistics", needs: apiversion.ScoringStatistics, among: []string{"local", "global"}},
	{post: "sessionId", get: "sessionId", needs: apiversion.ScoringStatistics},
	{post: "searchFields", get: "searchFields"},
	{post: "searchMode", get: "searchMode", among: []string{"any", "all"}},
	{post: "select", get: "$select"},
	{post: "skip", get: "$skip", kind: parameterWhole},
	{post: "top", get: "$top", kind: parameterWhole},
	{post: "semanticConfiguration", get: "semanticConfiguration", needs: apiversion.SemanticRanking},
	{post: "semanticErrorHandling", get: "semanticErrorHandling", needs: apiversion.SemanticErrorHandling, among: []string{"partial", "fail"}},
	{post: "semanticMaxWaitInMilliseconds", get: "semanticMaxWaitInMilliseconds", kind: parameterWhole, needs: apiversion.SemanticErrorHandling},
	{post: "semanticQuery", get: "semanticQuery", needs: apiversion.SemanticQuery},
	{post: "answers", get: "answers", needs: apiversion.SemanticRanking},
	{post: "captions", get: "captions", needs: apiversion.SemanticRanking},
	{post: "vectorQueries", kind: parameterVectors, needs: apiversion.VectorSearch},
	{post: "vectorFilterMode", needs: apiversion.VectorSearch, among: []string{"preFilter", "postFilter", "strictPostFilter"}},
	{post: "hybridSearch", kind: parameterObject, needs: apiversion.HybridSearch},
	{post: "debug", get: "debug", needs: apiversion.Debug},
	{post: "queryLanguage", get: "queryLanguage", needs: apiversion.QueryLanguage},
	{post: "speller", get: "speller", needs: apiversion.QueryLanguage},
	{post: "queryRewrites", get: "queryRewrites", needs: apiversion.QueryRewrites},
	{post: "moreLikeThis", get: "moreLikeThis", needs: apiversion.MoreLikeThis},
	{post: "semanticFields", get: "semanticFields", needs: apiversion.SemanticFields},
}

// suggestParameters are the parameters of suggestions.
var suggestParameters = []parameter{
	{post: "search", get: "search", must: true},
	{post: "suggesterName", get: "suggesterName", must: true},
	{post: "filter", get: "$filter"},
	{post: "fuzzy", get: "fuzzy", kind: parameterFlag},
	{post: "highlightPreTag", get: "highlightPreTag"},
	{post: "highlightPostTag", get: "highlightPostTag"},
	{post: "minimumCoverage", get: "minimumCoverage", kind: parameterNumber},
	{post: "orderby", get: "$orderby"},
	{post: "searchFields", get: "searchFields"},
	{post: "select", get: "$select"},
	{post: "top", get: "$top", kind: parameterWhole},
}

// autocompleteParameters are the parameters of autocompletion.
var autocompleteParameters = []parameter{
	{post: "search", get: "search", must: true},
	{post: "suggesterName", get: "suggesterName", must: true},
	{post: "autocompleteMode", get: "autocompleteMode", among: []string{"oneTerm", "twoTerms", "oneTermWithContext"}},
	{post: "filter", get: "$filter"},
	{post: "fuzzy", get: "fuzzy", kind: parameterFlag},
	{post: "highlightPreTag", get: "highlightPreTag"},
	{post: "highlightPostTag", get: "highlightPostTag"},
	{post: "minimumCoverage", get: "minimumCoverage", kind: parameterNumber},
	{post: "searchFields", get: "searchFields"},
	{post: "top", get: "$top", kind: parameterWhole},
}

// arguments are the parameters of one query. Missing and null parameters have no value.
type arguments struct {
	get     bool
	version apiversion.Version
	reader  reader         // the reader whose permissions apply
	values  map[string]any // by the name in a POST: string, bool, int64, float64, []string, []json.RawMessage

	// The members of the body of a POST in their order, for the continuation.
	names []string
	raw   []json.RawMessage
}

func (a *arguments) text(name string) string {
	s, _ := a.values[name].(string)
	return s
}

func (a *arguments) flag(name string) bool {
	b, _ := a.values[name].(bool)
	return b
}

func (a *arguments) texts(name string) []string {
	list, _ := a.values[name].([]string)
	return list
}

func (a *arguments) has(name string) bool {
	_, ok := a.values[name]
	return ok
}

// whole returns a whole number, or otherwise if the parameter is missing.
func (a *arguments) whole(name string, otherwise int64) int64 {
	if n, ok := a.values[name].(int64); ok {
		return n
	}
	return otherwise
}

// refuse returns the refusal of a parameter. name is its name in the request.
func (a *arguments) refuse(name, message string) *reply.Error {
	return &reply.Error{Status: http.StatusBadRequest, Message: message + "\r\nParameter name: " + name}
}

// refuseCoded returns a refusal to which newer versions of the service add a code, and a
// detail with another code if detail is set. They do so only for some parameters: the code of
// a wrong filter, for example, is empty in all versions.
func (a *arguments) refuseCoded(detail, name, message string) *reply.Error {
	e := a.refuse(name, message)
	if !a.version.Has(apiversion.CodedErrors) {
		return e
	}
	e.Code = "InvalidRequestParameter"
	if detail != "" {
		e.Details = []reply.Detail{{Code: detail, Message: message}}
	}
	return e
}

// longestAddress is the maximum length of the address of a GET, in bytes.
const longestAddress = 8 << 10

// arguments reads the parameters from the address of a GET or the body of a POST, and the
// reader from the headers.
func (rq *Request) arguments(operation string, known []parameter) (*arguments, *reply.Error) {
	a := &arguments{get: rq.HTTP.Method == http.MethodGet, version: rq.Route.Version, values: make(map[string]any)}
	var err *reply.Error
	if a.get && len(rq.HTTP.URL.RequestURI()) > longestAddress {
		return nil, &reply.Error{Status: http.StatusRequestURITooLong, Message: "The request URL is longer than 8 KB. Use POST for long queries."}
	}
	if a.get {
		err = a.readQuery(rq.Route.Query, known)
	} else {
		err = a.readBody(rq.Body, operation, known)
	}
	if err != nil {
		return nil, err
	}
	for i := range known {
		p := &known[i]
		if v, ok := a.values[p.post].(string); ok && p.among != nil && !slices.Contains(p.among, v) {
			return nil, a.unreadable("Requested value '" + v + "' was not found for the parameter '" + p.post + "'. It can be " + strings.Join(p.among, ", ") + ".")
		}
	}
	a.reader, err = readerOf(rq.HTTP.Header, rq.Route.Version, rq.Resolve)
	return a, err
}

// readQuery reads the parameters in the address of a GET. Unknown parameters are ignored, as
// in the service, because HTTP requests often have some. Parameters of a POST or of another
// version are refused: no recording shows what the service does, and the client expects an
// effect.
func (a *arguments) readQuery(query url.Values, known []parameter) *reply.Error {
	for i := range known {
		p := &known[i]
		if p.get != p.post && query.Has(p.post) {
			if p.get == "" {
				return reply.NotEmulated("the parameter '" + p.post + "' in a GET; use a POST")
			}
			return misnamed(p.post, p.get)
		}
		values := query[p.get]
		if p.get == "" || len(values) == 0 {
			continue
		}
		if !a.version.Has(p.needs) {
			return reply.NotEmulated("the parameter '" + p.get + "' in this api-version, which does not have it")
		}
		v, ok := p.fromText(values)
		if !ok {
			return a.refuse(p.get, "Invalid value '"+values[0]+"'.")
		}
		a.values[p.post] = v
	}
	return nil
}

// misnamed returns the refusal of a parameter that has another name in a GET.
func misnamed(post, get string) *reply.Error {
	return reply.NotEmulated("the parameter '" + post + "' in a GET; its name there is '" + get + "'")
}

// fromText reads a value from an address.
func (p *parameter) fromText(values []string) (any, bool) {
	switch p.kind {
	case parameterTexts:
		return values, true
	case parameterFlag:
		b, err := strconv.ParseBool(values[0])
		return b, err == nil
	case parameterWhole:
		n, err := strconv.ParseInt(values[0], 10, 32)
		return n, err == nil
	case parameterNumber:
		f, err := strconv.ParseFloat(values[0], 64)
		return f, err == nil
	default:
		return values[0], true
	}
}

// unreadable returns the refusal of a body that OData cannot read. Newer versions do not name
// the part of the request and have no code.
func (a *arguments) unreadable(reason string) *reply.Error {
	if !a.version.Has(apiversion.CodedErrors) {
		return reply.InvalidRequest("parameters : " + reason)
	}
	return &reply.Error{Status: http.StatusBadRequest, Message: "The request is invalid. Details: " + reason}
}

// readBody reads the body of a POST.
func (a *arguments) readBody(body []byte, operation string, known []parameter) *reply.Error {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff"))))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return a.unreadable("The body must be a JSON object.")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return a.unreadable(shape.Fault(err))
		}
		name, _ := t.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return a.unreadable(shape.Fault(err))
		}
		if strings.Contains(name, "@") { // an annotation
			continue
		}
		i := slices.IndexFunc(known, func(p parameter) bool { return p.post == name && a.version.Has(p.needs) })
		if i < 0 {
			return a.unreadable("The parameter '" + name + "' in the request payload is not a valid parameter for the operation '" + operation + "'.")
		}
		if slices.Contains(a.names, name) {
			return a.unreadable("Multiple parameters with the name '" + name + "' were found in the request payload.")
		}
		var compact bytes.Buffer
		_ = json.Compact(&compact, bytes.ToValidUTF8(raw, []byte("\ufffd"))) // raw was decoded, so it is valid JSON
		a.names, a.raw = append(a.names, name), append(a.raw, compact.Bytes())
		if string(raw) == "null" {
			continue
		}
		v, fault := known[i].fromJSON(raw)
		if fault != "" {
			return a.unreadable(fault)
		}
		a.values[name] = v
	}
	if _, err := dec.Token(); err != nil {
		return a.unreadable(shape.Fault(err))
	}
	if dec.More() {
		return a.unreadable("There is something after the JSON object.")
	}
	var missing []string
	for i := range known {
		if known[i].must && !slices.Contains(a.names, known[i].post) {
			missing = append(missing, known[i].post)
		}
	}
	if len(missing) > 0 {
		return a.unreadable("One or more parameters of the operation '" + operation + "' are missing from the request payload. The missing parameters are: " + strings.Join(missing, ",") + ".")
	}
	return nil
}

// fromJSON reads a value from a body.
func (p *parameter) fromJSON(raw json.RawMessage) (value any, fault string) {
	wrong := func(expected string) (any, string) {
		return nil, "Cannot convert the value of the parameter '" + p.post + "' to the expected type '" + expected + "'."
	}
	switch p.kind {
	case parameterTexts:
		var list []*string
		if json.Unmarshal(raw, &list) != nil {
			return wrong("Collection(Edm.String)")
		}
		texts := make([]string, len(list))
		for i, s := range list {
			if s == nil {
				return nil, "A null value was found with the expected type 'Edm.String[Nullable=False]'. The expected type 'Edm.String[Nullable=False]' does not allow null values."
			}
			texts[i] = *s
		}
		return texts, ""
	case parameterFlag:
		var b bool
		if json.Unmarshal(raw, &b) != nil {
			return wrong("Edm.Boolean")
		}
		return b, ""
	case parameterWhole:
		n, err := strconv.ParseInt(string(raw), 10, 32)
		if err != nil {
			return wrong("Edm.Int32")
		}
		return n, ""
	case parameterNumber:
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || math.IsInf(f, 0) || raw[0] == '"' {
			return wrong("Edm.Double")
		}
		return f, ""
	case parameterObject:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return wrong("Edm.ComplexType")
		}
		return members, ""
	case parameterVectors:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return wrong("Collection(VectorQuery)")
		}
		return list, ""
	default:
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return wrong("Edm.String")
		}
		return s, ""
	}
}

// appendContinuation appends the body of the request for the next page: the body of this
// request with another skip, and with another top if it had one.
func (a *arguments) appendContinuation(dst []byte, skip, top int64) []byte {
	dst = append(dst, '{')
	changed := map[string]int64{"skip": skip}
	if a.has("top") {
		changed["top"] = top
	}
	first := true
	member := func(name string) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = reply.AppendString(dst, name)
		dst = append(dst, ':')
	}
	for i, name := range a.names {
		if string(a.raw[i]) == "null" {
			continue
		}
		member(name)
		if n, ok := changed[name]; ok {
			dst = strconv.AppendInt(dst, n, 10)
			delete(changed, name)
			continue
		}
		dst = append(dst, a.raw[i]...)
	}
	if _, left := changed["skip"]; left {
		member("skip")
		dst = strconv.AppendInt(dst, skip, 10)
	}
	return append(dst, '}')
}
