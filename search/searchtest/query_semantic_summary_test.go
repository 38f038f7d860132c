package searchtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// caption returns the only caption of the only document.
func (p probe) caption(query, settings string) semanticText {
	p.Helper()
	r := p.semantic(`{"semanticQuery":` + string(reply.AppendString(nil, query)) + `,"captions":"extractive` + settings + `"}`)
	require.Len(p, r.Value, 1)
	require.Len(p, r.Value[0].Captions, 1)
	return r.Value[0].Captions[0]
}

// semanticDocument returns a document of the index articles.
func semanticDocument(title, body, notes string, tags ...string) string {
	for i, tag := range tags {
		tags[i] = string(reply.AppendString(nil, tag))
	}
	return fmt.Sprintf(`{"id":"1","title":%s,"body":%s,"notes":%s,"tags":[%s]}`,
		reply.AppendString(nil, title), reply.AppendString(nil, body), reply.AppendString(nil, notes), strings.Join(tags, ","))
}

func TestCaptionsAreMadeOfTheContent(t *testing.T) {
	for name, test := range map[string]struct{ document, text, highlights string }{
		"all of a short text":             {semanticDocument("Pool", "First. The pool is deep. Last.", "", "pool"), "First. The pool is deep. Last.", "First. The<em> pool </em>is deep. Last."},
		"two fields":                      {semanticDocument("", "A pool", "with a  pool.\nAnd more!"), "A pool. with a pool. And more!", "A<em> pool.</em> with a<em> pool.</em> And more!"},
		"a full stop that was missing":    {semanticDocument("", "", "Pretty good pool"), "Pretty good pool.", "Pretty good<em> pool.</em>"},
		"a mark that needs no full stop":  {semanticDocument("", "Is it a pool?", ""), "Is it a pool?", "Is it a<em> pool?</em>"},
		"no match":                        {semanticDocument("Pool", "Nothing here.", "", "pool"), "Nothing here.", ""},
		"the title, where that is all":    {semanticDocument("A Pool", "", "", "x"), "A Pool.", "A<em> Pool.</em>"},
		"the keywords, where that is all": {semanticDocument("", "", " ", "spa", "pool"), "spa\r\npool.", "spa\r\n<em>pool.</em>"},
		"neighbors share their marks":     {semanticDocument("", "one Pool, pools pool; none", ""), "one Pool, pools pool; none.", "one<em> Pool</em>,<em> pools pool</em>; none."},
		"the whole text":                  {semanticDocument("", "pool", ""), "pool.", "<em>pool.</em>"},
		"sentences without blanks":        {semanticDocument("", "Pool。View。", ""), "Pool。View。", "<em>Pool。</em>View。"},
		"characters of many bytes":        {semanticDocument("", "Schöner Pool für Gäste", ""), "Schöner Pool für Gäste.", "Schöner<em> Pool </em>für Gäste."},
	} {
		t.Run(name, func(t *testing.T) {
			c := semanticProbe(t, test.document).caption("pool", "")
			assert.Equal(t, semanticText{Text: test.text, Highlights: test.highlights}, c)
		})
	}
}

func TestADocumentWithoutTextHasNoCaption(t *testing.T) {
	r := semanticProbe(t, `{"id":"1","title":" ","year":1}`).semantic(`{"semanticQuery":"pool?","captions":"extractive","answers":"extractive|threshold-0"}`)
	assert.Equal(t, []semanticText{}, r.Value[0].Captions)
	assert.Empty(t, r.Answers)
	assert.Zero(t, *r.Value[0].Reranked)
}

func TestTagsAndMarksOfCaptionsCanBeChosen(t *testing.T) {
	p := semanticProbe(t, semanticDocument("", "The pool.", ""))
	r := p.semantic(`{"semanticQuery":"pool?","captions":"extractive","answers":"extractive","highlightPreTag":"[","highlightPostTag":"]"}`)
	assert.Equal(t, "The[ pool.]", r.Value[0].Captions[0].Highlights)
	assert.Equal(t, "The[ pool.]", r.Answers[0].Highlights)
	assert.Equal(t, semanticText{Text: "The pool."}, p.caption("pool", "|highlight-false"))
}

