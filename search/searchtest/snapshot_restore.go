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

// Restore replaces everything that the service holds by what a Snapshot says, or
// a file in its form that was written by hand. All members may be left out but
// "definition": it is the body of a request that creates the index, of the newest
// api-version unless "apiVersion" names another. Documents are uploads, and members
// whose name contains @ are ignored, so replies of the service can be pasted.
//
// An error says the line and the column and leaves the service as it was. What is
// restored is checked as requests are, but for the number and the size of requests,
// and for synonym maps that fields name and that are not there: those can be deleted
// too. Documents are visible at once. Entity tags are new, histories begin anew, the
// log of requests and the faults stay.
//
// Restore may be called while requests are under way: each meets either what was
// there before or what is there then.
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

// RestoreFile restores what is in a file. Errors name it.
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

// snapshotReader reads a snapshot. Its methods return false when something is
// wrong: reason says what and at is where.
type snapshotReader struct {
	wire.Scanner
	s       *Server
	catalog resources.Catalog

	at     int
	reason string
}

// refuse says what is wrong with the value that begins at start, in words that
// are the service's or ours.
func (p *snapshotReader) refuse(start int, reason string) bool {
	p.at, p.reason = start, strings.TrimSpace(strings.TrimPrefix(reason, "The request is invalid. Details: "))
	return false
}

// malformed says where the data is no JSON.
func (p *snapshotReader) malformed() bool {
	what, _, _ := strings.Cut(p.Failure, " at position ")
	return p.refuse(p.Pos, "invalid JSON: "+what)
}

// place is where the problem is: a line and a column, in bytes, from 1.
func (p *snapshotReader) place() (line, column int) {
	before := p.Data[:min(p.at, len(p.Data))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// read reads all of it. Aliases need indexes, for example, so it notes where the lists
// are and reads them in the order of need.
func (p *snapshotReader) read() bool {
	lists := map[string]int{"indexes": -1}
	for _, k := range resources.ListedKinds {
		lists[k.SnapshotName()] = -1
	}
	if !p.members(lists) {
		return false
	}
	if !p.AtEnd() {
		return p.refuse(p.Pos, "there is something after the end of the snapshot")
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

// members reads an object and notes where the values of its members begin, which
// are the keys of starts and no others. Those that are null count as left out.
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
			return p.refuse(at, fmt.Sprintf("the member %q is there twice", name))
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

// list reads the array at start, if there is one, element by element. The data
// was found to be JSON before.
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

// documents reads the documents of an index, which are at start if there are any.
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
				message = "it is there twice"
			}
		}
		if message != "" {
			return p.refuse(start, fmt.Sprintf("document %d, with the key '%s': %s", i, a.Key, message))
		}
	}
	ix.Settle(time.Now())
	return true
}
