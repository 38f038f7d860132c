package analysis

import (
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/languages"
)

// englishStopWords is Lucene's list, which is shorter than Snowball's.
var englishStopWords = strings.Fields(`
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with
`)

// stopwordLists are the service's lists by their names in lower case. A nil function means that the list is not
// available.
var stopwordLists = map[string]func() []string{
	"arabic": list("arabic"), "armenian": list("armenian"), "basque": list("basque"),
	"brazilian": nil, "bulgarian": list("bulgarian"), "catalan": list("catalan"),
	"czech": list("czech"), "danish": list("danish"), "dutch": list("dutch"),
	"english": func() []string { return englishStopWords }, "finnish": list("finnish"), "french": list("french"),
	"galician": list("galician"), "german": list("german"), "greek": list("greek"),
	"hindi": list("hindi"), "hungarian": list("hungarian"), "indonesian": list("indonesian"),
	"irish": list("irish"), "italian": list("italian"), "latvian": nil, "norwegian": list("norwegian"),
	"persian": list("persian"), "portuguese": list("portuguese"), "romanian": list("romanian"),
	"russian": list("russian"), "sorani": list("sorani"), "spanish": list("spanish"),
	"swedish": list("swedish"), "thai": nil, "turkish": list("turkish"),
}

// list returns a function that reads the list on first use.
func list(language string) func() []string {
	return sync.OnceValue(func() []string { return languages.Stopwords(language) })
}
