package schema

import "strings"

// normalizerTokenFilters are the built-in token filters that work on a whole value, which are
// the only ones for a normalizer. No built-in character filter works on a whole value.
// Package analysis, in internal/textindex/analysis, has the names of all components.
var normalizerTokenFilters = strings.Fields(`
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
