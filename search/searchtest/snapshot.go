package searchtest

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// Snapshot writes everything that the service holds as one JSON object that
// Restore reads, and people: indexes with their documents, synonym maps, aliases,
// and, where there are any, dataSources, skillsets, indexers, knowledgeSources and
// knowledgeBases; definitions by name and a line for each document, in the order in
// which they were written.
//
//	{
//	  "indexes": [
//	    {
//	      "definition": {
//	        "name": "hotels",
//	        "fields": [
//	          {"name":"id","type":"Edm.String","key":true},
//	          {"name":"name","type":"Edm.String"}
//	        ]
//	      },
//	      "documents": [
//	        {"id":"1","name":"Ritz"}
//	      ]
//	    }
//	  ],
//	  "synonymMaps": [
//	    {"name":"names","format":"solr","synonyms":"ritz, palace"}
//	  ],
//	  "aliases": [
//	    {"name":"current","indexes":["hotels"]}
//	  ]
//	}
//
// Definitions and documents have the members that were sent, so that what was
// left to the service stays so. Secrets in definitions are not written, connection
// strings among them, and neither are entity tags, histories, requests and faults.
//
// Snapshot may be called while requests are under way. Each index is then written
// as it was at one moment, two indexes perhaps at two. VisibilityLag does not hide
// any document. Errors are those of w.
func (s *Server) Snapshot(w io.Writer) error {
	p := snapshotWriter{w: bufio.NewWriter(w)}
	s.mu.RLock()
	indexes := make([]*index, 0, len(s.indexes))
	for _, name := range sortedKeys(s.indexes) {
		indexes = append(indexes, s.indexes[name])
	}
	lists := make([][]*resource, len(listedKinds))
	for i, k := range listedKinds {
		lists[i] = k.list(&s.catalog)
	}
	s.mu.RUnlock()

	p.text("{\n  \"indexes\": ")
	p.list(2, len(indexes), func(i int) { p.index(indexes[i]) })
	for i, k := range listedKinds {
		if list := lists[i]; len(list) > 0 || k.alwaysSaved() {
			p.text(",\n  " + strconv.Quote(k.snapshotName()) + ": ")
			p.list(2, len(list), func(i int) { p.line(appendGiven(nil, list[i].object, everyMember)) })
		}
	}
	p.text("\n}\n")
	return p.w.Flush()
}

// snapshotWriter writes the parts of a snapshot. An error of the writer stays in
// it until it is flushed.
type snapshotWriter struct {
	w   *bufio.Writer
	buf []byte
}

// index writes an index with its documents.
func (p *snapshotWriter) index(ix *index) {
	ix.mu.Lock()
	documents := slices.Collect(maps.Values(ix.live)) // what is stored never changes
	ix.mu.Unlock()
	slices.SortFunc(documents, func(a, b document) int { return cmp.Compare(a.serial, b.serial) })
	sc := ix.schema.Load() // as new as the documents, or newer

	p.text("{\n")
	if version := sc.parsed.version; version != latest {
		p.text("      \"apiVersion\": " + strconv.Quote(version.String()) + ",\n")
	}
	p.text("      \"definition\": ")
	p.definition(sc)
	p.text(",\n      \"documents\": ")
	p.list(6, len(documents), func(i int) { p.line(suppliedDocument(sc, documents[i].data)) })
	p.text("\n    }")
}

// definition writes the definition of an index: a line for each of its members
// and for each element of those that are lists.
func (p *snapshotWriter) definition(sc *schema) {
	p.text("{")
	separator := "\n"
	for i := range sc.object.shape.members {
		m, value := &sc.object.shape.members[i], sc.object.values[i]
		if !sc.object.showsGiven(i, sc.parsed.version) {
			continue
		}
		p.text(separator + "        \"" + m.name + "\": ")
		separator = ",\n"
		if list, ok := value.([]any); ok && m.kind == kindObjects {
			p.list(8, len(list), func(i int) { p.line(appendGivenValue(nil, m, list[i], sc.parsed.version)) })
		} else {
			p.line(appendGivenValue(nil, m, value, sc.parsed.version))
		}
	}
	p.text("\n      }")
}

// list writes an array with a line for each of its n elements. indent is that of
// the line which the array begins in.
func (p *snapshotWriter) list(indent, n int, element func(i int)) {
	if n == 0 {
		p.text("[]")
		return
	}
	for i := range n {
		if i == 0 {
			p.text("[\n")
		} else {
			p.text(",\n")
		}
		p.indent(indent + 2)
		element(i)
	}
	p.text("\n")
	p.indent(indent)
	p.text("]")
}

// line writes JSON that was made for a reply.
func (p *snapshotWriter) line(json []byte) {
	p.buf = appendReadable(p.buf[:0], json)
	_, _ = p.w.Write(p.buf) // an error comes back when it is flushed
}

func (p *snapshotWriter) text(s string) { _, _ = p.w.WriteString(s) }

func (p *snapshotWriter) indent(n int) {
	for range n {
		_ = p.w.WriteByte(' ')
	}
}

// showsGiven reports whether a snapshot has the i-th member of an object: the
// request had it, and it is neither a secret nor unknown to that version.
func (o *object) showsGiven(i int, version apiversion.Version) bool {
	m := &o.shape.members[i]
	return o.given[i] && version.Has(m.needs) && !m.secret && (o.shape.writes == nil || o.shape.writes(o, m.name))
}

// appendGiven appends the members of an object that the request had.
func appendGiven(dst []byte, o *object, version apiversion.Version) []byte {
	dst = append(dst, '{')
	first := true
	for i := range o.shape.members {
		if !o.showsGiven(i, version) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendJSONString(dst, o.shape.members[i].name)
		dst = append(dst, ':')
		dst = appendGivenValue(dst, &o.shape.members[i], o.values[i], version)
	}
	if o.others != nil {
		dst = appendOpenMembers(dst, o.others, omitSecrets, first)
	}
	return append(dst, '}')
}

// appendGivenValue appends a value of member m.
func appendGivenValue(dst []byte, m *property, value any, version apiversion.Version) []byte {
	if m.kind == kindAny {
		return appendOpen(dst, value, omitSecrets)
	}
	switch v := value.(type) {
	case *object:
		return appendGiven(dst, v, version)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendGivenValue(dst, m, e, version)
		}
		return append(dst, ']')
	}
	return appendDefinitionValue(dst, m.kind, value, version)
}

// appendReadable appends JSON with the characters themselves in place of the
// escapes that the service writes for everything but ASCII, as far as they can be
// seen.
func appendReadable(dst, json []byte) []byte {
	for len(json) > 0 {
		i := bytes.IndexByte(json, '\\')
		if i < 0 {
			return append(dst, json...)
		}
		dst, json = append(dst, json[:i]...), json[i:]
		length := escapeLength(json)
		r := utf8.RuneError
		if json[1] == 'u' {
			if r = hex4(json[2:]); utf16.IsSurrogate(r) {
				// We never write half a pair.
				r = utf16.DecodeRune(r, hex4(json[8:]))
				length = 12
			}
		}
		if r != utf8.RuneError && r >= utf8.RuneSelf && unicode.IsPrint(r) {
			dst = utf8.AppendRune(dst, r)
		} else {
			dst = append(dst, json[:length]...)
		}
		json = json[length:]
	}
	return dst
}
