package wire

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
)

// Hidden replaces a secret in printed and logged text.
const Hidden = "***"

// secretNames are the lower-case names of members whose values are secrets, in definitions of any api-version.
// secretEnds are the suffixes of further names, which a preview may add. "key" is a boolean in fields.
var (
	secretNames = []string{"entitiesdefinitionuri", "key", "authorization"}
	secretEnds  = []string{
		"apikey", "accountkey", "accesskey", "functionkey", "masterkey", "sharedkey", "subscriptionkey", "secret",
		"connectionstring", "password", "sastoken", "accesstoken", "bearertoken", "refreshtoken",
	}
	secretObjects = []string{"headers", "httpheaders"}
	addresses     = []string{"uri", "serverurl"}
)

// Secret reports whether a string member with this name is a secret. It ignores case, like encoding/json.
func Secret(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(secretNames, lower) || slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(lower, end) })
}

// SecretObject reports whether all values in an object with this name are secrets, as in the headers of requests.
func SecretObject(name string) bool { return slices.Contains(secretObjects, strings.ToLower(name)) }

// Address reports whether a string member with this name is a URL that may contain a key.
func Address(name string) bool { return slices.Contains(addresses, strings.ToLower(name)) }

// Redact returns JSON with Hidden in place of secrets. A URL that may contain a key in its path or query keeps only
// its host.
func Redact(b []byte) []byte {
	return appendRedacted(make([]byte, 0, len(b)), "", bytes.TrimSpace(b), false)
}

// appendRedacted appends the value of the member name. all hides every string and number in it.
func appendRedacted(dst []byte, name string, b []byte, all bool) []byte {
	switch {
	case len(b) > 0 && b[0] == '{':
		dst = append(dst, '{')
		all = all || SecretObject(name) || Secret(name)
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
	case all && len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
		return append(dst, `"`+Hidden+`"`...)
	case len(b) == 0 || b[0] != '"' || len(b) == len(`""`):
		return append(dst, b...)
	case all || Secret(name):
		return append(dst, `"`+Hidden+`"`...)
	case Address(name):
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

// hostOf returns the scheme and host of a URL, followed by Hidden for the rest.
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
