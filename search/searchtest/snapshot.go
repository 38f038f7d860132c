package searchtest

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/wire"
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
	indexes := make([]*store.Index, 0, len(s.indexes))
	for _, name := range sortedKeys(s.indexes) {
		indexes = append(indexes, s.indexes[name])
	}
	lists := make([][]*shape.Resource, len(listedKinds))
	for i, k := range listedKinds {
		lists[i] = k.list(&s.catalog)
	}
	s.mu.RUnlock()

	p.text("{\n  \"indexes\": ")
	p.list(2, len(indexes), func(i int) { p.index(indexes[i]) })
	for i, k := range listedKinds {
		if list := lists[i]; len(list) > 0 || k.alwaysSaved() {
			p.text(",\n  " + strconv.Quote(k.snapshotName()) + ": ")
			p.list(2, len(list), func(i int) { p.line(appendGiven(nil, list[i].Object, everyMember)) })
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
func (p *snapshotWriter) index(ix *store.Index) {
	documents := ix.All()
	sc := ix.Definition() // as new as the documents, or newer

	p.text("{\n")
	if version := sc.Parsed.Version; version != latest {
		p.text("      \"apiVersion\": " + strconv.Quote(version.String()) + ",\n")
	}
	p.text("      \"definition\": ")
	p.definition(sc)
	p.text(",\n      \"documents\": ")
	p.list(6, len(documents), func(i int) { p.line(query.SuppliedDocument(sc, documents[i].Data)) })
	p.text("\n    }")
}

// definition writes the definition of an index: a line for each of its members
// and for each element of those that are lists.
func (p *snapshotWriter) definition(sc *schema.Index) {
	p.text("{")
	separator := "\n"
	for i := range sc.Object.Shape.Members {
		m, value := &sc.Object.Shape.Members[i], sc.Object.Values[i]
		if !showsGiven(sc.Object, i, sc.Parsed.Version) {
			continue
		}
		p.text(separator + "        \"" + m.Name + "\": ")
		separator = ",\n"
		if list, ok := value.([]any); ok && m.Kind == shape.KindObjects {
			p.list(8, len(list), func(i int) { p.line(appendGivenValue(nil, m, list[i], sc.Parsed.Version)) })
		} else {
			p.line(appendGivenValue(nil, m, value, sc.Parsed.Version))
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
func showsGiven(o *shape.Object, i int, version apiversion.Version) bool {
	m := &o.Shape.Members[i]
	return o.Given[i] && version.Has(m.Needs) && !m.Secret && (o.Shape.Writes == nil || o.Shape.Writes(o, m.Name))
}

// appendGiven appends the members of an object that the request had.
func appendGiven(dst []byte, o *shape.Object, version apiversion.Version) []byte {
	dst = append(dst, '{')
	first := true
	for i := range o.Shape.Members {
		if !showsGiven(o, i, version) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = reply.AppendString(dst, o.Shape.Members[i].Name)
		dst = append(dst, ':')
		dst = appendGivenValue(dst, &o.Shape.Members[i], o.Values[i], version)
	}
	if o.Others != nil {
		dst = shape.AppendOpenMembers(dst, o.Others, shape.OmitSecrets, first)
	}
	return append(dst, '}')
}

// appendGivenValue appends a value of member m.
func appendGivenValue(dst []byte, m *shape.Property, value any, version apiversion.Version) []byte {
	if m.Kind == shape.KindAny {
		return shape.AppendOpen(dst, value, shape.OmitSecrets)
	}
	switch v := value.(type) {
	case *shape.Object:
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
	return shape.AppendValue(dst, m.Kind, value, version)
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
		length := wire.EscapeLength(json)
		r := utf8.RuneError
		if json[1] == 'u' {
			if r = wire.Hex4(json[2:]); utf16.IsSurrogate(r) {
				// We never write half a pair.
				r = utf16.DecodeRune(r, wire.Hex4(json[8:]))
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
