package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/search"
)

// exam is a question whose answer is known: which package has it, and which of
// its symbols.
type exam struct {
	question string
	pkg      string
	symbols  []string
}

// exams were written down before the first measurement, and are not meant to be
// easy or hard. So few questions say that something is broken, not which way of
// searching is better in general.
var exams = []exam{
	{"How do I read a whole file into memory at once?", "os", []string{"ReadFile"}},
	{"How can I limit how long an HTTP client waits for a response?", "net/http", []string{"Client"}},
	{"How do I check whether an error wraps a particular error value?", "errors", []string{"Is"}},
	{"How do I split a string around a separator?", "strings", []string{"Split"}},
	{"How do I wait until a group of goroutines has finished?", "sync", []string{"WaitGroup", "WaitGroup.Wait"}},
	{"How do I cancel an operation after a deadline?", "context", []string{"WithDeadline", "WithTimeout"}},
	{"How do I turn a struct into indented JSON text?", "encoding/json", []string{"MarshalIndent"}},
	{"How do I copy everything from a reader to a writer?", "io", []string{"Copy"}},
	{"How do I parse a date that is written in a given layout?", "time", []string{"Parse"}},
	{"How do I serve the files of a directory over HTTP?", "net/http", []string{"FileServer", "FileServerFS"}},
	{"How do I run an external command and collect its standard output?", "os/exec", []string{"Cmd.Output"}},
	{"How do I remove spaces at both ends of a string?", "strings", []string{"TrimSpace"}},
	{"How do I create a temporary directory?", "os", []string{"MkdirTemp"}},
	{"How do I print a struct with the names of its fields?", "fmt", []string{""}},
	{"How do I read input line by line?", "bufio", []string{"Scanner", "Scanner.Scan", "ScanLines"}},
	{"How do I make sure that a function runs only once?", "sync", []string{"Once", "Once.Do", "OnceFunc"}},
	{"How do I convert a string of digits to a number?", "strconv", []string{"Atoi", "ParseInt"}},
	{"How do I join the elements of a path for the operating system?", "path/filepath", []string{"Join"}},
	{"How do I escape text so that it is safe inside a URL query?", "net/url", []string{"QueryEscape"}},
	{"How do I delete a directory with everything in it?", "os", []string{"RemoveAll"}},
}

// among is how many passages count: what a prompt would hold.
const among = 5

// hits counts for how many questions something was among the first passages.
type hits struct {
	packages int // one of the right package
	symbols  int // one about the right symbol
}

// measure asks all questions about the given packages.
func measure(ctx context.Context, s *store, by mode, asked []exam) (hits, error) {
	var h hits
	for _, e := range asked {
		results, err := s.retrieve(ctx, e.question, by, search.Filter{}, among)
		if err != nil {
			return h, fmt.Errorf("%q: %w", e.question, err)
		}
		var rightPackage, rightSymbol bool
		for i := range results {
			p := &results[i].Document
			if p.Package == e.pkg {
				rightPackage = true
				rightSymbol = rightSymbol || slices.Contains(e.symbols, p.Symbol)
			}
		}
		if rightPackage {
			h.packages++
		}
		if rightSymbol {
			h.symbols++
		}
	}
	return h, nil
}

// about returns the questions whose answers are in some packages.
func about(packages []string) []exam {
	var asked []exam
	for _, e := range exams {
		if slices.Contains(packages, e.pkg) {
			asked = append(asked, e)
		}
	}
	return asked
}

// enough is how often a hybrid search must find the right package for the run to
// succeed: far more often than luck would, and less often than it did when this
// was written.
func enough(asked int) int { return asked * 7 / 10 }

// story tells what a store can do, and checks that it does.
type story struct {
	w     io.Writer
	store *store
	cfg   *config
	tree  fs.FS
}

// ingest puts all packages into the index.
func (st *story) ingest(ctx context.Context) error {
	began := time.Now()
	var passages []Passage
	bytes := 0
	for _, folder := range st.cfg.packages {
		found, err := readPackage(st.tree, folder)
		if err != nil {
			return err
		}
		passages = append(passages, found...)
	}
	for i := range passages {
		bytes += len(passages[i].Text)
	}
	read := time.Since(began)
	changed, err := st.store.replace(ctx, search.In("package", st.cfg.packages...), passages)
	if err != nil {
		return err
	}
	fmt.Fprintf(st.w, "ingested %d packages: %s passages of %d bytes on average, read in %.1f s, embedded and indexed in %.1f s; %d stale ones deleted\n",
		len(st.cfg.packages), humanize.Comma(int64(changed.uploaded)), bytes/max(1, len(passages)), read.Seconds(), (time.Since(began) - read).Seconds(), changed.deleted)
	return nil
}

