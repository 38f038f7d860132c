package sqlkit

import (
	"encoding/json"
	"strconv"
	"strings"
)

// arrays returns an array for each column, in PostgreSQL's text form, which all drivers pass on.
func arrays(columns ...[]any) []any {
	args := make([]any, len(columns))
	for i, column := range columns {
		size := 2
		for _, v := range column {
			if s, ok := v.(string); ok {
				size += len(s) + len(s)/8
			}
			size += 12
		}
		var b strings.Builder
		b.Grow(size)
		b.WriteByte('{')
		for j, v := range column {
			if j > 0 {
				b.WriteByte(',')
			}
			arrayElement(&b, v)
		}
		b.WriteByte('}')
		args[i] = b.String()
	}
	return args
}

func arrayElement(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("NULL")
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case string:
		b.WriteByte('"')
		for {
			at := strings.IndexAny(v, `"\`)
			if at < 0 {
				break
			}
			b.WriteString(v[:at])
			b.WriteByte('\\')
			b.WriteByte(v[at])
			v = v[at+1:]
		}
		b.WriteString(v)
		b.WriteByte('"')
	}
}

// jsonRecords returns one array of arrays for json_each.
func jsonRecords(columns ...[]any) []any {
	b := []byte{'['}
	for i := range columns[0] {
		if i > 0 {
			b = append(b, ',')
		}
		for j, column := range columns {
			b = append(b, "[,"[min(j, 1)])
			switch v := column[i].(type) {
			case nil:
				b = append(b, "null"...)
			case int64:
				b = strconv.AppendInt(b, v, 10)
			case string:
				text, _ := json.Marshal(v) // a valid UTF-8 string can always be encoded
				b = append(b, text...)
			}
		}
		b = append(b, ']')
	}
	return []any{string(append(b, ']'))}
}
