package analysis

import (
	"strings"
	"unicode"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/languages"
)

// The chains of Lucene's analyzers for languages.

var (
	italianArticles = strings.Fields("c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d")
	irishArticles   = strings.Fields("d m b")
)

// languageChains are the filters after the standard tokenizer, by language code.
var languageChains = map[string]func() []filter{
	"ar": func() []filter {
		return []filter{mapper(lower), mapper(foldDigits), stops("arabic"), mapper(languages.NormalizeArabic), stemmer(arabicStem)}
	},
	"da": plainChain("danish"),
	"de": func() []filter {
		return []filter{mapper(lower), stops("german"), mapper(languages.NormalizeGerman), stemmer(lightGerman)}
	},
	"en": func() []filter {
		return []filter{mapper(cutPossessive), mapper(lower), stops("english"), stemmer(porterStem)}
	},
	"es": func() []filter { return []filter{mapper(lower), stops("spanish"), stemmer(lightSpanish)} },
	"fa": func() []filter {
		return []filter{mapper(lower), mapper(foldDigits), mapper(languages.NormalizeArabic), mapper(languages.NormalizePersian), stops("persian")}
	},
	"fi": plainChain("finnish"),
	"fr": func() []filter {
		return []filter{elision(frenchArticles), mapper(lower), stops("french"), stemmer(lightFrench)}
	},
	"ga": func() []filter {
		return []filter{
			// A prefixed h, n or t with a hyphen is not a word.
			stopFilter(newWordSet([]string{"h", "n", "t"}, true)),
			elision(irishArticles), mapper(lowerIrish), stops("irish"), stemmer(irishStem),
		}
	},
	"hi": func() []filter {
		return []filter{
			mapper(lower), mapper(foldDigits), mapper(languages.NormalizeIndic), mapper(languages.NormalizeHindi), stops("hindi"), stemmer(hindiStem),
		}
	},
	"hu": plainChain("hungarian"),
	"it": func() []filter {
		return []filter{elision(italianArticles), mapper(lower), stops("italian"), stemmer(lightItalian)}
	},
	"nl": func() []filter {
		return []filter{
			mapper(lower), stops("dutch"),
			stemOverride{"fiets": "fiets", "bromfiets": "bromfiets", "ei": "eier", "kind": "kinder"},
			stemmer(snowballStemmers["dutch"]),
		}
	},
	"no": plainChain("norwegian"),
	"pl": func() []filter {
		return []filter{mapper(lower), stopFilter(newWordSet(languages.Stopwords("polish"), false)), stemmer(stemPolish)}
	},
	"pt-PT": func() []filter {
		return []filter{mapper(lower), stops("portuguese"), stemmer(lightPortuguese)}
	},
	"ro": plainChain("romanian"),
	"ru": plainChain("russian"),
	"sv": plainChain("swedish"),
	"tr": func() []filter {
		return []filter{mapper(cutApostrophe), mapper(lowerTurkish), stops("turkish"), stemmer(snowballStemmers["turkish"])}
	},
}

// stemPolish returns a word unchanged if the table has no stem for it.
var stemPolish = remembered(func(text string) string {
	if out := languages.StemPolish(text); out != "" {
		return out
	}
	return text
})

// plainChain returns Lucene's chain for a language with a Snowball stemmer and no special filters.
func plainChain(language string) func() []filter {
	return func() []filter {
		return []filter{mapper(lower), stops(language), stemmer(snowballStemmers[language])}
	}
}

func stops(language string) filter { return stopFilter(newWordSet(stopwordLists[language](), false)) }

// foldDigits converts the digits of all scripts to ASCII.
func foldDigits(text string) string {
	if isASCII(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.Is(unicode.Nd, r) {
			return r
		}
		for d := rune(0); ; d++ { // the digits of a script are consecutive, from 0
			if !unicode.Is(unicode.Nd, r-d-1) || d == 9 {
				return '0' + d
			}
		}
	}, text)
}

// lowerTurkish converts to lower case by Turkish rules: I becomes ı, and İ becomes i.
func lowerTurkish(text string) string {
	text = strings.ReplaceAll(text, "I\u0307", "i")
	return strings.ToLowerSpecial(unicode.TurkishCase, text)
}

// lowerIrish converts to lower case, and puts a hyphen after a prefixed n or t, which a capital vowel follows:
// nAthair becomes n-athair.
func lowerIrish(text string) string {
	if len(text) > 1 && (text[0] == 'n' || text[0] == 't') {
		for _, vowel := range []string{"A", "E", "I", "O", "U", "Á", "É", "Í", "Ó", "Ú"} {
			if strings.HasPrefix(text[1:], vowel) {
				return text[:1] + "-" + lower(text[1:])
			}
		}
	}
	return lower(text)
}

// zeroWidthToSpace is Lucene's char filter for Persian: it replaces a zero-width non-joiner by a space.
type zeroWidthToSpace struct{}

func (zeroWidthToSpace) apply(text string) (string, edits) {
	const nonJoiner = "\u200c"
	r := rewriter{in: text}
	for at := 0; ; {
		i := strings.Index(text[at:], nonJoiner)
		if i < 0 {
			return r.done()
		}
		r.replace(at+i, at+i+len(nonJoiner), " ")
		at += i + len(nonJoiner)
	}
}
