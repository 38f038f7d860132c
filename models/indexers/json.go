package indexers

// The methods of every object: see package object.

import (
	"fmt"
	"log/slog"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// MarshalJSON implements json.Marshaler.
func (x DataSource) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *DataSource) UnmarshalJSON(b []byte) error {
	err := object.Decode(b, x)
	x.AdditionalProperties = object.WithoutContext(x.AdditionalProperties)
	return err
}

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x DataSource) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x DataSource) LogValue() slog.Value { return object.LogValue(x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x Credentials) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x Credentials) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x Container) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Container) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x HighWaterMark) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *HighWaterMark) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SQLChangeTracking) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SQLChangeTracking) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SoftDeleteColumn) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SoftDeleteColumn) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x NativeBlobSoftDelete) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *NativeBlobSoftDelete) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x UnknownPolicy) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *UnknownPolicy) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x UnknownPolicy) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x UnknownPolicy) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x Indexer) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Indexer) UnmarshalJSON(b []byte) error {
	err := object.Decode(b, x)
	x.AdditionalProperties = object.WithoutContext(x.AdditionalProperties)
	return err
}

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x Indexer) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x Indexer) LogValue() slog.Value { return object.LogValue(x) }

// MarshalJSON implements json.Marshaler.
func (x Schedule) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Schedule) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Parameters) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Parameters) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Configuration) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Configuration) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x FieldMapping) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *FieldMapping) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x MappingFunction) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *MappingFunction) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Status) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Status) UnmarshalJSON(b []byte) error {
	err := object.Decode(b, x)
	x.AdditionalProperties = object.WithoutContext(x.AdditionalProperties)
	return err
}

// MarshalJSON implements json.Marshaler.
func (x Execution) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Execution) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ItemError) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ItemError) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ItemWarning) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ItemWarning) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Limits) MarshalJSON() ([]byte, error) { return object.Encode(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Limits) UnmarshalJSON(b []byte) error { return object.Decode(b, x) }
