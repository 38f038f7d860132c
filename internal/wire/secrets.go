package wire

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Hidden replaces a secret in printed and logged text.
const Hidden = "***"

// secretNames are the lower-case names of members whose values are secrets, in definitions of any api-version.
// secretEnds are the suffixes of further names, which a preview or an indexer's configuration may add; - and _ in a
// name do not count. secretWords are secrets as whole names and as last words: "blobSas", not "canvas". "token" is one
// as a whole name only, because of the "filterToken" of shingles. "key" is a boolean in fields.
var (
	secretNames = []string{"entitiesdefinitionuri", "key", "authorization", "token"}
	secretEnds  = []string{
		"apikey", "accountkey", "accesskey", "functionkey", "masterkey", "sharedkey", "subscriptionkey", "secret",
		"connectionstring", "password", "sastoken", "accesstoken", "bearertoken", "refreshtoken",
		"privatekey", "authenticationkey", "functionskey", "adminkey", "signingkey", "authtoken", "apitoken", "usertoken", "idtoken", "sessiontoken",
	}
	secretWords   = []string{"sas", "pwd", "passphrase", "credential", "credentials", "bearer"}
	secretObjects = []string{"headers", "httpheaders", "credential", "credentials"}
	addresses     = []string{"uri", "serverurl"}
)

// Secret reports whether a string member with this name is a secret. It ignores case, like encoding/json.
func Secret(name string) bool {
	lower := separators.Replace(strings.ToLower(name))
	if lower == "accesscredentials" { // of an encryption key: only the secret in it is one
		return false
	}
	return slices.Contains(secretNames, lower) || slices.Contains(secretWords, lower) || SecretObject(name) ||
		slices.Contains(secretWords, strings.ToLower(lastWord(name))) ||
		slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(lower, end) })
}

var separators = strings.NewReplacer("-", "", "_", "")

// lastWord returns what follows the last upper-case letter that begins a word, or the last - or _, of a name.
func lastWord(name string) string {
	runes := []rune(name)
	for i := len(runes) - 1; i > 0; i-- {
		if runes[i-1] == '-' || runes[i-1] == '_' || unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) {
			return string(runes[i:])
		}
	}
	return name
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
			if member == "token" && bytes.Contains(b, []byte(`"startOffset"`)) {
				member = "" // the word of an analyzed text
			}
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
	case Quotes(b, "<redacted>"): // of the service, which has hidden it
		return append(dst, `"<redacted>"`...)
	case all || Secret(name):
		return append(dst, `"`+Hidden+`"`...)
	case Address(name):
		text, _ := Unquote(b)
		return append(append(append(dst, '"'), hostOf(text)...), '"')
	}
	if text, ok := Unquote(b); ok && !strings.HasPrefix(name, "@odata.") { // @odata.context is a URL with a fragment
		if shown := Text(Location(text)); shown != text {
			return append(dst, quote(shown)...)
		}
	}
	return append(dst, b...)
}

func quote(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a reader wants & as it is
	_ = e.Encode(text)     // a string always encodes
	return bytes.TrimSpace(b.Bytes())
}

// Secrets returns the values that Redact hides in JSON, decoded, and the secret parts of connection strings and URLs
// among them.
func Secrets(b []byte) (all []string) {
	collectSecrets(&all, "", bytes.TrimSpace(b), false)
	return all
}

// collectSecrets appends the secrets in the value of the member name. every means that all strings in it are some.
func collectSecrets(all *[]string, name string, b []byte, every bool) {
	every = every || SecretObject(name) || Secret(name)
	switch {
	case len(b) == 0:
	case b[0] == '{':
		_ = EachMember(b, func(quoted, value []byte) bool {
			member, _ := Unquote(quoted)
			collectSecrets(all, member, value, every)
			return true
		})
	case b[0] == '[':
		for i := Space(b, 1); i < len(b) && b[i] != ']'; {
			end := ValueEnd(b, i)
			if end < 0 {
				return
			}
			collectSecrets(all, name, b[i:end], every)
			if i = Space(b, end); i < len(b) && b[i] == ',' {
				i = Space(b, i+1)
			}
		}
	case b[0] == '"':
		text, _ := Unquote(b)
		if every || Address(name) && hostOf(text) != text || Text(Location(text)) != text {
			*all = append(*all, text)
		}
		for _, pattern := range []*regexp.Regexp{userInfo, parameter, part} {
			for _, found := range pattern.FindAllStringSubmatch(text, -1) {
				*all = append(*all, strings.TrimSuffix(strings.TrimPrefix(found[0], found[1]), "@"))
			}
		}
	}
}

var (
	anyURL   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://\S*$`)
	userInfo = regexp.MustCompile(`(://)[^/?#\s"'<>]*@`)
	// In URLs the parameters of SAS and of Azure Functions, elsewhere the parts of connection strings.
	parameter = regexp.MustCompile(`(?i)([?&](?:sig|code)=)[^&#\s"']+`)
	part      = regexp.MustCompile(`(?i)(\b(?:AccountKey|SharedAccessKey|SharedAccessSignature|ApplicationSecret|Password|Pwd)\s*=\s*)[^;"'\s][^;"']*`)
)

// Text returns text with Hidden in place of what is a secret in any text: the user info of URLs, their parameters
// sig and code, and the keys and passwords of connection strings.
func Text(text string) string {
	if strings.Contains(text, "://") {
		text = userInfo.ReplaceAllString(text, "${1}"+Hidden+"@")
	}
	if strings.Contains(text, "=") {
		text = part.ReplaceAllString(parameter.ReplaceAllString(text, "${1}"+Hidden), "${1}"+Hidden)
	}
	return text
}

// Location returns a URL with Hidden for user info, query and fragment, and any other text as it is.
func Location(text string) string {
	if !anyURL.MatchString(text) {
		return text
	}
	scheme, rest, _ := strings.Cut(text, "://")
	u, err := url.Parse(text)
	if strings.Contains(rest, "@") && (err != nil || strings.Contains(u.Path, "@")) {
		return scheme + "://" + Hidden // a password may hold any character
	}
	rest, _, cut := strings.Cut(rest, "#")
	if before, _, found := strings.Cut(rest, "?"); found {
		rest, cut = before, true
	}
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		rest = Hidden + rest[at:]
	}
	if cut {
		rest += "?" + Hidden
	}
	return scheme + "://" + rest
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
