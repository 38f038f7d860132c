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

// Snapshot writes everything that the service holds as one readable JSON object for Restore:
// indexes with their documents, synonym maps, aliases, and if there are any, dataSources,
// skillsets, indexers, knowledgeSources and knowledgeBases. Definitions are sorted by name.
// Each document is one line, in the order of writing.
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
// Definitions and documents contain only the members that were sent, so defaults of the
// service stay defaults. Secrets in definitions, such as connection strings and the values of
// headers, are not written, nor are entity tags, histories, requests and faults. An address is
// written as it is, also with a key in it.
//
// Snapshot may be called while requests run. Each index is written as of one moment, which
// may differ between indexes. VisibilityLag does not hide documents. Errors are those of w.
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

// snapshotWriter writes the parts of a snapshot. Its buffer keeps an error until it is
// flushed.
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

// definition writes the definition of an index: one line for each member, and one for each
// element of a member that is a list.
func (p *snapshotWriter) definition(sc *schema.Index) {
	p.text("{")
	separator := "\n"
	for i := range sc.Object.Shape.Members {
		m, value := &sc.Object.Shape.Members[i], sc.Object.Values[i]
		if !sc.Saves(i) {
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

// list writes an array with one line for each of its n elements. indent is the indentation
// of the line in which the array begins.
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

// line writes JSON that has the form of a reply.
func (p *snapshotWriter) line(json []byte) {
	p.buf = appendReadable(p.buf[:0], json)
	_, _ = p.w.Write(p.buf) // the buffer returns the error when it is flushed
}

func (p *snapshotWriter) text(s string) { _, _ = p.w.WriteString(s) }

func (p *snapshotWriter) indent(n int) {
	for range n {
		_ = p.w.WriteByte(' ')
	}
}

// appendReadable appends JSON with escapes replaced by their characters, if these are
// visible. The service escapes everything except ASCII.
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
				// The text is valid UTF-16: surrogates come in pairs.
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
