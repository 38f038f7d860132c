package object

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Format prints x as JSON with *** in place of its secrets, whatever the verb.
// It is the Format of every type that can hold a secret.
func Format(s fmt.State, x any) { _, _ = s.Write(shown(x)) }

// LogValue is the LogValue of the same types.
func LogValue(x any) slog.Value { return slog.StringValue(string(shown(x))) }

func shown(x any) []byte {
	b, err := json.Marshal(x)
	if err != nil {
		return fmt.Appendf(nil, "%T(%v)", x, err)
	}
	return wire.Redact(b)
}
