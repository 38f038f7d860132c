package models

import (
	"fmt"
	"log/slog"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// What can hold secrets is printed and logged as JSON with *** in their place.

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x SearchIndex) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x SearchIndex) LogValue() slog.Value { return object.LogValue(x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x SynonymMap) LogValue() slog.Value { return object.LogValue(x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x EncryptionKey) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x EncryptionKey) LogValue() slog.Value { return object.LogValue(x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x ApplicationCredentials) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x ApplicationCredentials) LogValue() slog.Value { return object.LogValue(x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x VectorSearch) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x VectorSearch) LogValue() slog.Value { return object.LogValue(x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x Vectorizer) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x Vectorizer) LogValue() slog.Value { return object.LogValue(x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x AzureOpenAIParameters) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x AzureOpenAIParameters) LogValue() slog.Value { return object.LogValue(x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x WebAPIParameters) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x WebAPIParameters) LogValue() slog.Value { return object.LogValue(x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x AIServicesVisionParameters) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x AIServicesVisionParameters) LogValue() slog.Value { return object.LogValue(x) }

// Format prints the value as JSON with *** in place of secrets, whatever the verb.
func (x AMLParameters) Format(s fmt.State, _ rune) { object.Format(s, x) }

// LogValue implements slog.LogValuer. Secrets are ***.
func (x AMLParameters) LogValue() slog.Value { return object.LogValue(x) }
