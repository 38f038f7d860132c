package definitions

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Secret is a value that is replaced by a placeholder.
type Secret struct {
	Path     string // such as credentials.connectionString, in the form of search.DiffDefinition; "" if read from a file
	Variable string // name in the placeholder ${VARIABLE}
}

var (
	placeholder = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)
	notInNames  = regexp.MustCompile(`[^A-Z0-9]+`)
)

// hide replaces secrets by placeholders, also those that the service returns as null. taken counts the uses of each
// variable name in the set, so that names stay unique.
func (d *Definition) hide(taken map[string]int) {
	d.JSON = indented(rewrite(d.JSON, nil, false, func(path []string, value []byte, below bool) []byte {
		if !secret(path[len(path)-1], value, below) {
			return value
		}
		s := Secret{Path: strings.Join(path, "."), Variable: strings.Trim(notInNames.ReplaceAllString(strings.ToUpper(strings.Join(append([]string{d.Kind.Folder, d.Name}, path...), "_")), "_"), "_")}
		taken[s.Variable]++
		if n := taken[s.Variable]; n > 1 {
			s.Variable += "_" + strconv.Itoa(n)
		}
		d.Secrets = append(d.Secrets, s)
		return []byte(`"${` + s.Variable + `}"`)
	}))
}

// secret reports whether a JSON string or null with this name is a secret, or stands for one. below means that it is in
// an object or list of secrets.
func secret(name string, value []byte, below bool) bool {
	if string(value) == "null" {
		return strings.HasSuffix(strings.ToLower(name), "connectionstring")
	}
	text, is := wire.Unquote(value)
	if !is || text == "" {
		return false
	}
	if wire.Address(name) && !below {
		u, err := url.Parse(text)
		return err != nil || u.RawQuery != "" || u.User != nil
	}
	return below || wire.Secret(name) || wire.Text(text) != text
}

// HasSecret reports whether the definition has a secret, as a placeholder or literally. The service returns no secrets,
// so they cannot be compared.
func (d *Definition) HasSecret() bool {
	found := len(d.Secrets) > 0
	rewrite(d.JSON, nil, false, func(path []string, value []byte, below bool) []byte {
		text, is := wire.Unquote(value)
		found = found || is && text != "<unchanged>" && text != "<redacted>" && secret(path[len(path)-1], value, below) // these two stand for none
		return value
	})
	return found
}

// Expand returns the definition with its placeholders replaced by the values of lookup. The error lists all
// variables without a value. A placeholder must be the whole string: in "a${B}" nothing is replaced.
func (d *Definition) Expand(lookup func(variable string) (value string, ok bool)) (json.RawMessage, error) {
	var missing []string
	content := rewrite(d.JSON, nil, false, func(_ []string, value []byte, _ bool) []byte {
		text, _ := wire.Unquote(value)
		found := placeholder.FindStringSubmatch(text)
		if found == nil {
			return value
		}
		text, ok := lookup(found[1])
		if !ok {
			missing = append(missing, found[1])
			return value
		}
		quoted, _ := json.Marshal(text) // a string always marshals
		return quoted
	})
	if missing != nil {
		return nil, fmt.Errorf("%s: no value for %s; set these environment variables", d, strings.Join(missing, ", "))
	}
	return content, nil
}

// anonymous returns the definition with one text for all placeholders.
func (d *Definition) anonymous() []byte {
	return rewrite(d.JSON, nil, false, func(_ []string, value []byte, _ bool) []byte {
		if text, _ := wire.Unquote(value); placeholder.MatchString(text) {
			return []byte(`"${}"`)
		}
		return value
	})
}

// rewrite returns JSON in which the result of visit replaces each string and null. In path an array element has the
// name of its member "name", or its index. below is true in members whose names are those of secrets.
func rewrite(b []byte, path []string, below bool, visit func(path []string, value []byte, below bool) []byte) []byte {
	if len(b) == 0 {
		return b
	}
	switch b[0] {
	case '"', 'n':
		return visit(path, b, below)
	case '{':
		out := []byte{'{'}
		_ = wire.EachMember(b, func(quoted, value []byte) bool { // b is JSON
			if len(out) > 1 {
				out = append(out, ',')
			}
			name, _ := wire.Unquote(quoted)
			out = append(append(append(out, quoted...), ':'), rewrite(value, append(path[:len(path):len(path)], name), below || wire.SecretObject(name) || value[0] != '"' && wire.SecretWithin(name), visit)...)
			return true
		})
		return append(out, '}')
	case '[':
		var elements []json.RawMessage
		_ = json.Unmarshal(b, &elements) // b is JSON
		out := []byte{'['}
		for i, e := range elements {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, rewrite(e, append(path[:len(path):len(path)], elementName(e, i)), below, visit)...)
		}
		return append(out, ']')
	}
	return b
}

// elementName returns the member "name" of an array element, or its index.
func elementName(element json.RawMessage, i int) string {
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(element, &named) == nil && named.Name != "" {
		return named.Name
	}
	return strconv.Itoa(i)
}
