package analysis

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The expectation combines UAX #29 with Lucene's rules: most scripts follow the annex, each ideograph and hiragana is
// a token, a run of Thai is one token.
func TestStandardAnalyzerCutsAtWordBoundaries(t *testing.T) {
	a := analyzer(t, "standard.lucene")
	for text, want := range map[string]string{
		"":                         "",
		" -- !? ":                  "",
		"One's <two/>":             "one's@0[0-5] two@1[7-10]",
		"The quick fox":            "the@0[0-3] quick@1[4-9] fox@2[10-13]",
		"foo_bar __ _x y_":         "foo_bar@0[0-7] _x@1[11-13] y_@2[14-16]",
		"___":                      "",
		"3.14 1,000 1;2 3:4 1'2":   "3.14@0[0-4] 1,000@1[5-10] 1;2@2[11-14] 3@3[15-16] 4@4[17-18] 1'2@5[19-22]",
		"a.b a,b a:b a;b x' 'y":    "a.b@0[0-3] a@1[4-5] b@2[6-7] a:b@3[8-11] a@4[12-13] b@5[14-15] x@6[16-17] y@7[20-21]",
		"U.S.A. end.":              "u.s.a@0[0-5] end@1[7-10]",
		"R2D2 C3PO 4x4":            "r2d2@0[0-4] c3po@1[5-9] 4x4@2[10-13]",
		"wi-fi e-mail@x.org":       "wi@0[0-2] fi@1[3-5] e@2[6-7] mail@3[8-12] x.org@4[13-18]",
		"a\u200bb":                 "a@0[0-1] b@1[4-5]",
		"500's":                    "500@0[0-3] s@1[4-5]",
		"Zürich ÀÉ":                "zürich@0[0-7] àé@1[8-12]",
		"cafe\u0301 x":             "cafe\u0301@0[0-6] x@1[7-8]",
		"מנכ\"ל ג'":                "מנכ\"ל@0[0-9] ג'@1[10-13]",
		"カタカナ ひら 漢字":               "カタカナ@0[0-12] ひ@1[13-16] ら@2[16-19] 漢@3[20-23] 字@4[23-26]",
		"カaカ":                      "カ@0[0-3] a@1[3-4] カ@2[4-7]",
		"한국어 abc한":                 "한국어@0[0-9] abc한@1[10-16]",
		"ภาษาไทย ok":               "ภาษาไทย@0[0-21] ok@1[22-24]",
		"can\u2019t \u0661\u0662":  "can\u2019t@0[0-7] \u0661\u0662@1[8-12]",
		"a\u200db x\u00adsoft":     "a\u200db@0[0-5] x\u00adsoft@1[6-13]",
		"😀 smile😀":                 "smile@0[5-10]",
		"\xff\xfea\xff":            "a@0[2-3]",
		"İstanbul ΣΊΣΥΦΟΣ":         "istanbul@0[0-9] σίσυφοσ@1[10-24]",
		strings.Repeat("a", 256):   strings.Repeat("a", 255) + "@0[0-255] a@1[255-256]",
		strings.Repeat("𝒂", 128):   strings.Repeat("𝒂", 127) + "@0[0-508] 𝒂@1[508-512]",
		strings.Repeat("a.", 128):  strings.Repeat("a.", 127) + "a@0[0-255]",
		strings.Repeat("ab.", 100): strings.Repeat("ab.", 84) + "ab@0[0-254] " + strings.Repeat("ab.", 14) + "ab@1[255-299]",
	} {
		assert.Equal(t, want, showAll(a.Analyze(text)), "%q", text)
	}
}

func TestPlainAnalyzersDoWhatTheyAreCalled(t *testing.T) {
	for name, c := range map[string][2]string{
		"standardasciifolding.lucene": {"Crème ﬁn Straße Æon", "creme@0 fin@1 strasse@2 aeon@3"},
		"keyword":                     {"New York ", "New York @0"},
		"pattern":                     {"Foo-bar, BAZ_1 ", "foo@0 bar@1 baz_1@2"},
		"simple":                      {"R2D2's Éa", "r@0 d@1 s@2 éa@3"},
		"stop":                        {"The quick fox is not it", "quick@1 fox@2"},
		"whitespace":                  {"One's\t<Two/>\u00a0x y\u2003z", "One's@0 <Two/>\u00a0x@1 y@2 z@3"},
	} {
		assert.Equal(t, c[1], show(analyzer(t, name).Analyze(c[0])), name)
	}
	assert.Empty(t, analyzer(t, "keyword").Analyze(""))
}

