package search

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// SemanticOptions are about ranking the best results of a query once more by a
// language model. The zero value asks for nothing but the ranking.
type SemanticOptions struct {
	// ConfigurationName is the semantic configuration of the index to rank with.
	// Defaults to the default configuration of the index.
	ConfigurationName string
	// Query is the text to rank by, plain text without operators. It allows any
	// QueryType, and vector queries without text. Defaults to the search text.
	Query string
	// ErrorHandling says what happens if the ranking fails. Defaults to what the
	// service does.
	ErrorHandling models.SemanticErrorHandling
	// MaxWait is how long the ranking may take, at least 700 ms, in whole
	// milliseconds. The service has been seen to want more than 750. Defaults to what
	// it allows.
	MaxWait time.Duration
	// Answers asks for passages that answer the query. Defaults to none.
	Answers *AnswerOptions
	// Captions asks for the passage of each document that says most about the
	// query. Defaults to none.
	Captions *CaptionOptions
}

// AnswerOptions are about the answers to a semantic query. The zero value is
// ready to use.
type AnswerOptions struct {
	// Count is how many answers there should be at most. Defaults to 1.
	Count int
	// Threshold is how sure an answer must be, 0 to 1. Defaults to 0.7.
	Threshold *float64
	// MaxLength is how many characters an answer may have. It takes api-version
	// 2026-04-01. Defaults to what the service does.
	MaxLength int
}

// CaptionOptions are about the captions of a semantic query. The zero value is
// ready to use.
type CaptionOptions struct {
	// NoHighlights leaves out the highlights of captions. Defaults to false.
	NoHighlights bool
	// MaxLength is how many characters a caption may have. It takes api-version
	// 2026-04-01. Defaults to what the service does.
	MaxLength int
}

// minSemanticWait is the shortest time that the service can be given to rank.
const minSemanticWait = 700 * time.Millisecond

// semantic writes what is about semantic ranking.
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
		b.problem("OrderBy", errors.New("semantic ranking is an order of its own: leave out one of them"))
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

// expression returns the options as the service reads them.
func (a *AnswerOptions) expression(b *queryBody) string {
	const option = "Semantic.Answers"
	var settings []string
	if a.Count < 0 {
		b.problemf(option+".Count", "%d is not a number of answers", a.Count)
	} else if a.Count > 0 {
		settings = append(settings, "count-"+strconv.Itoa(a.Count))
	}
	if a.Threshold != nil {
		if t := *a.Threshold; !(t >= 0 && t <= 1) { // true for NaN, too
			b.problemf(option+".Threshold", "%v is not from 0 to 1", t)
		}
		settings = append(settings, "threshold-"+strconv.FormatFloat(*a.Threshold, 'f', -1, 64))
	}
	return extractive(settings, passageLength(b, option+".MaxLength", a.MaxLength))
}

// expression returns the options as the service reads them.
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