// ask prints the passages for a question, as a prompt would hold them.
func (st *story) ask(ctx context.Context, question string, filter search.Filter, top int) error {
	results, err := st.store.retrieve(ctx, question, byBoth, filter, top)
	if err != nil {
		return err
	}
	fmt.Fprintf(st.w, "\nquestion  %s\n", question)
	if !filter.IsZero() {
		fmt.Fprintf(st.w, "where     %s\n", filter)
	}
	if len(results) == 0 {
		fmt.Fprintln(st.w, "no passage")
	}
	for i, r := range results {
		fmt.Fprintf(st.w, "[%d] %.4f  %s  %s\n", i+1, r.Score, r.Document.Source, r.Document.title())
		fmt.Fprintf(st.w, "      %s\n", strings.ReplaceAll(r.Document.Text, "\n", "\n      "))
	}
	return nil
}

// tell is the whole story.
func (st *story) tell(ctx context.Context) error {
	if err := st.ask(ctx, exams[0].question, search.Filter{}, 2); err != nil {
		return err
	}
	filter := search.And(search.Eq("package", "net/http"), search.In("kind", "func", "method"))
	if err := st.ask(ctx, "How do I set a header of a response?", filter, 2); err != nil {
		return err
	}
	if err := st.measure(ctx); err != nil {
		return err
	}
	return st.change(ctx)
}

// measure compares the three ways of searching.
func (st *story) measure(ctx context.Context) error {
	asked := about(st.cfg.packages)
	if len(asked) == 0 {
		return nil
	}
	fmt.Fprintf(st.w, "\nof %d questions with known answers, found among the first %d passages\n", len(asked), among)
	fmt.Fprintf(st.w, "  %-8s %-14s %s\n", "by", "right package", "right symbol")
	var h hits
	for _, by := range []mode{byText, byVector, byBoth} {
		var err error
		if h, err = measure(ctx, st.store, by, asked); err != nil {
			return err
		}
		fmt.Fprintf(st.w, "  %-8s %-14d %d\n", by, h.packages, h.symbols)
	}
	if h.packages < enough(len(asked)) {
		return fmt.Errorf("hybrid search found the right package for %d of %d questions; %d should be possible", h.packages, len(asked), enough(len(asked)))
	}
	fmt.Fprintln(st.w, "  hashed vectors know spelling and no meaning: there is little that they could add to the text")
	fmt.Fprintf(st.w, "  this run would fail if hybrid search found fewer than %d packages\n", enough(len(asked)))
	return nil
}

// change shows a source that changes, changes back, and goes.
func (st *story) change(ctx context.Context) error {
	folder := st.cfg.packages[0]
	before, err := readPackage(st.tree, folder)
	if err != nil {
		return err
	}
	source := before[0].Source
	original, err := fs.ReadFile(st.tree, source)
	if err != nil {
		return err
	}
	scope := search.Eq("source", source)
	fmt.Fprintf(st.w, "\nwhat becomes of the passages of %s\n", source)
	const addition = "\n// RagWasHere is documented so that it can be found, and gone soon.\nconst RagWasHere = true\n"
	for _, step := range []struct {
		what string
		tree fs.FS // nil for one without the file
		hits int   // of the addition
	}{
		{"it gets a declaration", edited{st.tree, source, append(original, addition...)}, 1},
		{"it loses it again", st.tree, 0},
		{"it is deleted", nil, 0},
		{"it comes back", st.tree, 0},
	} {
		var passages []Passage
		if step.tree != nil {
			if passages, err = readPackage(step.tree, folder); err != nil {
				return err
			}
		}
		var changed change
		if step.tree == nil {
			receipt, err := st.store.remove(ctx, scope)
			if err != nil {
				return err // also if any is left
			}
			changed.deleted = int(receipt.Deleted)
		} else if changed, err = st.store.replace(ctx, scope, from(source, passages)); err != nil {
			return err
		}
		left, err := st.store.count(ctx, scope)
		if err != nil {
			return err
		}
		found, err := st.store.count(ctx, search.And(scope, search.IsMatch("RagWasHere", nil)))
		if err != nil {
			return err
		}
		fmt.Fprintf(st.w, "  %-22s %3d uploaded, %3d deleted, %3d in the index, %d with the new declaration\n", step.what, changed.uploaded, changed.deleted, left, found)
		if int(left) != changed.uploaded || int(found) != step.hits {
			return fmt.Errorf("%s: %s: %d passages were uploaded and %d are there, and %d of %d have the new declaration", source, step.what, changed.uploaded, left, found, step.hits)
		}
	}
	return nil
}

// from returns the passages of one source.
func from(source string, passages []Passage) []Passage {
	var ours []Passage
	for _, p := range passages {
		if p.Source == source {
			ours = append(ours, p)
		}
	}
	return ours
}

// edited is a tree in which one file has another content.
type edited struct {
	fs.FS
	name    string
	content []byte
}

// ReadFile implements fs.ReadFileFS.
func (e edited) ReadFile(name string) ([]byte, error) {
	if name == e.name {
		return e.content, nil
	}
	return fs.ReadFile(e.FS, name)
}
