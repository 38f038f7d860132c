// Package filterhint says what is wrong with a filter that the service, or the client, has refused: its own message has
// a position or the name of a type, and not what to write instead.
package filterhint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// Of returns advice on a filter for an index with these fields, "" if there is none. Without fields, because the
// definition cannot be read, there is advice on signs only.
func Of(filter string, fields []models.SearchField) string {
	open, plain := masked(filter)
	switch {
	case open:
		return "each value has a quote at both ends, and a quote inside it is doubled, as in 'O''Brien'"
	case strings.ContainsAny(plain, "\"`“”‘’"):
		return `text stands in straight single quotes: -filter "country eq 'IT'"`
	}
	byPath := map[string]*models.SearchField{}
	paths("", fields, byPath)
	if hint := oneOf(filter, plain, byPath); hint != "" {
		return hint
	}
	if hint := part(plain, byPath); hint != "" {
		return hint
	}
	for _, x := range instead {
		if found := x.wrong.FindString(plain); found != "" {
			return fmt.Sprintf("write %s instead of %s", x.right, strings.TrimSpace(found))
		}
	}
	if len(fields) == 0 {
		return ""
	}
	return words(filter, plain, byPath)
}

// masked returns the filter with the characters of each string replaced by spaces, but with its first quote. open is
// true if the last string does not end.
func masked(filter string) (open bool, plain string) {
	b := []byte(filter)
	for i, c := range b {
		switch {
		case c == '\'':
			if open = !open; !open {
				b[i] = ' '
			}
		case open:
			b[i] = ' '
		}
	}
	return open, string(b)
}

var instead = []struct {
	wrong *regexp.Regexp
	right string
}{
	{regexp.MustCompile(`!=|<>`), "ne"},
	{regexp.MustCompile(`>=|=>`), "ge"},
	{regexp.MustCompile(`<=|=<`), "le"},
	{regexp.MustCompile(`>`), "gt"},
	{regexp.MustCompile(`<`), "lt"},
	{regexp.MustCompile(`==?`), "eq"},
	{regexp.MustCompile(`&&?`), "and"},
	{regexp.MustCompile(`\|\|?`), "or"},
	{regexp.MustCompile(`!`), "not"},
	{regexp.MustCompile(`(?i:\bis\s+not\s+null\b)`), "ne null"},
	{regexp.MustCompile(`(?i:\bis\s+null\b)`), "eq null"},
	{regexp.MustCompile(`\b(EQ|Eq)\b`), "eq"},
	{regexp.MustCompile(`\b(AND|And)\b`), "and"},
	{regexp.MustCompile(`\b(OR|Or)\b`), "or"},
	{regexp.MustCompile(`\b(NOT|Not)\b`), "not"},
	{regexp.MustCompile(`\b(NULL|Null)\b`), "null"},
	{regexp.MustCompile(`\b(TRUE|True)\b`), "true"},
	{regexp.MustCompile(`\b(FALSE|False)\b`), "false"},
}

var in = regexp.MustCompile(`(?i)([\pL_][\pL\pN_./]*)?\s+((not\s+)?in\s*\()([^()]*)`)

// oneOf returns advice on the IN of SQL. search.in is for text only.
func oneOf(filter, plain string, fields map[string]*models.SearchField) string {
	at := in.FindStringSubmatchIndex(plain)
	if at == nil {
		return ""
	}
	name, not, list := "", at[6] >= 0, filter[at[8]:at[9]]
	if at[2] >= 0 {
		name = plain[at[2]:at[3]]
	}
	var t models.DataType
	if f := fields[name]; f != nil {
		t = f.Type
	}
	right := "search.in(FIELD, 'a,b')"
	switch {
	case strings.HasPrefix(string(t), "Collection("):
		right = name + "/any(x: search.in(x, 'a,b'))"
		if t != "Collection(Edm.String)" {
			right = name + "/any(x: x eq VALUE or x eq VALUE)"
		}
	case name == "", t == models.DataTypeString, t == "" && !number.MatchString(strings.TrimSpace(list)):
	default:
		right = either(name, strings.Split(list, ","), not)
		if before, after := plain[:at[0]], strings.TrimSpace(plain[at[1]:]); strings.TrimSpace(before) != "" || after != "" && after != ")" {
			right = "(" + right + ")"
		}
		not = false
	}
	if not {
		right = "not " + right
	}
	return fmt.Sprintf("write %s instead of %s", right, plain[at[4]:at[5]])
}

var (
	like     = regexp.MustCompile(`(?i)([\pL_][\pL\pN_./]*)?\s+((?:not\s+)?like)\b`)
	contains = regexp.MustCompile(`(?i)\b((?:startswith|endswith|contains|substringof)\s*\()\s*([\pL_][\pL\pN_./]*)?`)
)