// The words come from tests and documentation of Lucene's analyzers. They reveal a different order of the chain or
// another stemmer.
func TestLanguageAnalyzersAreLucenes(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		// The 33 stop words are Lucene's, not Snowball's 174: "very" and "have" stay.
		{"en", "The hotels' guests have very good books", "hotel@1 guest@2 have@3 veri@4 good@5 book@6"},
		{"en", "steven's running ponies relational conditional", "steven@0 run@1 poni@2 relat@3 condit@4"},
		{"en", "steven\u2019s STEVEN\uff07S", "steven@0 steven@1"},
		{"en", "as is", ""},
		{"fr", "l'avion C'est la maison des habitables", "avion@0 maison@3 habitabl@5"},
		{"fr", "Jusqu'au 33Bis lances chismes habitable chiste éléments captifs", "33bi@1 lanc@2 chism@3 habitabl@4 chist@5 element@6 captif@7"},
		{"de", "Tisch Tische Tischen Schaltflächen weiß der", "tisch@0 tisch@1 tisch@2 schaltflach@3 weiss@4"},
		{"es", "chicana chicano los hoteles", "chican@0 chican@1 hotel@3"},
		{"it", "dell'Italia abbandonata gli amici", "ital@0 abbandonat@1 amici@3"},
		{"pt-PT", "quilométricas quilométricos os hotéis", "quilometric@0 quilometric@1 hotel@3"},
		{"nl", "lichaamsziek gebouw de kind", "lichaamsziek@0 gebouw@1 kinder@3"},
		{"ru", "Вместе с тем о силе электромагнитной энергии имели представление еще", "вмест@0 сил@4 электромагнитн@5 энерг@6 имел@7 представлен@8"},
		{"da", "undersøg undersøgelse på", "undersøg@0 undersøg@1"},
		{"sv", "jaktkarlarne jaktkarlens och", "jaktkarl@0 jaktkarl@1"},
		{"no", "havnedistriktene havnedistrikter det", "havnedistrikt@0 havnedistrikt@1"},
		{"fi", "edeltäjiinsä edeltäjistään olla", "edeltäj@0 edeltäj@1"},
		{"hu", "babakocsi babakocsijáért van", "babakocs@0 babakocs@1"},
		{"ro", "absenţa absenţi este", "absenţ@0 absenţ@1"},
		{"tr", "ağacı ağaç Türkiye'de IRMAK dolayı", "ağaç@0 ağaç@1 türki@2 ırmak@3"},
		{"ar", "كبير كبيرة \u0661\u0662 الذي", "كبير@0 كبير@1 12@2"},
		{"fa", "می\u200cخورد کتاب", "خورد@1 كتاب@2"},
		{"hi", "हिन्दी हिंदी", "हिंद@0 हिंद@1"},
		{"ga", "siopadóireacht síceapatacha b'fhearr m'athair nAthair", "siopadóir@0 síceapaite@1 fearr@2 athair@3 athair@4"},
		{"pl", "studenta studenci", "student@0 student@1"},
	} {
		assert.Equal(t, c.want, show(analyzer(t, c.language+".lucene").Analyze(c.text)), "%s: %s", c.language, c.text)
	}
}

func TestNormalizersKeepTheValueWhole(t *testing.T) {
	for name, want := range map[string]string{
		"asciifolding": "L'Ete A CÔTÉ",
		"elision":      "Été à CÔTÉ",
		"lowercase":    "l'été à côté",
		"standard":     "l'ete a cote",
		"uppercase":    "L'ÉTÉ À CÔTÉ",
	} {
		n, err := builtIn.Normalizer(name)
		if assert.NoError(t, err) {
			if name == "asciifolding" {
				want = "L'Ete a COTE"
			}
			assert.Equal(t, want, n.Normalize("L'Été à CÔTÉ"), name)
			assert.Empty(t, n.Normalize(""), name)
		}
	}
}

// Goroutines share each analyzer and the caches of its stemmer.
func TestAnalyzersConcurrentSafe(t *testing.T) {
	var wg sync.WaitGroup
	for _, name := range Analyzers() {
		a := analyzer(t, name)
		want := showAll(a.Analyze(hotelText))
		for range 4 {
			wg.Go(func() {
				for range 5 {
					assert.Equal(t, want, showAll(a.Analyze(hotelText)), name)
				}
			})
		}
	}
	wg.Wait()
}
