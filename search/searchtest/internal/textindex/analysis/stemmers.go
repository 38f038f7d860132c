package analysis

import (
	"fmt"
	"strings"

	"github.com/blevesearch/go-porterstemmer"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/languages"
)

// porterStem is the stemmer of Porter's paper with the two changes of his own program, as in Lucene.
var porterStem = remembered(func(text string) string {
	if len(text) <= 2 {
		return text
	}
	return string(porterstemmer.StemWithoutLowerCasing([]rune(text)))
})

// snowballStemmers are the Snowball stemmers by the names of the service. A nil function means that the stemmer is
// not available.
var snowballStemmers = map[string]func(string) string{
	"armenian": nil, "basque": nil, "catalan": nil,
	"danish": remembered(snowball(danish.Stem)), "dutch": remembered(snowball(dutch.Stem)),
	"english": remembered(snowball(english.Stem)), "finnish": remembered(snowball(finnish.Stem)),
	"french": remembered(snowball(french.Stem)), "german": remembered(snowball(german.Stem)), "german2": nil,
	"hungarian": remembered(snowball(hungarian.Stem)), "italian": remembered(snowball(italian.Stem)),
	"kp": nil, "lovins": nil,
	"norwegian": remembered(snowball(norwegian.Stem)), "porter": remembered(snowball(porter.Stem)),
	"portuguese": remembered(snowball(portuguese.Stem)), "romanian": remembered(snowball(romanian.Stem)),
	"russian": remembered(snowball(russian.Stem)), "spanish": remembered(snowball(spanish.Stem)),
	"swedish": remembered(snowball(swedish.Stem)), "turkish": remembered(snowball(turkish.Stem)),
}

var (
	irishStem       = remembered(snowball(irish.Stem))
	arabicStem      = remembered(languages.StemArabic)
	soraniStem      = remembered(languages.StemSorani)
	hindiStem       = remembered(languages.StemHindi)
	lightFrench     = remembered(languages.LightFrench)
	minimalFrench   = remembered(languages.MinimalFrench)
	lightGerman     = remembered(languages.LightGerman)
	lightItalian    = remembered(languages.LightItalian)
	lightPortuguese = remembered(languages.LightPortuguese)
	lightSpanish    = remembered(languages.LightSpanish)
)

// languageStemmers are the stemmers of the stemmer filter by the names of the service. A nil function means that the
// stemmer is not available.
var languageStemmers = map[string]func(string) string{
	"arabic": arabicStem, "armenian": nil, "basque": nil, "brazilian": nil, "bulgarian": nil, "catalan": nil, "czech": nil,
	"danish": snowballStemmers["danish"], "dutch": snowballStemmers["dutch"], "dutchkp": nil,
	"english": porterStem, "lightenglish": nil, "minimalenglish": minimalEnglish, "possessiveenglish": cutPossessive,
	"porter2": snowballStemmers["english"], "lovins": nil,
	"finnish": snowballStemmers["finnish"], "lightfinnish": nil,
	"french": snowballStemmers["french"], "lightfrench": lightFrench, "minimalfrench": minimalFrench,
	"galician": nil, "minimalgalician": nil,
	"german": snowballStemmers["german"], "german2": nil, "lightgerman": lightGerman, "minimalgerman": nil,
	"greek": nil, "hindi": hindiStem, "hungarian": snowballStemmers["hungarian"], "lighthungarian": nil, "indonesian": nil,
	"irish": irishStem, "italian": snowballStemmers["italian"], "lightitalian": lightItalian, "sorani": soraniStem, "latvian": nil,
	"norwegian": snowballStemmers["norwegian"], "lightnorwegian": nil, "minimalnorwegian": nil, "lightnynorsk": nil, "minimalnynorsk": nil,
	"portuguese": snowballStemmers["portuguese"], "lightportuguese": lightPortuguese, "minimalportuguese": nil, "portugueserslp": nil,
	"romanian": snowballStemmers["romanian"], "russian": snowballStemmers["russian"], "lightrussian": nil,
	"spanish": snowballStemmers["spanish"], "lightspanish": lightSpanish, "swedish": snowballStemmers["swedish"], "lightswedish": nil,
	"turkish": snowballStemmers["turkish"],
}

// minimalEnglish removes the plural.
func minimalEnglish(text string) string {
	n := len(text)
	if n < 3 || text[n-1] != 's' {
		return text
	}
	switch text[n-2] {
	case 'u', 's':
		return text
	case 'e':
		if n > 3 && text[n-3] == 'i' && text[n-4] != 'a' && text[n-4] != 'e' {
			return text[:n-3] + "y"
		}
		if text[n-3] == 'i' || text[n-3] == 'a' || text[n-3] == 'o' || text[n-3] == 'e' {
			return text
		}
	}
	return text[:n-1]
}

type stemmerFilter struct {
	Language string `json:"language"`
}

func (p *stemmerFilter) filters() ([]filter, error) {
	return stemmerNamed(languageStemmers, strings.ToLower(p.Language), p.Language)
}

type snowballFilter struct {
	Language string `json:"language"`
}

func (p *snowballFilter) filters() ([]filter, error) {
	return stemmerNamed(snowballStemmers, strings.ToLower(p.Language), p.Language)
}

func stemmerNamed(table map[string]func(string) string, key, name string) ([]filter, error) {
	stem, ok := table[key]
	if !ok {
		return nil, fmt.Errorf("there is no language '%s'", name)
	}
	if stem == nil {
		return nil, unsupportedPart("the stemmer of '" + name + "' is not available")
	}
	return []filter{stemmer(stem)}, nil
}
