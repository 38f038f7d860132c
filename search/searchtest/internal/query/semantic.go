package query

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

// The limits of semantic ranking.
const (
	longestRefusedWait = 750 // milliseconds
	mostReranked       = 50  // results
	mostAnswers        = 10
	defaultAnswers     = 1
	defaultThreshold   = 0.7
)

// The reasons of faults scripts for which the ranking of a query fails. Others are treated as
// transient.
const (
	capacityOverloaded = "capacityOverloaded"
	maxWaitExceeded    = "maxWaitExceeded"
	transientAnswers   = "transientAnswers" // results are ranked and captioned, without answers and highlights
)

// semanticPlan has the parameters of a search for semantic ranking.
type semanticPlan struct {
	text          string // the ranking is by this text, "" for no ranking
	configuration *shape.Object
	answers       *passageOptions // nil for none
	captions      *passageOptions // nil for none
	debug         bool            // the reply contains the text that was read
	failure       string          // reason to fail, "" for none

	// Set by prepareSemantic if there is a text.
	fields []semanticField
	words  int  // number of words of the query that count
	asks   bool // the text is a question
}

// passageOptions are the settings of answers or captions.
type passageOptions struct {
	count      int     // of answers
	threshold  float64 // of answers
	plain      bool    // captions without highlights
	characters int     // maximum, 0 for no limit
}

// tries reports whether the query needs semantic ranking: it has a text to rank by, and its
// page is within the ranked results. Later pages keep their order.
func (p *searchPlan) tries() bool {
	return p.semantic != nil && p.semantic.text != "" && p.skip < mostReranked
}

// ranks reports whether the results get a semantic ranking.
func (p *searchPlan) ranks() bool {
	return p.tries() && (p.semantic.failure == "" || p.semantic.failure == transientAnswers)
}

