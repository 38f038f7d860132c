package searchtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParametersOfSemanticQueriesAreChecked(t *testing.T) {
	p := semanticProbe(t)
	for name, test := range map[string]struct{ members, message, code string }{
		"an unknown configuration":                {`"semanticConfiguration":"nope"`, "Unknown semantic configuration 'nope'.\r\nParameter name: semanticConfiguration", "UnknownSemanticConfiguration"},
		"an order":                                {`"orderby":"year"`, "Parameter name: $orderby", ""},
		"an unknown mode of answers":              {`"answers":"QueryAnswerType.EXTRACTIVE|count-3"`, "The value 'queryanswertype.extractive' is invalid mode for 'answers' parameter. Please specify one of the following options: none, extractive.\r\nParameter name: answers", "InvalidAnswersOption"},
		"an unknown mode of captions":             {`"captions":"generative"`, "The value 'generative' is invalid mode for 'captions' parameter. Please specify one of the following options: none, extractive.\r\nParameter name: captions", "InvalidCaptionsOption"},
		"highlights of no captions":               {`"captions":"none|highlight-false"`, "Highlighting is not supported for 'captions' parameter with 'none'.\r\nParameter name: captions", "InvalidCaptionsOption"},
		"options of no answers":                   {`"answers":"none|count-1"`, "Parameter name: answers", "InvalidAnswersOption"},
		"no answer":                               {`"answers":"extractive|count-0"`, "'count-0'", "InvalidAnswersOption"},
		"too many answers":                        {`"answers":"extractive|count-11"`, "'count-11'", "InvalidAnswersOption"},
		"half an answer":                          {`"answers":"extractive|count-1.5"`, "'count-1.5'", "InvalidAnswersOption"},
		"a threshold above 1":                     {`"answers":"extractive|threshold-1.01"`, "'threshold-1.01'", "InvalidAnswersOption"},
		"a threshold below 0":                     {`"answers":"extractive|threshold--0.1"`, "'threshold--0.1'", "InvalidAnswersOption"},
		"an invalid threshold":                    {`"answers":"extractive|threshold-nan"`, "'threshold-nan'", "InvalidAnswersOption"},
		"highlights of answers":                   {`"answers":"extractive|highlight-true"`, "'highlight-true'", "InvalidAnswersOption"},
		"a number of captions":                    {`"captions":"extractive|count-1"`, "'count-1'", "InvalidCaptionsOption"},
		"perhaps highlights":                      {`"captions":"extractive|highlight-maybe"`, "'highlight-maybe'", "InvalidCaptionsOption"},
		"an option twice":                         {`"answers":"extractive|count-1,count-2"`, "'count' of the 'answers' parameter is given more than once", "InvalidAnswersOption"},
		"an option without a name":                {`"answers":"extractive|"`, "''", "InvalidAnswersOption"},
		"no characters":                           {`"captions":"extractive|maxcharlength-0"`, "'maxcharlength-0'", "InvalidCaptionsOption"},
		"an unknown value of the error parameter": {`"semanticErrorHandling":"retry"`, "'retry'", ""},
		"a wait that is too short":                {`"semanticMaxWaitInMilliseconds":750`, "The 'semanticMaxWaitInMilliseconds' parameter needs to be larger than 750.\r\nParameter name: semanticMaxWaitInMilliseconds", "ParameterValueOutOfRange"},
	} {
		t.Run(name, func(t *testing.T) {
			a := probe{t, p.Server}.articles(`{"search":"x","queryType":"semantic",` + test.members + `}`)
			assert.Equal(t, http.StatusBadRequest, a.status, a.body)
			assert.Contains(t, a.message(), test.message)
			var body struct {
				Error struct {
					Code    string
					Details []struct{ Code string }
				}
			}
			require.NoError(t, json.Unmarshal([]byte(a.body), &body))
			if test.code != "" {
				require.Len(t, body.Error.Details, 1, a.body)
				assert.Equal(t, "InvalidRequestParameter "+test.code, body.Error.Code+" "+body.Error.Details[0].Code)
			}
		})
	}
	for _, members := range []string{
		`"semanticErrorHandling":"fail","semanticMaxWaitInMilliseconds":751,"semanticConfiguration":"plain"`,
		`"answers":"none","captions":"none","orderby":" "`, `"answers":"EXTRACTIVE|COUNT-10,THRESHOLD-1.0"`, `"captions":"Extractive|Highlight-False"`,
		`"answers":"extractive|maxcharlength-1","captions":"extractive|highlight-false,maxcharlength-9"`,
	} {
		a := p.articles(`{"search":"x","queryType":"semantic",` + members + `}`)
		assert.Equal(t, http.StatusOK, a.status, members+": "+a.body)
	}
}

func TestASemanticQueryNeedsAConfiguration(t *testing.T) {
	p := newProbe(t, &Options{SemanticStandIn: true})
	assert.Contains(t, p.query(`{"search":"x","queryType":"semantic"}`).message(), "The parameter 'semanticConfiguration' must be set")
	assert.Contains(t, p.query(`{"search":"x","queryType":"semantic","semanticConfiguration":"c"}`).message(), "Unknown semantic configuration 'c'.")
}

func TestPassagesHaveALengthInTheVersionsThatKnowIt(t *testing.T) {
	p := semanticProbe(t)
	for version, status := range map[string]int{"2025-09-01": http.StatusBadRequest, "2026-04-01": http.StatusOK, "2025-05-01-preview": http.StatusOK, "2024-11-01-preview": http.StatusOK, "2024-09-01-preview": http.StatusBadRequest, "2024-05-01-preview": http.StatusBadRequest} {
		a := p.send(http.MethodPost, "/indexes('articles')/docs/search?api-version="+version, `{"search":"x","queryType":"semantic","captions":"extractive|maxcharlength-100"}`)
		assert.Equal(t, status, a.status, version+": "+a.body)
	}
}

// Other versions call a parameter of previews unknown; previews accept its name.
func TestSemanticParametersOfPreviewsAreNamed(t *testing.T) {
	p := semanticProbe(t)
	for name, value := range map[string]string{"queryLanguage": "en-us", "speller": "lexicon", "queryRewrites": "generative|count-3", "semanticFields": "body"} {
		member := `,"` + name + `":"` + value + `"}`
		a := p.articles(`{"search":"x"` + member)
		assert.Equal(t, http.StatusBadRequest, a.status, a.body)
		const path = "/indexes('articles')/docs/search?api-version=2025-05-01-preview"
		a = p.send(http.MethodPost, path, `{"search":"x"`+member)
		assert.Equal(t, http.StatusNotImplemented, a.status, a.body)
		assert.Contains(t, a.message(), "searchtest does not emulate the parameter '"+name+"'")
		a = p.send(http.MethodGet, "/indexes('articles')/docs?api-version=2025-05-01-preview&search=x&"+url.Values{name: {value}}.Encode(), "")
		assert.Equal(t, http.StatusNotImplemented, a.status, a.body)
		a = p.send(http.MethodPost, path, `{"search":"x","`+name+`":"none"}`)
		assert.Equal(t, http.StatusOK, a.status, a.body)
	}
}
