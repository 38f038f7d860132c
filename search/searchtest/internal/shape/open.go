package shape

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// Secrecy is the treatment of secrets in JSON without a shape.
type Secrecy bool

// The treatments of secrets.
const (
	RedactSecrets Secrecy = false // for replies: a placeholder
	OmitSecrets   Secrecy = true  // for snapshots: left out
)

// secretMembers are the names of string members that are secrets in JSON without a shape.
var secretMembers = []string{"apiKey", "applicationSecret", "connectionString", "key", "storageConnectionString"}

// headerMembers are the names of objects whose values are secrets: headers of requests.
var headerMembers = []string{"headers", "httpHeaders"}

// Redacted is the placeholder of a secret in replies.
const Redacted = "<redacted>"

// AppendOpen appends JSON unchanged, except for secrets.
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

// AppendOpenMembers appends the members of an object. first means that no member precedes
// them.
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
		if headers, ok := value.(*Members); ok && secrets == OmitSecrets && slices.Contains(headerMembers, name) {
			dst = appendEmptied(dst, headers.Names)
		} else {
			dst = AppendOpen(dst, value, secrets)
		}
	}
	return dst
}

// appendEmptied appends an object with an empty string for each of the names.
func appendEmptied(dst []byte, names []string) []byte {
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(reply.AppendString(dst, name), `:""`...)
	}
	return append(dst, '}')
}