// The caption of a long text consists of the sentences with most query words.
func TestCaptionsAreTheBestPartOfALongText(t *testing.T) {
	filler := strings.Repeat("Nothing to see in here at all. ", 30)
	p := semanticProbe(t, semanticDocument("", "", filler+"A pool it is. With a sauna, too. "+filler+"The pool again. "))
	c := p.caption("pool sauna", "")
	assert.Equal(t, 99, len(strings.Fields(c.Text)), "as many sentences as fit into 100 words")
	assert.Contains(t, c.Highlights, "A<em> pool </em>it is. With a<em> sauna</em>, too.")
	assert.True(t, strings.HasSuffix(c.Text, "With a sauna, too."), "the first passage that has both words: %s", c.Text)
	assert.True(t, strings.HasPrefix(c.Text, "Nothing to see"), "the caption begins with a sentence")
}

func TestASentenceWithoutEndIsCaptionedInPieces(t *testing.T) {
	p := semanticProbe(t, semanticDocument("", strings.Repeat("word ", 250)+"pool "+strings.Repeat("more ", 250), ""))
	c := p.caption("pool", "")
	assert.Equal(t, 100, len(strings.Fields(c.Text)))
	assert.Contains(t, c.Highlights, "<em> pool </em>")
}

func TestCaptionsHaveAsManyCharactersAsWereAskedFor(t *testing.T) {
	p := semanticProbe(t, semanticDocument("", "Überall ist Wasser. Ein Pool, tief und blau. Schluss.", ""))
	for n, want := range map[int]string{
		1000: "Überall ist Wasser. Ein Pool, tief und blau. Schluss.",
		53:   "Überall ist Wasser. Ein Pool, tief und blau. Schluss.",
		34:   "Ein Pool, tief und blau. Schluss.",
		24:   "Ein Pool, tief und blau.",
		23:   "Ein Pool, tief und blau",
		22:   "Ein Pool, tief und",
		8:    "Ein Pool",
		7:    "Überall", // the first passage, because none of this length has the word
		3:    "Übe",
	} {
		assert.Equal(t, want, p.caption("pool", fmt.Sprintf("|maxcharlength-%d", n)).Text, n)
	}
	r := p.semantic(`{"semanticQuery":"pool?","captions":"extractive","answers":"extractive|maxcharlength-8"}`)
	assert.Equal(t, "Ein Pool", r.Answers[0].Text)
	assert.Contains(t, r.Value[0].Captions[0].Text, "Schluss.")
}

// The limit is that of the service's documentation.
func TestOnlySoMuchOfADocumentIsRead(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x ", n) }
	for name, test := range map[string]struct {
		document string
		found    bool
	}{
		"the end of a title":                         {semanticDocument(x(127)+"pool", "", ""), true},
		"behind the end of a title":                  {semanticDocument(x(128)+"pool", "", ""), false},
		"the end of keywords":                        {semanticDocument("", "", "", x(100), x(27)+"pool"), true},
		"behind the end of keywords":                 {semanticDocument("", "", "", x(100), x(28)+"pool"), false},
		"the end of content":                         {semanticDocument("", x(1999)+"pool", ""), true},
		"behind the end of content":                  {semanticDocument("", x(2000)+"pool", ""), false},
		"in the part that the other fields leave":    {semanticDocument(x(200), x(1000), x(743)+"pool", x(200)), true},
		"after the part that the other fields leave": {semanticDocument(x(200), x(1000), x(744)+"pool", x(200)), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := semanticProbe(t, test.document).semantic(`{"semanticQuery":"pool"}`)
			assert.Equal(t, test.found, *r.Value[0].Reranked > 0)
		})
	}
}