// part returns advice on a search for a part of a text, which OData has and the service lacks. search.ismatch needs a
// searchable field.
func part(plain string, fields map[string]*models.SearchField) string {
	name, found := "", ""
	if m := like.FindStringSubmatch(plain); m != nil {
		name, found = m[1], m[2]
	} else if m := contains.FindStringSubmatch(plain); m != nil {
		found, name = m[1], m[2]
	} else {
		return ""
	}
	f := fields[name]
	switch {
	case f == nil:
		name = "FIELD"
	case f.Type != models.DataTypeString && f.Type != models.Collection(models.DataTypeString):
		return fmt.Sprintf("%s is for text, and %s is %s: compare it with eq, ne, gt, ge, lt or le", found, name, f.Type)
	case f.Searchable != nil && !*f.Searchable && f.Type == models.DataTypeString:
		return fmt.Sprintf("write %s ge 'TEXT' and %[1]s lt 'TEXU' instead of %s: the field is not searchable, and this finds what begins with TEXT", name, found)
	case f.Searchable != nil && !*f.Searchable:
		return fmt.Sprintf("%s needs a searchable field, and %s is not", found, name)
	}
	return fmt.Sprintf("write search.ismatch('TEXT*', '%s') instead of %s: it finds words that begin with TEXT", name, found)
}

// either compares a field with the first of some values that need no quotes.
func either(name string, values []string, not bool) string {
	operator, join := " eq ", " or "
	if not {
		operator, join = " ne ", " and "
	}
	const shown = 3
	var parts []string
	for _, v := range values[:min(len(values), shown)] {
		parts = append(parts, name+operator+strings.Trim(v, " '"))
	}
	if len(values) > shown {
		parts = append(parts, "…")
	}
	return strings.Join(parts, join)
}

// paths collects the fields by their paths, such as address/city.
func paths(above string, fields []models.SearchField, to map[string]*models.SearchField) {
	for i := range fields {
		to[above+fields[i].Name] = &fields[i]
		paths(above+fields[i].Name+"/", fields[i].Fields, to)
	}
}

var (
	word     = regexp.MustCompile(`[\pL_][\pL\pN_./]*|'|[-+]?\pN[\pL\pN.:+-]*`)
	operator = regexp.MustCompile(`^(eq|ne|gt|ge|lt|le)$`)
	known    = regexp.MustCompile(`^(and|or|not|null|true|false|NaN|INF|any|all|in|(search|geo)\..*|geography|POINT|POLYGON)$`)
	number   = regexp.MustCompile(`^[-+]?\pN`)
	day      = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	variable = regexp.MustCompile(`([\pL_]\w*)\s*:`)
)

// words looks at each word of a filter: a name, an operator or a value.
func words(filter, plain string, fields map[string]*models.SearchField) string {
	variables := map[string]bool{}
	for _, m := range variable.FindAllStringSubmatch(plain, -1) {
		variables[m[1]] = true
	}
	var field *models.SearchField // the last one
	path, previous := "", ""
	for _, at := range word.FindAllStringIndex(plain, -1) {
		w := plain[at[0]:at[1]]
		before := previous
		previous = w
		name := strings.TrimSuffix(strings.TrimSuffix(w, "/any"), "/all")
		head, _, _ := strings.Cut(name, "/")
		switch f := fields[name]; {
		case operator.MatchString(before):
			if hint := value(path, field, w); hint != "" {
				return hint
			}
			if !known.MatchString(w) && w != "'" && !number.MatchString(w) && f == nil && !variables[head] {
				return fmt.Sprintf(`text stands in single quotes, and the shell removes those around a word: -filter "%s"`, filter[:at[0]]+"'"+w+"'"+filter[at[1]:])
			}
		case operator.MatchString(w), known.MatchString(w), w == "'", number.MatchString(w), variables[head]:
			if variables[head] {
				field = nil
			}
		case f == nil:
			return missing(name, fields)
		default:
			if f.Filterable != nil && !*f.Filterable {
				return fmt.Sprintf("field %s is not filterable: azsearch apply says what a change of that needs", name)
			}
			if field, path = f, name; name != w {
				field = nil // its elements are compared
			}
		}
	}
	return ""
}

// value returns advice on a value, or its first character, that a field is compared with.
func value(path string, f *models.SearchField, w string) string {
	if f == nil || w == "null" {
		return ""
	}
	quoted := w == "'"
	switch t := string(f.Type); {
	case strings.HasPrefix(t, "Collection("):
		return fmt.Sprintf("%s is a collection: -filter \"%s/any(x: x eq 'VALUE')\"", path, path)
	case t == "Edm.String" && (number.MatchString(w) || w == "true" || w == "false"):
		return fmt.Sprintf("%s is text: '%s'", path, w)
	case t == "Edm.DateTimeOffset" && (quoted || day.MatchString(w)):
		return fmt.Sprintf("%s is a time, without quotes and with a zone: 2024-01-31T00:00:00Z", path)
	case t != "Edm.String" && quoted:
		return fmt.Sprintf("%s is %s: its value has no quotes", path, t)
	}
	return ""
}

// missing returns advice on a name that is not that of a field.
func missing(name string, fields map[string]*models.SearchField) string {
	best, least := "", 3
	var all []string
	for path, f := range fields {
		if f.Filterable == nil || *f.Filterable {
			all = append(all, path)
		}
		n := distance(strings.ToLower(strings.ReplaceAll(name, ".", "/")), strings.ToLower(path))
		if n < least && n < len(path) || n == least && path < best {
			best, least = path, n
		}
	}
	if best != "" {
		return fmt.Sprintf("the index has no field %s: did you mean %s?", name, best)
	}
	slices.Sort(all)
	if len(all) > 20 {
		all = append(all[:20], "…")
	}
	return fmt.Sprintf("the index has no field %s; it has: %s", name, strings.Join(all, ", "))
}

// distance is the number of characters to insert, remove or replace to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
