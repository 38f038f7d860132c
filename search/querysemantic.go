package search

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// SemanticOptions configure how a language model reranks the best results of a query. The zero value requests only
// the ranking.
type SemanticOptions struct {
	// ConfigurationName is the semantic configuration of the index to rank with. Defaults to the default configuration of
	// the index.
	ConfigurationName string
	// Query is the text for the ranking, plain text without operators. With it any QueryType is allowed, and vector
	// queries without text. Defaults to the search text.
	Query string
	// ErrorHandling selects the reaction to a failed ranking. Defaults to the service's choice.
	ErrorHandling models.SemanticErrorHandling
	// MaxWait limits the time of the ranking, at least 700 ms, in whole milliseconds. The service documents 700 ms but
	// has been seen to refuse 750 ms. Defaults to the service's limit.
	MaxWait time.Duration
	// Answers requests passages that answer the query. Defaults to none.
	Answers *AnswerOptions
	// Captions requests the most relevant passage of each document. Defaults to none.
	Captions *CaptionOptions
}

// AnswerOptions configure the answers to a semantic query. The zero value is ready to use.
type AnswerOptions struct {
	// Count is the largest number of answers. Defaults to 1.
	Count int
	// Threshold is the least confidence of an answer, 0 to 1. Defaults to 0.7.
	Threshold *float64
	// MaxLength is the largest number of characters of an answer. It needs api-version 2026-04-01. Defaults to the
	// service's limit.
	MaxLength int
}

// CaptionOptions configure the captions of a semantic query. The zero value is ready to use.
type CaptionOptions struct {
	// NoHighlights omits the highlights of captions. Defaults to false.
	NoHighlights bool
	// MaxLength is the largest number of characters of a caption. It needs api-version 2026-04-01. Defaults to the
	// service's limit.
	MaxLength int
}

// minSemanticWait is the shortest documented MaxWait.
const minSemanticWait = 700 * time.Millisecond

// semantic writes the options of semantic ranking.
func (o *SearchOptions) semantic(b *queryBody, text string) {
	s := o.Semantic
	semantic := o.QueryType == models.QueryTypeSemantic
	if s == nil {
		s = &SemanticOptions{}
	} else if !semantic && s.Query == "" {
		b.problem("Semantic", errors.New("it has no effect without models.QueryTypeSemantic or a Semantic.Query: set one of them"))
	}
	if o.Semantic == nil && !semantic {
		return
	}
	b.needs("Semantic", apiversion.SemanticRanking)
	if semantic && s.Query == "" && (text == "" || text == "*") {
		b.problem("QueryType", errors.New("a semantic query needs a text, or a Semantic.Query, to rank by"))
	}
	if len(o.OrderBy) > 0 {
		b.problem("OrderBy", errors.New("it cannot be combined with semantic ranking, which orders the results itself: remove OrderBy or the semantic options"))
	}
	b.text("semanticConfiguration", "Semantic.ConfigurationName", s.ConfigurationName)
	if s.Query != "" {
		b.needs("Semantic.Query", apiversion.SemanticQuery)
	}
	b.text("semanticQuery", "Semantic.Query", s.Query)
	if s.ErrorHandling != "" {
		b.needs("Semantic.ErrorHandling", apiversion.SemanticErrorHandling)
	}
	oneOf(b, "semanticErrorHandling", "Semantic.ErrorHandling", s.ErrorHandling, models.SemanticErrorHandlingPartial, models.SemanticErrorHandlingFail)
	switch {
	case s.MaxWait == 0:
	case s.MaxWait < minSemanticWait:
		b.problemf("Semantic.MaxWait", "%v is shorter than %v", s.MaxWait, minSemanticWait)
	default:
		b.needs("Semantic.MaxWait", apiversion.SemanticErrorHandling)
		b.integer("semanticMaxWaitInMilliseconds", int(s.MaxWait.Milliseconds()))
	}
	if s.Answers != nil {
		b.string("answers", s.Answers.expression(b))
	}
	if s.Captions != nil {
		b.string("captions", s.Captions.expression(b))
	}
}

// expression returns the options in the syntax of the service.
func (a *AnswerOptions) expression(b *queryBody) string {
	const option = "Semantic.Answers"
	var settings []string
	if a.Count < 0 {
		b.problemf(option+".Count", "%d is not a number of answers", a.Count)
	} else if a.Count > 0 {
		settings = append(settings, "count-"+strconv.Itoa(a.Count))
	}
	if a.Threshold != nil {
		if t := *a.Threshold; !(t >= 0 && t <= 1) { // the negation also catches NaN
			b.problemf(option+".Threshold", "%v is not from 0 to 1", t)
		}
		settings = append(settings, "threshold-"+strconv.FormatFloat(*a.Threshold, 'f', -1, 64))
	}
	return extractive(settings, passageLength(b, option+".MaxLength", a.MaxLength))
}

// expression returns the options in the syntax of the service.
func (c *CaptionOptions) expression(b *queryBody) string {
	var settings []string
	if c.NoHighlights {
		settings = append(settings, "highlight-false")
	}
	return extractive(settings, passageLength(b, "Semantic.Captions.MaxLength", c.MaxLength))
}

// passageLength returns the setting of a length, "" for the default.
func passageLength(b *queryBody, option string, length int) string {
	switch {
	case length < 0:
		b.problemf(option, "%d is not a number of characters", length)
	case length > 0:
		b.needs(option, apiversion.PassageLength)
		return "maxcharlength-" + strconv.Itoa(length)
	}
	return ""
}

func extractive(settings []string, length string) string {
	if length != "" {
		settings = append(settings, length)
	}
	if len(settings) == 0 {
		return "extractive"
	}
	return "extractive|" + strings.Join(settings, ",")
}
