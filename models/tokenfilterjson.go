package models

import "github.com/go-azsearch/azsearch/models/internal/object"

// MarshalJSON implements json.Marshaler.
func (x ASCIIFoldingTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ASCIIFoldingTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x CJKBigramTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *CJKBigramTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x CommonGramTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *CommonGramTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x DictionaryDecompounderTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *DictionaryDecompounderTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x EdgeNGramTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *EdgeNGramTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x EdgeNGramTokenFilterV2) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *EdgeNGramTokenFilterV2) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ElisionTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ElisionTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x KeepTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *KeepTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x KeywordMarkerTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *KeywordMarkerTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x LengthTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *LengthTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x LimitTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *LimitTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x NGramTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *NGramTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x NGramTokenFilterV2) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *NGramTokenFilterV2) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x PatternCaptureTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *PatternCaptureTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x PatternReplaceTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *PatternReplaceTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x PhoneticTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *PhoneticTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ShingleTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ShingleTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SnowballTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SnowballTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x StemmerTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *StemmerTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x StemmerOverrideTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *StemmerOverrideTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x StopwordsTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *StopwordsTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SynonymTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SynonymTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x TruncateTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *TruncateTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x UniqueTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *UniqueTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x WordDelimiterTokenFilter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *WordDelimiterTokenFilter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

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
