package searchtest

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/resources"
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
	indexes, lists := s.kept.Everything()
	p.text("{\n  \"indexes\": ")
	p.list(2, len(indexes), func(i int) { p.index(indexes[i]) })
	for i, k := range resources.ListedKinds {
		if list := lists[i]; len(list) > 0 || k.AlwaysSaved() {
			p.text(",\n  " + strconv.Quote(k.SnapshotName()) + ": ")
			p.list(2, len(list), func(i int) { p.line(shape.AppendGiven(nil, list[i].Object, everyMember)) })
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
		if !shape.ShowsGiven(sc.Object, i, sc.Parsed.Version) {
			continue
		}
		p.text(separator + "        \"" + m.Name + "\": ")
		separator = ",\n"
		if list, ok := value.([]any); ok && m.Kind == shape.KindObjects {
			p.list(8, len(list), func(i int) { p.line(shape.AppendGivenValue(nil, m, list[i], sc.Parsed.Version)) })
		} else {
			p.line(shape.AppendGivenValue(nil, m, value, sc.Parsed.Version))
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
