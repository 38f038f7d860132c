package searchtest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/resources"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/wire"
)

// Restore replaces everything that the service holds by a Snapshot, or by a file of that
// form written by hand. Only "definition" is required: the body of a request that creates
// the index, in the newest api-version or in "apiVersion". Documents are uploaded. Members
// whose name contains @ are ignored, so replies of the service can be pasted.
//
// An error contains the line and the column, and leaves the service unchanged. Restore checks
// content as requests do, with two exceptions: the number and the size of requests are not
// limited, and definitions may name synonym maps, data sources, skillsets and indexes that do
// not exist, because these may be deleted too. Documents are visible at once. Entity tags are
// new and histories start empty. The log of requests and the faults stay.
//
// Restore may be called while requests run: each request sees an index as it was before or
// as it is afterwards. A search that is under way may use the new synonym maps.
func (s *Server) Restore(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	p := snapshotReader{Scanner: wire.Scanner{Data: bytes.TrimPrefix(data, []byte("\ufeff"))}, s: s, catalog: resources.NewCatalog()}
	if !p.read() {
		line, column := p.place()
		return fmt.Errorf("snapshot: line %d, column %d: %s", line, column, p.reason)
	}
	s.kept.Replace(p.catalog)
	return nil
}

// RestoreFile restores the content of a file. Errors contain the file name.
func (s *Server) RestoreFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.Restore(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// snapshotReader reads a snapshot. If a method returns false, reason and at describe the
// error and its position.
type snapshotReader struct {
	wire.Scanner
	s       *Server
	catalog resources.Catalog

	at     int
	reason string
}

// refuse records an error in the value that begins at start, in words of the service or of
// this package.
func (p *snapshotReader) refuse(start int, reason string) bool {
	p.at, p.reason = start, strings.TrimSpace(strings.TrimPrefix(reason, "The request is invalid. Details: "))
	return false
}

// malformed records a syntax error.
func (p *snapshotReader) malformed() bool {
	what, _, _ := strings.Cut(p.Failure, " at position ")
	return p.refuse(p.Pos, "invalid JSON: "+what)
}

// place returns the line and the column of the error, in bytes, from 1.
func (p *snapshotReader) place() (line, column int) {
	before := p.Data[:min(p.at, len(p.Data))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// read reads the whole snapshot. It first finds the lists and then reads them in the order
// of their dependencies: aliases need indexes, for example.
func (p *snapshotReader) read() bool {
	lists := map[string]int{"indexes": -1}
	for _, k := range resources.ListedKinds {
		lists[k.SnapshotName()] = -1
	}
	if !p.members(lists) {
		return false
	}
	if !p.AtEnd() {
		return p.refuse(p.Pos, "unexpected data after the end of the snapshot")
	}
	if !p.list(lists["indexes"], p.index) {
		return false
	}
	for _, k := range resources.ListedKinds {
		if !p.list(lists[k.SnapshotName()], func() bool { return p.definition(k) }) {
			return false
		}
	}
	return true
}

// members reads an object and records where the values of its members begin. starts has the
// allowed members; a null value counts as missing.
func (p *snapshotReader) members(starts map[string]int) bool {
	if p.Peek() != '{' {
		return p.refuse(p.Pos, "an object was expected")
	}
	p.Pos++
	if p.Peek() == '}' {
		p.Pos++
		return true
	}
	for {
		p.Peek()
		at := p.Pos
		if p.Peek() != '"' {
			return p.refuse(at, "invalid JSON: a property name was expected")
		}
		raw, _, ok := p.Quoted()
		if !ok || !p.Expect(':') {
			return p.malformed()
		}
		name := string(wire.AppendUnquoted(nil, raw))
		start, known := starts[name]
		switch {
		case !known:
			return p.refuse(at, fmt.Sprintf("the member %q is unknown: it must be one of %s", name, strings.Join(slices.Sorted(maps.Keys(starts)), ", ")))
		case start >= 0:
			return p.refuse(at, fmt.Sprintf("duplicate member %q", name))
		}
		if p.Peek() != 'n' {
			starts[name] = p.Pos
		}
		if !p.Skip(2) {
			return p.malformed()
		}
		switch p.Peek() {
		case ',':
			p.Pos++
		case '}':
			p.Pos++
			return true
		default:
			return p.refuse(p.Pos, "invalid JSON: a comma or the end of the object was expected")
		}
	}
}

// list reads the elements of the array at start, if there is one. The text must be valid
// JSON.
func (p *snapshotReader) list(start int, element func() bool) bool {
	if start < 0 {
		return true
	}
	p.Pos = start
	if p.Peek() != '[' {
		return p.refuse(start, "an array was expected")
	}
	for p.Pos++; p.Peek() != ']'; {
		if !element() {
			return false
		}
		if p.Peek() == ',' {
			p.Pos++
		}
	}
	return true
}

// value returns the text of the value that begins at start.
func (p *snapshotReader) value(start int) []byte {
	sc := wire.Scanner{Data: p.Data, Pos: start}
	sc.Skip(0)
	return p.Data[start:sc.Pos]
}

// definition reads a definition of a kind.
func (p *snapshotReader) definition(k resources.ListedKind) bool {
	p.Peek()
	start := p.Pos
	text := p.value(start)
	p.Pos += len(text)
	if err := k.Restore(p.s.kept, &p.catalog, text); err != nil {
		return p.refuse(start, err.Reason())
	}
	return true
}

// index reads an index with its documents.
func (p *snapshotReader) index() bool {
	p.Peek()
	start := p.Pos
	parts := map[string]int{"apiVersion": -1, "definition": -1, "documents": -1}
	if !p.members(parts) {
		return false
	}
	end := p.Pos
	if parts["definition"] < 0 {
		return p.refuse(start, "the index has no definition")
	}
	version := latest
	if at := parts["apiVersion"]; at >= 0 {
		text := p.value(at)
		if version = apiversion.Of(string(bytes.Trim(text, `"`))); text[0] != '"' || !version.Known() && !version.Newer() {
			return p.refuse(at, "the api-version is unknown: it must be a string with one of "+supportedVersions)
		}
	}
	ix, err := p.s.kept.RestoreIndex(&p.catalog, p.value(parts["definition"]), version)
	if err != nil {
		return p.refuse(parts["definition"], err.Message)
	}
	if !p.documents(ix, parts["documents"]) {
		return false
	}
	p.Pos = end
	return true
}

// documents reads the array of documents of an index at start, if start is not negative.
func (p *snapshotReader) documents(ix *store.Index, start int) bool {
	if start < 0 {
		return true
	}
	b := batch.NewParser(p.Data, ix.Definition(), latest, p.s.opts.limits())
	defer b.Release()
	b.Pos, b.Depth, b.MaxActions = start, 1, math.MaxInt
	if err := b.Value(); err != nil {
		return p.refuse(b.Pos, err.Message)
	}
	for i := range b.Actions {
		a := &b.Actions[i]
		status, message := 0, ""
		switch {
		case a.Type != models.ActionTypeUpload:
			message = "its action is " + string(a.Type) + ", but documents can only be uploaded"
		default:
			if status, message = ix.Restore(a); status == http.StatusOK {
				message = "duplicate key"
			}
		}
		if message != "" {
			return p.refuse(start, fmt.Sprintf("document %d, with the key '%s': %s", i, a.Key, message))
		}
	}
	ix.Settle(time.Now())
	return true
}