// planSemantic checks the parameters of semantic ranking.
func (p *searchPlan) planSemantic() *reply.Error {
	a := p.args
	semantic := a.text("queryType") == "semantic" || a.text("semanticQuery") != ""
	debug := semantic && a.version.Has(apiversion.SemanticDebug) && a.text("debug") == "semantic"
	if mode := a.text("debug"); mode != "" && mode != "disabled" && !debug {
		return reply.NotEmulated("the parameter 'debug'")
	}
	for _, name := range []string{"queryLanguage", "speller", "queryRewrites", "semanticFields", "moreLikeThis"} {
		// Clients of previews set the language of semantic queries. The stand-in has one
		// rule for all languages.
		if v := a.text(name); v != "" && v != "none" && (name != "queryLanguage" || !semantic) {
			return reply.NotEmulated("the parameter '" + name + "'")
		}
	}
	if wait := a.whole("semanticMaxWaitInMilliseconds", longestRefusedWait+1); wait <= longestRefusedWait {
		return a.refuseCoded("ParameterValueOutOfRange", "semanticMaxWaitInMilliseconds", "The 'semanticMaxWaitInMilliseconds' parameter needs to be larger than 750.")
	}
	for _, name := range []string{"answers", "captions", "semanticConfiguration", "semanticErrorHandling"} {
		if v := a.text(name); v != "" && v != "none" && !semantic {
			return a.refuse(name, "The parameter '"+name+"' can only be used in semantic queries: set 'queryType' to 'semantic', or 'semanticQuery'.")
		}
	}
	if !semantic {
		return nil
	}
	if !a.version.Has(apiversion.SemanticRanking) {
		return a.refuse("queryType", "Requested value 'semantic' was not found.")
	}
	p.semantic = &semanticPlan{debug: debug}
	for _, step := range []func() *reply.Error{p.planSemanticConfiguration, p.planSemanticText, p.planAnswers, p.planCaptions} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// planSemanticConfiguration finds the configuration that the query names, or the default one
// of the index.
func (p *searchPlan) planSemanticConfiguration() *reply.Error {
	a := p.args
	var configurations []*shape.Object
	name := a.text("semanticConfiguration")
	if def := p.sc.Parsed.Object.Object("semantic"); def != nil {
		configurations = def.Objects("configurations")
		if name == "" {
			name = def.Str("defaultConfiguration")
		}
	}
	if name == "" {
		return a.refuse("semanticConfiguration", "The parameter 'semanticConfiguration' must be set when 'queryType' is 'semantic', unless the index has a default semantic configuration.")
	}
	if p.semantic.configuration = schema.Named(configurations, name); p.semantic.configuration == nil {
		return a.refuseCoded("UnknownSemanticConfiguration", "semanticConfiguration", "Unknown semantic configuration '"+name+"'.")
	}
	return nil
}

// planSemanticText finds the text to rank by. A search for all documents has none and is not
// ranked, as in the service.
func (p *searchPlan) planSemanticText() *reply.Error {
	a := p.args
	if strings.TrimSpace(a.text("orderby")) != "" {
		return a.refuseCoded("", "$orderby", "The parameter 'orderby' cannot be used in semantic queries, which have an order of their own.")
	}
	text := a.text("search")
	if query := a.text("semanticQuery"); query != "" {
		text = query
	}
	if text = strings.TrimSpace(text); text != "*" {
		p.semantic.text = text
	}
	return nil
}

func (p *searchPlan) planAnswers() (err *reply.Error) {
	p.semantic.answers, err = p.args.passages("answers", "InvalidAnswersOption", "count", "threshold")
	return err
}

func (p *searchPlan) planCaptions() (err *reply.Error) {
	p.semantic.captions, err = p.args.passages("captions", "InvalidCaptionsOption", "highlight")
	return err
}

// passages reads the parameter answers or captions: none or extractive, optionally followed by
// a bar and settings, name-value,name-value. Recorded: case does not matter. known are the
// settings of all versions.
func (a *arguments) passages(name, detail string, known ...string) (*passageOptions, *reply.Error) {
	text := strings.ToLower(a.text(name))
	mode, list, given := strings.Cut(text, "|")
	switch {
	case given && mode == "none" && name == "captions":
		return nil, a.refuseCoded(detail, name, "Highlighting is not supported for 'captions' parameter with 'none'.")
	case given && mode == "none":
		return nil, a.refuseCoded(detail, name, "Options are not supported for '"+name+"' parameter with 'none'.")
	case mode == "none" || text == "":
		return nil, nil
	case mode != "extractive":
		return nil, a.refuseCoded(detail, name, "The value '"+mode+"' is invalid mode for '"+name+"' parameter. Please specify one of the following options: none, extractive.")
	}
	if a.version.Has(apiversion.PassageLength) {
		known = append(known, "maxcharlength")
	}
	o := &passageOptions{count: defaultAnswers, threshold: defaultThreshold}
	settings := make(map[string]string)
	for setting := range strings.SplitSeq(list, ",") {
		if !given {
			break
		}
		key, value, _ := strings.Cut(strings.TrimSpace(setting), "-")
		if _, twice := settings[key]; twice {
			return nil, a.refuseCoded(detail, name, "The option '"+key+"' of the '"+name+"' parameter is given more than once.")
		}
		settings[key] = value
		if !o.set(key, value, known) {
			return nil, a.refuseCoded(detail, name, "The value '"+setting+"' is an invalid option for '"+name+"' parameter.")
		}
	}
	return o, nil
}

// set reads one setting and reports whether it is known and valid.
func (o *passageOptions) set(key, value string, known []string) bool {
	ok := slices.Contains(known, key)
	var err error
	switch key {
	case "count":
		o.count, err = strconv.Atoi(value)
		ok = ok && o.count >= 1 && o.count <= mostAnswers
	case "threshold":
		o.threshold, err = strconv.ParseFloat(value, 64)
		ok = ok && o.threshold >= 0 && o.threshold <= 1
	case "maxcharlength":
		o.characters, err = strconv.Atoi(value)
		ok = ok && o.characters >= 1
	case "highlight":
		o.plain = value == "false"
		ok = ok && (o.plain || value == "true")
	}
	return ok && err == nil
}

// prepareSemantic prepares the ranking of a search. It refuses the search without the
// stand-in, because the models of the service cannot be emulated.
func (rq *Request) prepareSemantic(p *searchPlan) *reply.Error {
	switch {
	case p.semantic == nil:
		return nil
	case !rq.StandIn:
		return reply.NotImplemented("searchtest does not emulate semantic ranking. Options.SemanticStandIn, or azsearch emulator -semantic-stand-in, has a documented rule in its place.")
	case !p.tries():
		return nil
	case rq.Failure != "" && p.args.text("semanticErrorHandling") == "fail":
		return &reply.Error{Status: http.StatusServiceUnavailable, Message: "The semantic ranking of the query failed: " + rq.Failure + "."}
	}
	p.semantic.failure = rq.Failure
	return p.semantic.compile(p.sc)
}

// AsksForRanking reports whether a search looks like one with semantic ranking, before any
// checks. parameters are those of its address.
func AsksForRanking(parameters url.Values, body []byte) bool {
	var asked struct{ QueryType, SemanticQuery string }
	if parameters.Has("queryType") || parameters.Has("semanticQuery") {
		asked.QueryType, asked.SemanticQuery = parameters.Get("queryType"), parameters.Get("semanticQuery")
	} else if json.Unmarshal(body, &asked) != nil {
		return false
	}
	return asked.QueryType == "semantic" || asked.SemanticQuery != ""
}