// For any documents and query: scores are bounded and ordered, more matching words score higher, and captions are
// parts of the read text that differ only by highlight marks.
func TestSemanticRankingKeepsItsPromises(t *testing.T) {
	word := rapid.SampledFrom([]string{"pool", "Spa", "sauna", "the", "is", "grün", "雾", "e.g.", "U.S.A.", "a,b", "(roof)", "-", "…", "deep.", "wide!", "12.5", "pool-side"})
	text := rapid.Custom(func(t *rapid.T) string {
		separator := rapid.SampledFrom([]string{" ", "  ", "\n"}).Draw(t, "separator")
		return strings.Join(rapid.SliceOfN(word, 0, 240).Draw(t, "words"), separator)
	})
	rapid.Check(t, func(r *rapid.T) {
		var documents []string
		for i := range rapid.IntRange(1, 8).Draw(r, "documents") {
			d := semanticDocument(text.Draw(r, "title"), text.Draw(r, "body"), text.Draw(r, "notes"), rapid.SliceOfN(text, 0, 2).Draw(r, "tags")...)
			documents = append(documents, strings.Replace(d, `"id":"1"`, fmt.Sprintf(`"id":"%d"`, i), 1))
		}
		p := semanticProbe(t, documents...)
		query := strings.Join(rapid.SliceOfN(word, 1, 6).Draw(r, "query"), " ") + "?"
		characters := rapid.SampledFrom([]string{"", ",maxcharlength-40", ",maxcharlength-3"}).Draw(r, "characters")
		reply := p.semantic(`{"semanticQuery":` + string(reply.AppendString(nil, query)) + `,"captions":"extractive|highlight-true` + characters + `","answers":"extractive|count-10,threshold-0"}`)
		last := 4.0
		for _, v := range reply.Value {
			require.GreaterOrEqual(t, *v.Reranked, 0.0)
			require.LessOrEqual(t, *v.Reranked, last)
			last = *v.Reranked
			for _, c := range v.Captions {
				require.NotEmpty(t, c.Text)
				require.True(t, utf8.ValidString(c.Text))
				require.Equal(t, c.Highlights == "", !strings.Contains(c.Highlights, "<em>"))
				if c.Highlights != "" {
					require.Equal(t, c.Text, strings.NewReplacer("<em>", "", "</em>", "").Replace(c.Highlights))
				}
				switch characters {
				case ",maxcharlength-40":
					require.LessOrEqual(t, utf8.RuneCountInString(c.Text), 40)
				case ",maxcharlength-3":
					require.LessOrEqual(t, utf8.RuneCountInString(c.Text), 3)
				}
			}
		}
		last = 1
		for _, a := range reply.Answers {
			require.Positive(t, a.Score)
			require.LessOrEqual(t, a.Score, last)
			last = a.Score
		}
	})
}

// Tokens of shingles can end where later tokens end, too.
func TestWordsThatOverlapAreCaptionedInPieces(t *testing.T) {
	p := probe{t, NewServer(&Options{SemanticStandIn: true})}
	require.NoError(t, p.CreateIndex(`{"name":"articles","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"body","type":"Edm.String","analyzer":"shingled"}],
		"analyzers":[{"name":"shingled","@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","tokenizer":"standard_v2","tokenFilters":["five"]}],
		"tokenFilters":[{"name":"five","@odata.type":"#Microsoft.Azure.Search.ShingleTokenFilter","maxShingleSize":5}],
		"semantic":{"defaultConfiguration":"c","configurations":[{"name":"c","prioritizedFields":{"prioritizedContentFields":[{"fieldName":"body"}]}}]}}`))
	words := make([]string, 103)
	for n := range words {
		words[n] = fmt.Sprint("w", n)
	}
	a := p.send(http.MethodPost, "/indexes('articles')/docs/search.index", `{"value":[{"id":"1","body":"`+strings.Join(words, " ")+`"}]}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	for _, settings := range []string{"", "|maxcharlength-1000000000000"} {
		c := p.caption("where is w3?", settings)
		assert.True(t, strings.HasPrefix(c.Text, "w0 w1 w2 w3 "), c.Text)
		assert.Contains(t, c.Highlights, "w3")
		assert.NotEmpty(t, p.caption("where is w102?", settings).Highlights)
	}
}

// A keyword is one whole value, not all values together.
func TestEachValueIsAnalyzedByItself(t *testing.T) {
	p := probe{t, NewServer(&Options{SemanticStandIn: true})}
	require.NoError(t, p.CreateIndex(`{"name":"articles","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"tags","type":"Collection(Edm.String)","analyzer":"keyword"}],
		"semantic":{"defaultConfiguration":"c","configurations":[{"name":"c","prioritizedFields":{"prioritizedKeywordsFields":[{"fieldName":"tags"}]}}]}}`))
	a := p.send(http.MethodPost, "/indexes('articles')/docs/search.index", `{"value":[{"id":"1","tags":["pool","view"]}]}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	assert.Equal(t, semanticText{Text: "pool\r\nview.", Highlights: "pool\r\n<em>view.</em>"}, p.caption("view", ""))
	assert.Equal(t, semanticText{Text: "pool\r\nview.", Highlights: "<em>pool</em>\r\nview."}, p.caption("pool", ""), "the end of its sentence")
}

func TestEmptyValuesAreNoText(t *testing.T) {
	r := semanticProbe(t, `{"id":"1","tags":["","  "]}`).semantic(`{"semanticQuery":"pool","captions":"extractive"}`)
	assert.Equal(t, []semanticText{}, r.Value[0].Captions)
}
