package skills

// The methods of every object: see package object.

import (
	"fmt"
	"log/slog"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// MarshalJSON implements json.Marshaler.
func (x Skillset) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Skillset) UnmarshalJSON(b []byte) error {
	err := object.Decode(b, x)
	x.AdditionalProperties = object.WithoutContext(x.AdditionalProperties)
	return err
}

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x Skillset) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x Skillset) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x Input) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Input) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x Input) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x Input) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x Output) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Output) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x DefaultAccount) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *DefaultAccount) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x CognitiveServicesKey) MarshalJSON() ([]byte, error) {
	x.AdditionalProperties = object.NullIfEmpty(x.AdditionalProperties, "key", x.Key)
	return object.Encode(x)
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *CognitiveServicesKey) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x CognitiveServicesKey) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x CognitiveServicesKey) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x AIServicesKey) MarshalJSON() ([]byte, error) {
	x.AdditionalProperties = object.NullIfEmpty(x.AdditionalProperties, "key", x.Key)
	return object.Encode(x)
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *AIServicesKey) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x AIServicesKey) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x AIServicesKey) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x AIServicesIdentity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AIServicesIdentity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x UnknownAccount) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *UnknownAccount) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x UnknownAccount) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x UnknownAccount) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x IndexProjections) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *IndexProjections) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x IndexProjectionSelector) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *IndexProjectionSelector) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x IndexProjectionParameters) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *IndexProjectionParameters) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x KnowledgeStore) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x KnowledgeStore) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x Projection) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Projection) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x TableProjection) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *TableProjection) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ObjectProjection) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ObjectProjection) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x FileProjection) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *FileProjection) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Conditional) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Conditional) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Shaper) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Shaper) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Merge) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Merge) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Split) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Split) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x DocumentExtraction) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *DocumentExtraction) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x CustomEntityLookup) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *CustomEntityLookup) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x CustomEntityLookup) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x CustomEntityLookup) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x CustomEntity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *CustomEntity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x CustomEntityAlias) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *CustomEntityAlias) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x WebAPI) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *WebAPI) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x WebAPI) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x WebAPI) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x UnknownSkill) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *UnknownSkill) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x UnknownSkill) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x UnknownSkill) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x EntityLinking) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *EntityLinking) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x EntityRecognition) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *EntityRecognition) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x KeyPhraseExtraction) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *KeyPhraseExtraction) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x LanguageDetection) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *LanguageDetection) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x PIIDetection) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *PIIDetection) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Sentiment) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Sentiment) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Translation) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Translation) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x OCR) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *OCR) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ImageAnalysis) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ImageAnalysis) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x DocumentIntelligenceLayout) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *DocumentIntelligenceLayout) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x LayoutChunking) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *LayoutChunking) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ContentUnderstanding) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ContentUnderstanding) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Chunking) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Chunking) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x AzureOpenAIEmbedding) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AzureOpenAIEmbedding) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x AzureOpenAIEmbedding) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x AzureOpenAIEmbedding) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x ChatCompletion) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ChatCompletion) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x ChatCompletion) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x ChatCompletion) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x ModelParameters) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ModelParameters) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ResponseFormat) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ResponseFormat) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ResponseSchema) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ResponseSchema) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x JSONSchema) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *JSONSchema) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }
