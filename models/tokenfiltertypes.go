package models

import "github.com/go-azsearch/azsearch/models/internal/object"

func (ASCIIFoldingTokenFilter) tokenFilter()           {}
func (CJKBigramTokenFilter) tokenFilter()              {}
func (CommonGramTokenFilter) tokenFilter()             {}
func (DictionaryDecompounderTokenFilter) tokenFilter() {}
func (EdgeNGramTokenFilter) tokenFilter()              {}
func (EdgeNGramTokenFilterV2) tokenFilter()            {}
func (ElisionTokenFilter) tokenFilter()                {}
func (KeepTokenFilter) tokenFilter()                   {}
func (KeywordMarkerTokenFilter) tokenFilter()          {}
func (LengthTokenFilter) tokenFilter()                 {}
func (LimitTokenFilter) tokenFilter()                  {}
func (NGramTokenFilter) tokenFilter()                  {}
func (NGramTokenFilterV2) tokenFilter()                {}
func (PatternCaptureTokenFilter) tokenFilter()         {}
func (PatternReplaceTokenFilter) tokenFilter()         {}
func (PhoneticTokenFilter) tokenFilter()               {}
func (ShingleTokenFilter) tokenFilter()                {}
func (SnowballTokenFilter) tokenFilter()               {}
func (StemmerTokenFilter) tokenFilter()                {}
func (StemmerOverrideTokenFilter) tokenFilter()        {}
func (StopwordsTokenFilter) tokenFilter()              {}
func (SynonymTokenFilter) tokenFilter()                {}
func (TruncateTokenFilter) tokenFilter()               {}
func (UniqueTokenFilter) tokenFilter()                 {}
func (WordDelimiterTokenFilter) tokenFilter()          {}

var tokenFilterTypes = []object.Type{
	component[ASCIIFoldingTokenFilter]("AsciiFoldingTokenFilter"),
	component[CJKBigramTokenFilter]("CjkBigramTokenFilter"),
	component[CommonGramTokenFilter]("CommonGramTokenFilter"),
	component[DictionaryDecompounderTokenFilter]("DictionaryDecompounderTokenFilter"),
	component[EdgeNGramTokenFilter]("EdgeNGramTokenFilter"),
	component[EdgeNGramTokenFilterV2]("EdgeNGramTokenFilterV2"),
	component[ElisionTokenFilter]("ElisionTokenFilter"),
	component[KeepTokenFilter]("KeepTokenFilter"),
	component[KeywordMarkerTokenFilter]("KeywordMarkerTokenFilter"),
	component[LengthTokenFilter]("LengthTokenFilter"),
	component[LimitTokenFilter]("LimitTokenFilter"),
	component[NGramTokenFilter]("NGramTokenFilter"),
	component[NGramTokenFilterV2]("NGramTokenFilterV2"),
	component[PatternCaptureTokenFilter]("PatternCaptureTokenFilter"),
	component[PatternReplaceTokenFilter]("PatternReplaceTokenFilter"),
	component[PhoneticTokenFilter]("PhoneticTokenFilter"),
	component[ShingleTokenFilter]("ShingleTokenFilter"),
	component[SnowballTokenFilter]("SnowballTokenFilter"),
	component[StemmerTokenFilter]("StemmerTokenFilter"),
	component[StemmerOverrideTokenFilter]("StemmerOverrideTokenFilter"),
	component[StopwordsTokenFilter]("StopwordsTokenFilter"),
	component[SynonymTokenFilter]("SynonymTokenFilter"),
	component[TruncateTokenFilter]("TruncateTokenFilter"),
	component[UniqueTokenFilter]("UniqueTokenFilter"),
	component[WordDelimiterTokenFilter]("WordDelimiterTokenFilter"),
}
