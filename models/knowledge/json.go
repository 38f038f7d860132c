package knowledge

// The methods of every object: see package object.

import (
	"fmt"
	"log/slog"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// MarshalJSON implements json.Marshaler.
func (x SearchIndex) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SearchIndex) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x FieldReference) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *FieldReference) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x AzureBlob) MarshalJSON() ([]byte, error) {
	x.AdditionalProperties = object.NullIfEmpty(x.AdditionalProperties, "connectionString", x.ConnectionString)
	return object.Encode(x)
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *AzureBlob) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x AzureBlob) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x AzureBlob) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x OneLake) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *OneLake) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x OneLake) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x OneLake) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x Web) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Web) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x WebDomains) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *WebDomains) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x WebDomain) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *WebDomain) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SharePoint) MarshalJSON() ([]byte, error) {
	x.AdditionalProperties = object.NullIfEmpty(x.AdditionalProperties, "connectionString", x.ConnectionString)
	return object.Encode(x)
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *SharePoint) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x SharePoint) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x SharePoint) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x SQL) MarshalJSON() ([]byte, error) {
	x.AdditionalProperties = object.NullIfEmpty(x.AdditionalProperties, "connectionString", x.ConnectionString)
	return object.Encode(x)
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *SQL) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x SQL) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x SQL) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x ContentColumn) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ContentColumn) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x EmbeddingColumn) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *EmbeddingColumn) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x File) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *File) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x File) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x File) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x Ingestion) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Ingestion) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x Ingestion) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x Ingestion) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x AIServices) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AIServices) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x AIServices) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x AIServices) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x AzureOpenAI) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AzureOpenAI) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x AzureOpenAI) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x AzureOpenAI) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x UnknownModel) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *UnknownModel) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x UnknownModel) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x UnknownModel) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x SourceStatus) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SourceStatus) UnmarshalJSON(b []byte) error {
	err := object.Decode(b, x)
	x.AdditionalProperties = object.WithoutContext(x.AdditionalProperties)
	return err
}

// MarshalJSON implements json.Marshaler.
func (x Synchronization) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Synchronization) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SynchronizationError) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SynchronizationError) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SourceStatistics) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SourceStatistics) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x FileCapacity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *FileCapacity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SourceFile) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SourceFile) UnmarshalJSON(b []byte) error {
	err := object.Decode(b, x)
	x.AdditionalProperties = object.WithoutContext(x.AdditionalProperties)
	return err
}

// MarshalJSON implements json.Marshaler.
func (x FileMetadata) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *FileMetadata) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Base) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Base) UnmarshalJSON(b []byte) error {
	err := object.Decode(b, x)
	x.AdditionalProperties = object.WithoutContext(x.AdditionalProperties)
	return err
}

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x Base) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x Base) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x SourceReference) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SourceReference) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ReasoningEffort) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ReasoningEffort) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Request) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Request) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SemanticIntent) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SemanticIntent) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x UnknownIntent) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *UnknownIntent) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SourceOptions) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SourceOptions) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Message) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Message) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x TextContent) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *TextContent) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ImageContent) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ImageContent) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Image) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Image) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x UnknownContent) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *UnknownContent) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Response) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Response) UnmarshalJSON(b []byte) error {
	err := object.Decode(b, x)
	x.AdditionalProperties = object.WithoutContext(x.AdditionalProperties)
	return err
}

// MarshalJSON implements json.Marshaler.
func (x SearchIndexActivity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SearchIndexActivity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x AzureBlobActivity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AzureBlobActivity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x OneLakeActivity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *OneLakeActivity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x WebActivity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *WebActivity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SharePointActivity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SharePointActivity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SQLActivity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SQLActivity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x FileActivity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *FileActivity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Arguments) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Arguments) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SearchIndexArguments) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SearchIndexArguments) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x WebArguments) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *WebArguments) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x QueryPlanning) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *QueryPlanning) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x AnswerSynthesis) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AnswerSynthesis) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x WebSummarization) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *WebSummarization) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ActivityModel) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ActivityModel) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x AgenticReasoning) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AgenticReasoning) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x UnknownActivity) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *UnknownActivity) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ErrorDetail) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ErrorDetail) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ErrorInfo) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ErrorInfo) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SearchIndexReference) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SearchIndexReference) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x AzureBlobReference) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AzureBlobReference) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x OneLakeReference) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *OneLakeReference) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x WebReference) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *WebReference) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SharePointReference) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SharePointReference) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SQLReference) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SQLReference) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x FileReference) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *FileReference) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x UnknownReference) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *UnknownReference) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Started) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Started) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ActivityStarted) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ActivityStarted) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x AnswerCompleted) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AnswerCompleted) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Completed) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Completed) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Failed) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Failed) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }
