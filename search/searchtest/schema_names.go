package searchtest

import "strings"

// Names that definitions may use without defining them.

// languageAnalyzers are the names of built-in analyzers that know a language; a
// field names them as its analyzer, never as its indexAnalyzer or
// searchAnalyzer.
var languageAnalyzers = nameSet(`
ar.lucene ar.microsoft bg.lucene bg.microsoft bn.microsoft ca.lucene ca.microsoft cs.lucene cs.microsoft da.lucene da.microsoft
de.lucene de.microsoft el.lucene el.microsoft en.lucene en.microsoft es.lucene es.microsoft et.microsoft eu.lucene fa.lucene
fi.lucene fi.microsoft fr.lucene fr.microsoft ga.lucene gl.lucene gu.microsoft he.microsoft hi.lucene hi.microsoft hr.microsoft
hu.lucene hu.microsoft hy.lucene id.lucene id.microsoft is.microsoft it.lucene it.microsoft ja.lucene ja.microsoft kn.microsoft
ko.lucene ko.microsoft lt.microsoft lv.lucene lv.microsoft ml.microsoft mr.microsoft ms.microsoft nb.microsoft nl.lucene
nl.microsoft no.lucene pa.microsoft pl.lucene pl.microsoft pt-BR.lucene pt-BR.microsoft pt-PT.lucene pt-PT.microsoft ro.lucene
ro.microsoft ru.lucene ru.microsoft sk.microsoft sl.microsoft sr-cyrillic.microsoft sr-latin.microsoft sv.lucene sv.microsoft
ta.microsoft te.microsoft th.lucene th.microsoft tr.lucene tr.microsoft uk.microsoft ur.microsoft vi.microsoft zh-Hans.lucene zh-Hans.microsoft zh-Hant.lucene zh-Hant.microsoft
`)

var plainAnalyzers = nameSet(`
standard.lucene standardasciifolding.lucene keyword pattern simple stop whitespace
`)

var builtInTokenizers = nameSet(`
classic edgeNGram keyword_v2 letter lowercase microsoft_language_tokenizer microsoft_language_stemming_tokenizer nGram
path_hierarchy_v2 pattern standard_v2 uax_url_email whitespace
`)

var builtInTokenFilters = nameSet(`
arabic_normalization apostrophe asciifolding cjk_bigram cjk_width classic common_grams edgeNGram_v2 elision german_normalization
hindi_normalization indic_normalization keyword_repeat kstem length limit lowercase nGram_v2 persian_normalization phonetic
porter_stem reverse scandinavian_normalization scandinavian_folding shingle snowball sorani_normalization stemmer stopwords trim
truncate unique uppercase word_delimiter
`)

var builtInCharFilters = nameSet("html_strip")

var builtInNormalizers = nameSet("asciifolding elision lowercase standard uppercase")

// normalizerTokenFilters and normalizerCharFilters are the built-in components
// that work on a whole value, which is all that a normalizer has.
var normalizerTokenFilters = nameSet(`
arabic_normalization asciifolding cjk_width elision german_normalization hindi_normalization indic_normalization lowercase
persian_normalization scandinavian_folding scandinavian_normalization sorani_normalization trim uppercase
`)

var microsoftLanguages = strings.Fields(`
bangla bulgarian catalan chineseSimplified chineseTraditional croatian czech danish dutch english french german greek gujarati
hindi icelandic indonesian italian japanese kannada korean malay malayalam marathi norwegianBokmaal polish portuguese
portugueseBrazilian punjabi romanian russian serbianCyrillic serbianLatin slovenian spanish swedish tamil telugu thai ukrainian
urdu vietnamese
`)

var microsoftStemmingLanguages = strings.Fields(`
arabic bangla bulgarian catalan croatian czech danish dutch english estonian finnish french german greek gujarati hebrew hindi
hungarian icelandic indonesian italian kannada latvian lithuanian malay malayalam marathi norwegianBokmaal polish portuguese
portugueseBrazilian punjabi romanian russian serbianCyrillic serbianLatin slovak slovenian spanish swedish tamil telugu turkish
ukrainian urdu
`)

var snowballLanguages = strings.Fields(`
armenian basque catalan danish dutch english finnish french german german2 hungarian italian kp lovins norwegian porter portuguese
romanian russian spanish swedish turkish
`)

var stemmerLanguages = strings.Fields(`
arabic armenian basque brazilian bulgarian catalan czech danish dutch dutchKp english lightEnglish minimalEnglish
possessiveEnglish porter2 lovins finnish lightFinnish french lightFrench minimalFrench galician minimalGalician german german2
lightGerman minimalGerman greek hindi hungarian lightHungarian indonesian irish italian lightItalian sorani latvian norwegian
lightNorwegian minimalNorwegian lightNynorsk minimalNynorsk portuguese lightPortuguese minimalPortuguese portugueseRslp romanian
russian lightRussian spanish lightSpanish swedish lightSwedish turkish
`)

var stopwordsLists = strings.Fields(`
arabic armenian basque brazilian bulgarian catalan czech danish dutch english finnish french galician german greek hindi hungarian
indonesian irish italian latvian norwegian persian portuguese romanian russian sorani spanish swedish thai turkish
`)

func nameSet(names string) map[string]bool {
	set := make(map[string]bool)
	for _, name := range strings.Fields(names) {
		set[name] = true
	}
	return set
}
