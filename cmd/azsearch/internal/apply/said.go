package apply

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/search"
)

// said returns what is new after a change as the file says it: name and type first, without the members that the
// service fills in. A plan shows the beginning only, which otherwise is a list of defaults.
func said(c search.IndexChange, file json.RawMessage) json.RawMessage {
	var shown, whole any
	if c.Old != nil || len(c.New) == 0 || c.New[0] != '{' || decode(c.New, &shown) != nil || decode(file, &whole) != nil {
		return c.New
	}
	var b bytes.Buffer
	write(&b, shown, at(whole, c.Path))
	return b.Bytes()
}

func decode(content json.RawMessage, into *any) error {
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	return dec.Decode(into)
}

// at returns the value at the path of a change, nil if there is none: of fields/Address/City the entry City in the
// member fields of the entry Address.
func at(value any, path string) any {
	for path != "" && value != nil {
		end := strings.IndexAny(path[1:], "./") + 1
		if end == 0 {
			end = len(path)
		}
		name := strings.TrimLeft(path[:end], "./")
		if object, is := value.(map[string]any); is && path[0] == '/' {
			value = object["fields"] // of a complex field
		} else if is {
			value = object[name]
		}
		if path[0] == '/' {
			value = entry(value, name)
		}
		path = path[end:]
	}
	return value
}

// entry returns the entry of a list with a name, which may be that of its place.
func entry(list any, name string) any {
	entries, _ := list.([]any)
	i := slices.IndexFunc(entries, func(e any) bool { o, _ := e.(map[string]any); return o["name"] == name })
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "#")); i < 0 && err == nil {
		i = n - 1
	}
	if i < 0 || i >= len(entries) {
		return nil
	}
	return entries[i]
}

// write appends value, in objects only the members that said has, too. If said is nil, it appends all of them.
func write(b *bytes.Buffer, value, said any) {
	switch v := value.(type) {
	case map[string]any:
		only, known := said.(map[string]any)
		var names []string
		for name := range v {
			if !known || only[name] != nil {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(x, y string) int {
			first := []string{"type", "@odata.type", "name"}
			if rank := slices.Index(first, y) - slices.Index(first, x); rank != 0 {
				return rank
			}
			return strings.Compare(x, y)
		})
		for i, name := range names {
			b.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + quoted(name) + ":")
			write(b, v[name], only[name])
		}
		b.WriteString(map[bool]string{true: "{}", false: "}"}[names == nil])
	case []any:
		b.WriteByte('[')
		others, _ := said.([]any)
		for i, element := range v {
			var other any
			if i < len(others) {
				other = others[i]
			}
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, element, other)
		}
		b.WriteByte(']')
	case string:
		b.WriteString(quoted(v))
	default:
		content, _ := json.Marshal(v) // it was decoded
		b.Write(content)
	}
}
