package query

import (
	"cmp"
	"math"
	"net/http"
	"slices"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// semanticHit is the semantic ranking of a document.
type semanticHit struct {
	row     odata.Row
	summary *summary
	score   float64
	boosted float64 // score multiplied by the functions of the scoring profile
	caption passage
}

// semanticAnswer is a passage that answers the query.
type semanticAnswer struct {
	hit   *semanticHit
	text  passage
	score float64
}

// Scores are rounded to multiples of 1/4096, and those of answers, as recorded, of 1/1000.
// Rounding hides the different sums of different processors.
const (
	scoreScale  = 4096
	answerScale = 1000
)

// mostReranked returns the number of results to rank semantically, 0 without ranking.
func (r *running) mostReranked() int64 {
	if !r.ranks() {
		return 0
	}
	return mostReranked
}

// boosts reports whether results have a second score, boosted by the functions of the scoring
// profile.
func (p *searchPlan) boosts() bool {
	return p.profile != nil && len(p.profile.functions) > 0 && p.args.version.Has(apiversion.RankingOrder)
}

// rerank sorts rows, the best results of the search, by semantic ranking, and adds the scores,
// captions and answers to out.
//
// A word of the query weighs 1 if all of the documents have it, and up to 2 the fewer of
// them have it. The score is the share that a document has of the weight of all words, times
// 3 to 4: 3 plus half the share of its title plus half the share of its best sentence.
func (r *running) rerank(rows []odata.Row, out *found) {
	hits := make([]semanticHit, len(rows))
	documents := make([]int, r.semantic.words) // number of documents with each word
	for i, row := range rows {
		s := r.semantic.summarize(row.Document)
		hits[i] = semanticHit{row: row, summary: s}
		for word := range s.found.words {
			documents[word]++
		}
	}
	total := 0.0
	worths := make([]float64, len(documents))
	for word, n := range documents {
		worths[word] = 2 - float64(n)/float64(len(rows))
		total += worths[word]
	}
	share := func(set wordSet) float64 {
		sum := 0.0
		for word := range set.words {
			sum += worths[word]
		}
		if sum == 0 {
			return 0
		}
		return sum / total
	}
	for i := range hits {
		r.score(&hits[i], share)
	}
	order := func(h *semanticHit) float64 { return h.score }
	if r.boosts() && r.semantic.configuration.Str("rankingOrder") != "RerankerScore" {
		order = func(h *semanticHit) float64 { return h.boosted }
	}
	slices.SortStableFunc(hits, func(a, b semanticHit) int { return cmp.Compare(order(&b), order(&a)) })
	for i := range hits {
		rows[i] = hits[i].row
	}
	out.ranked, out.answers = hits, r.answer(hits, share)
}

// score computes the score of a document and selects its caption.
func (r *running) score(h *semanticHit, share func(wordSet) float64) {
	s := h.summary
	sentence := 0.0
	for _, p := range s.sentences {
		sentence = max(sentence, share(foundIn(s.in(p))))
	}
	h.score = math.Round(scoreScale*share(s.found)*(3+share(s.title)/2+sentence/2)) / scoreScale
	if r.boosts() {
		h.boosted = h.score * r.profile.boost(h.row.Document)
	}
	if o := r.semantic.captions; o != nil {
		h.caption = s.best(o.characters, share)
	}
}

// answer selects the answers: the best passage of each document whose share of the words
// reaches the threshold. Only a question has answers.
func (r *running) answer(hits []semanticHit, share func(wordSet) float64) []semanticAnswer {
	o := r.semantic.answers
	if o == nil || !r.semantic.asks || r.semantic.failure != "" {
		return nil
	}
	var answers []semanticAnswer
	for i := range hits {
		h := &hits[i]
		text := h.summary.best(o.characters, share)
		if score := math.Round(answerScale*share(foundIn(h.summary.in(text)))) / answerScale; score > 0 && score >= o.threshold {
			answers = append(answers, semanticAnswer{h, text, score})
		}
	}
	slices.SortStableFunc(answers, func(a, b semanticAnswer) int { return cmp.Compare(b.score, a.score) })
	return answers[:min(len(answers), o.count)]
}

// appendAnswers appends the answers. Recorded: semantic queries without the parameter answers
// get an empty list.
func (p *searchPlan) appendAnswers(dst []byte, answers []semanticAnswer) []byte {
	if p.semantic == nil {
		return dst
	}
	dst = append(dst, `"@search.answers":[`...)
	for i, a := range answers {
		if i > 0 {
			dst = append(dst, ',')
		}
		key, _ := stored.FindValue(a.hit.row.Document, p.sc.Key.Ordinal)
		dst = append(dst, `{"key":`...)
		dst = reply.AppendString(dst, key)
		dst = append(dst, ',')
		dst = p.appendPassage(dst, a.hit.summary, a.text, false)
		dst = append(dst, `,"score":`...)
		dst = appendSingle(dst, a.score, 64)
		dst = append(dst, '}')
	}
	return append(dst, "],"...)
}

// status returns the status of the reply.
func (p *searchPlan) status() int {
	if p.semantic != nil && p.semantic.failure != "" {
		return http.StatusPartialContent
	}
	return http.StatusOK
}

// appendPartial appends the reason for which the ranking failed, and which results the reply
// has instead. The values begin with a capital letter, as in the service's documentation and
// in replies from users. The specification has lower case.
func (p *searchPlan) appendPartial(dst []byte) []byte {
	if p.semantic == nil {
		return dst
	}
	reason, kind := "Transient", "BaseResults"
	switch p.semantic.failure {
	case "":
		return dst
	case capacityOverloaded:
		reason = "CapacityOverloaded"
	case maxWaitExceeded:
		reason = "MaxWaitExceeded"
	case transientAnswers:
		kind = "RerankedResults"
	}
	return append(dst, `"@search.semanticPartialResponseReason":"`+reason+`","@search.semanticPartialResponseType":"`+kind+`",`...)
}

// appendRanking appends the scores of a document and its caption.
func (p *searchPlan) appendRanking(dst []byte, h *semanticHit) []byte {
	dst = append(dst, `,"@search.rerankerScore":`...)
	dst = appendSingle(dst, h.score, 64)
	if p.boosts() {
		dst = append(dst, `,"@search.rerankerBoostedScore":`...)
		dst = appendSingle(dst, h.boosted, 64)
	}
	if p.semantic.captions == nil {
		return dst
	}
	dst = append(dst, `,"@search.captions":[`...)
	if h.summary.text != "" {
		dst = append(dst, '{')
		dst = p.appendPassage(dst, h.summary, h.caption, p.semantic.captions.plain || p.semantic.failure != "")
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendDebug appends the text that was read of a document, if the query has debug.
func (p *searchPlan) appendDebug(dst []byte, h *semanticHit) []byte {
	if !p.semantic.debug {
		return dst
	}
	dst = append(dst, `,"@search.documentDebugInfo":{"semantic":`...)
	dst = p.semantic.appendDebug(dst, h.summary)
	return append(dst, `,"vectors":null}`...)
}

// appendPassage appends the members of a caption or an answer. Recorded: a passage without
// highlights has an empty text for them, not the plain one.
func (p *searchPlan) appendPassage(dst []byte, s *summary, text passage, plain bool) []byte {
	marked := ""
	if !plain {
		marked = s.mark(text, p.tags)
	}
	dst = append(dst, `"text":`...)
	dst = reply.AppendString(dst, s.text[text.start:text.end])
	dst = append(dst, `,"highlights":`...)
	return reply.AppendString(dst, marked)
}
