package shape

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// Secrecy says what to do with the secrets of JSON that no shape describes.
type Secrecy bool

// The two ways.
const (
	RedactSecrets Secrecy = false // replies say that there is one
	OmitSecrets   Secrecy = true  // snapshots have none
)

// secretMembers are the names of secrets where no shape says so. What has them is a
// string.
var secretMembers = []string{"apiKey", "applicationSecret", "connectionString", "key", "storageConnectionString"}

// Redacted stands in replies for a secret.
const Redacted = "<redacted>"

// AppendOpen appends JSON as it came, but for secrets.
func AppendOpen(dst []byte, value any, secrets Secrecy) []byte {
	switch v := value.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return reply.AppendString(dst, v)
	case json.Number:
		return append(dst, v...)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendOpen(dst, e, secrets)
		}
		return append(dst, ']')
	case *Members:
		return append(AppendOpenMembers(append(dst, '{'), v, secrets, true), '}')
	}
	return append(dst, "null"...)
}

// AppendOpenMembers appends the members of an object. first means that none is
// before them.
func AppendOpenMembers(dst []byte, members *Members, secrets Secrecy, first bool) []byte {
	for i, name := range members.Names {
		value := members.Values[i]
		if text, ok := value.(string); ok && text != "" && slices.Contains(secretMembers, name) {
			if secrets == OmitSecrets {
				continue
			}
			value = Redacted
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = reply.AppendString(dst, name)
		dst = append(dst, ':')
		dst = AppendOpen(dst, value, secrets)
	}
	return dst
}
