package server

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// keyField precedes the key of every document. It cannot occur within a string, because quotes are escaped there.
// Nested objects must not have a field of that name.
var keyField = []byte(`"id":`)

// nextKey returns the next key in raw and the rest after it, nil if there is none. Legal keys contain nothing that
// JSON escapes.
func nextKey(raw []byte) (key, rest []byte) {
	for {
		at := bytes.Index(raw, keyField)
		if at < 0 {
			return nil, nil
		}
		raw = bytes.TrimLeft(raw[at+len(keyField):], " ")
		if text, ok := bytes.CutPrefix(raw, []byte(`"`)); ok {
			end := bytes.IndexByte(text, '"')
			if end < 0 {
				return nil, nil
			}
			return text[:end], text[end:]
		}
	}
}

// azure is POST /indexes('x')/docs/search.index of Azure AI Search.
type azure struct{}

// Python writes a space after a colon.
var envelope, spacedEnvelope = []byte(`{"value":[`), []byte(`{"value": [`)

func (azure) scan(items []item, body []byte) ([]item, error) {
	if !bytes.HasPrefix(body, envelope) && !bytes.HasPrefix(body, spacedEnvelope) || !bytes.HasSuffix(body, []byte("]}")) {
		return items, errors.New(`a batch is {"value":[…]}`)
	}
	for {
		var key []byte
		if key, body = nextKey(body); key == nil {
			return items, nil
		}
		items = append(items, item{key: key})
	}
}

// reply returns 207 if a document is refused, as the service does.
func (azure) reply(dst []byte, items []item) ([]byte, int) {
	status := http.StatusOK
	dst = append(dst, envelope...)
	for i, it := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, `{"key":"`...), it.key...), '"')
		if it.status == 0 {
			dst = append(dst, `,"status":true,"errorMessage":null,"statusCode":200}`...)
			continue
		}
		status = http.StatusMultiStatus
		dst = append(dst, `,"status":false,"errorMessage":"refused by the sink","statusCode":`...)
		dst = append(strconv.AppendInt(dst, int64(it.status), 10), '}')
	}
	return append(dst, "]}"...), status
}

func (azure) refusal(status int) string {
	return fmt.Sprintf(`{"error":{"code":"","message":"refused by the sink with %d"}}`, status)
}

func (azure) header(h http.Header) {
	h.Set("Content-Type", "application/json; odata.metadata=none")
}

// bulk is POST /_bulk of Elasticsearch and OpenSearch.
type bulk struct {
	// brief omits what the client excludes with filter_path: all but index, status and error.
	brief bool
}

// info is the reply to GET /, which both clients request.
const info = `{"name":"sink","cluster_name":"sink","cluster_uuid":"c2luaw","version":{"number":"9.0.0","build_flavor":"default",` +
	`"minimum_wire_compatibility_version":"8.18.0","minimum_index_compatibility_version":"8.0.0"},"tagline":"You Know, for Search"}`

// administration are the paths below bulkIndex that loaders ask for; indexInfo answers them, and says that the index
// exists.
var administration = []string{"_settings", "_mapping", "_refresh", "_flush"}

const (
	bulkIndex = "/bench"
	indexInfo = `{"acknowledged":true,"_shards":{"total":1,"successful":1,"failed":0},` +
		`"bench":{"mappings":{},"settings":{"index":{"refresh_interval":"1s","number_of_replicas":"1"}}}}`
)

// scan reads pairs of lines: an action and, except for a delete, a document. It takes the key from the document,
// because an action need not have one.
func (bulk) scan(items []item, body []byte) ([]item, error) {
	if len(body) == 0 || body[len(body)-1] != '\n' {
		return items, errors.New("a bulk request ends with a newline")
	}
	for len(body) > 0 {
		var line []byte
		line, body, _ = bytes.Cut(body, []byte("\n"))
		name := actionName(line)
		if name == nil {
			return items, fmt.Errorf("no action: %.40q", line)
		}
		it := item{name: name}
		if string(name) != "delete" {
			if line, body, _ = bytes.Cut(body, []byte("\n")); len(line) == 0 {
				return items, errors.New("an action without a document")
			}
			it.key, _ = nextKey(line)
		}
		items = append(items, it)
	}
	return items, nil
}

// actionName returns x of {"x":…}, nil if the line is not an action.
func actionName(line []byte) []byte {
	raw, ok := bytes.CutPrefix(line, []byte(`{"`))
	if !ok {
		return nil
	}
	name, _, ok := bytes.Cut(raw, []byte(`"`))
	if !ok {
		return nil
	}
	switch string(name) {
	case "index", "create", "update", "delete":
		return name
	}
	return nil
}

func (b bulk) reply(dst []byte, items []item) ([]byte, int) {
	if b.brief {
		dst = append(dst, `{"items":[`...)
	} else {
		refused := false
		for _, it := range items {
			refused = refused || it.status != 0
		}
		dst = append(dst, `{"took":1,"errors":`...)
		dst = append(strconv.AppendBool(dst, refused), `,"items":[`...)
	}
	for i, it := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, `{"`...), it.name...), `":{"_index":"bench"`...)
		if !b.brief {
			dst = append(append(append(dst, `,"_id":"`...), it.key...), '"')
		}
		switch {
		case it.status != 0:
			dst = strconv.AppendInt(append(dst, `,"status":`...), int64(it.status), 10)
			dst = append(dst, `,"error":{"type":"es_rejected_execution_exception","reason":"refused by the sink"}}}`...)
		case b.brief:
			dst = append(dst, `,"status":201}}`...)
		default:
			dst = append(dst, `,"_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":`...)
			dst = append(strconv.AppendInt(dst, int64(i), 10), `,"_primary_term":1,"status":201}}`...)
		}
	}
	return append(dst, "]}"...), http.StatusOK
}

func (bulk) refusal(status int) string {
	return fmt.Sprintf(`{"error":{"type":"es_rejected_execution_exception","reason":"refused by the sink"},"status":%d}`, status)
}

func (bulk) header(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("X-Elastic-Product", "Elasticsearch")
}
