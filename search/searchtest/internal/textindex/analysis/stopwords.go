package analysis

import (
	"sort"
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/ar"
	"github.com/blevesearch/bleve/v2/analysis/lang/bg"
	"github.com/blevesearch/bleve/v2/analysis/lang/ca"
	"github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	"github.com/blevesearch/bleve/v2/analysis/lang/cs"
	"github.com/blevesearch/bleve/v2/analysis/lang/da"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/el"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/eu"
	"github.com/blevesearch/bleve/v2/analysis/lang/fa"
	"github.com/blevesearch/bleve/v2/analysis/lang/fi"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/ga"
	"github.com/blevesearch/bleve/v2/analysis/lang/gl"
	"github.com/blevesearch/bleve/v2/analysis/lang/hi"
	"github.com/blevesearch/bleve/v2/analysis/lang/hu"
	"github.com/blevesearch/bleve/v2/analysis/lang/hy"
	"github.com/blevesearch/bleve/v2/analysis/lang/id"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/nl"
	"github.com/blevesearch/bleve/v2/analysis/lang/no"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/bleve/v2/analysis/lang/ro"
	"github.com/blevesearch/bleve/v2/analysis/lang/ru"
	"github.com/blevesearch/bleve/v2/analysis/lang/sv"
	"github.com/blevesearch/bleve/v2/analysis/lang/tr"
)

// englishStopWords are those of Lucene; bleve has the longer list of Snowball.
var englishStopWords = strings.Fields(`
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with
`)

// stopwordLists are the lists of the service by their names in lower case. One
// without a function is not available.
var stopwordLists = map[string]func() []string{
	"arabic": list(ar.ArabicStopWords), "armenian": list(hy.ArmenianStopWords), "basque": list(eu.BasqueStopWords),
	"brazilian": nil, "bulgarian": list(bg.BulgarianStopWords), "catalan": list(ca.CatalanStopWords),
	"czech": list(cs.CzechStopWords), "danish": list(da.DanishStopWords), "dutch": list(nl.DutchStopWords),
	"english": func() []string { return englishStopWords }, "finnish": list(fi.FinnishStopWords), "french": list(fr.FrenchStopWords),
	"galician": list(gl.GalicianStopWords), "german": list(de.GermanStopWords), "greek": list(el.GreekStopWords),
	"hindi": list(hi.HindiStopWords), "hungarian": list(hu.HungarianStopWords), "indonesian": list(id.IndonesianStopWords),
	"irish": list(ga.IrishStopWords), "italian": list(it.ItalianStopWords), "latvian": nil, "norwegian": list(no.NorwegianStopWords),
	"persian": list(fa.PersianStopWords), "portuguese": list(pt.PortugueseStopWords), "romanian": list(ro.RomanianStopWords),
	"russian": list(ru.RussianStopWords), "sorani": list(ckb.SoraniStopWords), "spanish": list(es.SpanishStopWords),
	"swedish": list(sv.SwedishStopWords), "thai": nil, "turkish": list(tr.TurkishStopWords),
}

// list reads a list of bleve when it is first needed.
func list(text []byte) func() []string {
	return sync.OnceValue(func() []string {
		set := analysis.NewTokenMap()
		_ = set.LoadBytes(text) // reading memory cannot fail
		words := make([]string, 0, len(set))
		for w := range set {
			words = append(words, w)
		}
		sort.Strings(words)
		return words
	})
}
