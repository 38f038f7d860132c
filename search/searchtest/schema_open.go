package searchtest

import (
	"encoding/json"
	"slices"
	"strconv"
)

// secrecy is what happens to the secrets of JSON that no shape describes.
type secrecy bool

const (
	redactSecrets secrecy = false // replies say that there is one
	omitSecrets   secrecy = true  // snapshots have none
)

// secretMembers are the names of secrets where no shape says so. What has them is a
// string.
var secretMembers = []string{"apiKey", "applicationSecret", "connectionString", "key", "storageConnectionString"}

// redacted stands in replies for a secret.
const redacted = "<redacted>"

// appendOpen appends JSON as it came, but for secrets.
func appendOpen(dst []byte, value any, secrets secrecy) []byte {
	switch v := value.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendJSONString(dst, v)
	case json.Number:
		return append(dst, v...)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendOpen(dst, e, secrets)
		}
		return append(dst, ']')
	case *jsonMembers:
		return append(appendOpenMembers(append(dst, '{'), v, secrets, true), '}')
	}
	return append(dst, "null"...)
}

// appendOpenMembers appends the members of an object. first means that none is
// before them.
func appendOpenMembers(dst []byte, members *jsonMembers, secrets secrecy, first bool) []byte {
	for i, name := range members.names {
		value := members.values[i]
		if text, ok := value.(string); ok && text != "" && slices.Contains(secretMembers, name) {
			if secrets == omitSecrets {
				continue
			}
			value = redacted
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendJSONString(dst, name)
		dst = append(dst, ':')
		dst = appendOpen(dst, value, secrets)
	}
	return dst
}
