package object

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Format implements fmt.Formatter for types that can hold a secret. It prints x as JSON with *** in place of secrets,
// for every verb.
func Format(s fmt.State, x any) { _, _ = s.Write(shown(x)) }

// String implements fmt.Stringer and fmt.GoStringer for those of these types that have a field named Format.
func String(x any) string { return string(shown(x)) }

// LogValue implements slog.LogValuer for the same types.
func LogValue(x any) slog.Value { return slog.StringValue(string(shown(x))) }

func shown(x any) []byte {
	b, err := json.Marshal(x)
	if err != nil {
		return fmt.Appendf(nil, "%T(%v)", x, err)
	}
	return wire.Redact(b)
}
