package wire

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
)

// Hidden stands for a secret in what is printed or logged.
const Hidden = "***"

// secretNames are the members whose strings are secrets, in definitions of any api-version, and
// secretEnds how further ones end, which a preview may have. "key" is a boolean in fields.
var (
	secretNames = []string{"entitiesDefinitionUri", "key"}
	secretEnds  = []string{"apikey", "accountkey", "accesskey", "secret", "connectionstring", "password", "sastoken"}
)

// secretObjects are the members whose members are: the headers of requests.
var secretObjects = []string{"headers", "httpHeaders"}

// Secret reports whether a string member of that name is a secret.
func Secret(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(secretNames, name) || slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(lower, end) })
}

// Redact returns JSON with Hidden in place of its secrets. Of an address that may
// have a key in its path or query, "uri", the host stays.
func Redact(b []byte) []byte {
	return appendRedacted(make([]byte, 0, len(b)), "", bytes.TrimSpace(b), false)
}

// appendRedacted appends the value of the member name. all hides every string.
func appendRedacted(dst []byte, name string, b []byte, all bool) []byte {
	switch {
	case len(b) > 0 && b[0] == '{':
		dst = append(dst, '{')
		all = all || slices.Contains(secretObjects, name)
		first := true
		_ = EachMember(b, func(quoted, value []byte) bool {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			member, _ := Unquote(quoted)
			dst = append(append(dst, quoted...), ':')
			dst = appendRedacted(dst, member, value, all)
			return true
		})
		return append(dst, '}')
	case len(b) > 0 && b[0] == '[':
		return appendRedactedList(dst, name, b, all)
	case len(b) == 0 || b[0] != '"' || len(b) == len(`""`):
		return append(dst, b...)
	case all || Secret(name):
		return append(dst, `"`+Hidden+`"`...)
	case name == "uri":
		text, _ := Unquote(b)
		return append(append(append(dst, '"'), hostOf(text)...), '"')
	}
	return append(dst, b...)
}

func appendRedactedList(dst []byte, name string, b []byte, all bool) []byte {
	dst = append(dst, '[')
	for i := Space(b, 1); i < len(b) && b[i] != ']'; {
		end := ValueEnd(b, i)
		if end < 0 {
			break
		}
		dst = appendRedacted(dst, name, b[i:end], all)
		if i = Space(b, end); i < len(b) && b[i] == ',' {
			dst = append(dst, ',')
			i = Space(b, i+1)
		}
	}
	return append(dst, ']')
}

// hostOf returns scheme and host of an address, and Hidden for the rest.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.ContainsAny(u.Host, `"\`) {
		return Hidden
	}
	host := u.Scheme + "://" + u.Host
	if strings.TrimSuffix(address, "/") != host {
		host += "/" + Hidden
	}
	return host
}
