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
// secretEnds are the suffixes of further names, which a preview or an indexer's configuration may add; a plural s and
// the separators in a name do not count. secretWords are secrets as whole names and as last words: "blobSas", not
// "canvas". "token" is one as a whole name only, because of the "filterToken" of shingles. In a field, "key" is a
// boolean.
var (
	secretNames = []string{"entitiesdefinitionuri", "key", "authorization", "token"}
	secretEnds  = []string{
		"apikey", "accountkey", "accesskey", "functionkey", "masterkey", "sharedkey", "subscriptionkey", "secret",
		"connectionstring", "password", "sastoken", "accesstoken", "bearertoken", "refreshtoken",
		"privatekey", "authenticationkey", "functionskey", "adminkey", "signingkey", "authtoken", "apitoken", "usertoken", "idtoken", "sessiontoken",
		"secretkey", "primarykey", "secondarykey", "storagekey", "sharedaccesssignature",
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
	one := strings.TrimSuffix(lower, "s")
	return slices.Contains(secretNames, lower) || slices.Contains(secretWords, lower) || SecretObject(name) ||
		slices.Contains(secretWords, strings.ToLower(lastWord(name))) ||
		slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(one, end) })
}

var separators = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")

// lastWord returns what follows the last upper-case letter that begins a word, or the last separator, of a name.
func lastWord(name string) string {
	runes := []rune(name)
	for i := len(runes) - 1; i > 0; i-- {
		if strings.ContainsRune("-_. ", runes[i-1]) || unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) {
			return string(runes[i:])
		}
	}
	return name
}

// SecretObject reports whether all values in an object with this name are secrets, as in the headers of requests.
func SecretObject(name string) bool {
	return slices.Contains(secretObjects, separators.Replace(strings.ToLower(name)))
}

// SecretWithin reports whether all values in an object or list with this name are secrets. Unlike for SecretObject, a
// string with the name need not be one, such as the "delimitedTextHeaders" of an indexer.
func SecretWithin(name string) bool {
	return Secret(name) || strings.HasSuffix(strings.ToLower(name), "headers")
}

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
		all = all || SecretWithin(name)
		first, word := true, analyzed(b)
		_ = EachMember(b, func(quoted, value []byte) bool {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			member, _ := Unquote(quoted)
			if member == "token" && word {
				member = ""
			}
			dst = append(append(dst, quoted...), ':')
			dst = appendRedacted(dst, member, value, all)
			return true
		})
		return append(dst, '}')
	case len(b) > 0 && b[0] == '[':
		return appendRedactedList(dst, name, b, all)
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') && (all || Secret(name)):
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
		if shown := printable(text); shown != text {
			return append(dst, quote(shown)...)
		}
	}
	return append(dst, b...)
}

// analyzed reports whether an object is a token of an analyzed text, so that its member "token" is a word.
func analyzed(object []byte) bool {
	offset, other := false, false
	_ = EachMember(object, func(quoted, _ []byte) bool { // anything else has no members
		name, _ := Unquote(quoted)
		offset = offset || name == "startOffset"
		other = other || !slices.Contains([]string{"token", "startOffset", "endOffset", "position"}, name)
		return true
	})
	return offset && !other
}

// printable returns a text without secrets: JSON like Redact, other texts like Text and Location.
func printable(text string) string {
	if inner := embedded(text); inner != nil {
		return string(Redact(inner))
	}
	return Text(Location(text))
}

// embedded returns the object or list that a text is, or nil.
func embedded(text string) []byte {
	b := bytes.TrimSpace([]byte(text))
	if len(b) > 0 && (b[0] == '{' || b[0] == '[') && json.Valid(b) {
		return b
	}
	return nil
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
	switch {
	case len(b) == 0:
	case b[0] == '{':
		every = every || SecretWithin(name)
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
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		if every || Secret(name) {
			*all = append(*all, string(b))
		}
	case b[0] == '"':
		text, _ := Unquote(b)
		if every || Secret(name) || Address(name) && hostOf(text) != text || printable(text) != text {
			*all = append(*all, text)
		}
		if inner := embedded(text); inner != nil {
			collectSecrets(all, "", inner, every)
			return
		}
		*all = append(*all, within(text)...)
	}
}

// within returns the secrets in a text, as they are written there and as their user may write them: without quotes, a
// password without its user, and decoded.
func within(text string) (all []string) {
	for _, pattern := range []*regexp.Regexp{parameter, part} {
		for _, found := range pattern.FindAllStringSubmatch(text, -1) {
			value := strings.TrimPrefix(found[0], found[1])
			all = append(all, value)
			if bare := strings.Trim(strings.TrimSpace(value), `"'`); bare != value {
				all = append(all, bare)
			}
		}
	}
	users := userInfo.FindAllStringSubmatch(text, -1)
	if text := strings.TrimSpace(text); anyURL.MatchString(text) {
		scheme, _, _ := strings.Cut(text, "://")
		if at := strings.LastIndexByte(text, '@'); at > len(scheme) { // a password may hold any character
			users = append(users, []string{text[len(scheme) : at+1], "://"})
		}
		if u, err := url.Parse(text); err == nil {
			for name, values := range u.Query() {
				if Secret(name) || strings.EqualFold(name, "sig") || strings.EqualFold(name, "code") {
					all = append(all, values...)
				}
			}
		}
	}
	for _, found := range users {
		info := strings.TrimSuffix(strings.TrimPrefix(found[0], found[1]), "@")
		all = append(all, info)
		if _, password, both := strings.Cut(info, ":"); both {
			all = append(all, password)
			if decoded, err := url.PathUnescape(password); err == nil && decoded != password {
				all = append(all, decoded)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var (
	anyURL   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://\S*$`)
	userInfo = regexp.MustCompile(`(://)[^/?#\s"<>]*@`)
	// In URLs the parameters with keys, elsewhere the parts of connection strings. A value that has no quotes ends at a
	// semicolon or with the line: a password may hold any other character.
	parameter = regexp.MustCompile(`(?i)((?:^|[?&])(?:sig|code|key|api-?key|subscription-key|access_token|client_secret)=)[^&#;\s"']+`)
	part      = regexp.MustCompile(`(?i)(\b(?:\w*(?:AccountKey|AccessKey|ApiKey|Secret|Password)|Account\s?Key|api-key|SharedAccessSignature|Pwd)\s*=\s*)` +
		`(?:(?:"[^"]*")+|(?:'[^']*')+|[^;\s][^;\r\n]*)`)
)

// Text returns text with Hidden in place of what is a secret in any text: the user info of URLs, their parameters
// with keys, and the keys and passwords of connection strings.
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
	if trimmed := strings.TrimSpace(text); trimmed != text && anyURL.MatchString(trimmed) {
		return Location(trimmed)
	}
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
