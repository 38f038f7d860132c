package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/search"
)

// exam is a question and the package that answers it.
type exam struct{ question, pkg string }

// exams were written before the first measurement. So few questions can show that something is broken, but not which
// way of searching is better in general.
var exams = []exam{
	{"How do I read a whole file into memory at once?", "os"},
	{"How can I limit how long an HTTP client waits for a response?", "net/http"},
	{"How do I check whether an error wraps a particular error value?", "errors"},
	{"How do I split a string around a separator?", "strings"},
	{"How do I wait until a group of goroutines has finished?", "sync"},
	{"How do I cancel an operation after a deadline?", "context"},
	{"How do I turn a struct into indented JSON text?", "encoding/json"},
	{"How do I copy everything from a reader to a writer?", "io"},
	{"How do I parse a date that is written in a given layout?", "time"},
	{"How do I serve the files of a directory over HTTP?", "net/http"},
	{"How do I run an external command and collect its standard output?", "os/exec"},
	{"How do I remove spaces at both ends of a string?", "strings"},
	{"How do I create a temporary directory?", "os"},
	{"How do I print a struct with the names of its fields?", "fmt"},
	{"How do I read input line by line?", "bufio"},
	{"How do I make sure that a function runs only once?", "sync"},
	{"How do I convert a string of digits to a number?", "strconv"},
	{"How do I join the elements of a path for the operating system?", "path/filepath"},
	{"How do I escape text so that it is safe inside a URL query?", "net/url"},
	{"How do I delete a directory with everything in it?", "os"},
}

// among is the number of passages that count, as many as fit into a prompt.
const among = 5

// story plays the steps on a store and checks the results.
type story struct {
	w        io.Writer
	store    *store
	packages []string
}

// ingest indexes all packages and returns their passages.
func (st *story) ingest(ctx context.Context, tree declarations.Tree) (passages []Passage, err error) {
	began := time.Now()
	for _, name := range st.packages {
		found, err := readPackage(tree, name)
		if err != nil {
			return nil, err
		}
		passages = append(passages, found...)
	}
	deleted, err := st.store.replace(ctx, search.In("package", st.packages...), passages)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(st.w, "ingested %d packages: %s passages read, embedded and indexed in %.1f s; %d stale ones deleted\n",
		len(st.packages), humanize.Comma(int64(len(passages))), time.Since(began).Seconds(), deleted)
	return passages, nil
}

// ask prints the passages for a question, as a prompt would contain them.
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

func (st *story) tell(ctx context.Context, passages []Passage) error {
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
	return st.change(ctx, passages)
}

// measure compares the three modes.
func (st *story) measure(ctx context.Context) error {
	asked := slices.DeleteFunc(slices.Clone(exams), func(e exam) bool { return !slices.Contains(st.packages, e.pkg) })
	fmt.Fprintf(st.w, "\nquestions with known answers, and how many find the right package among the first %d passages\n", among)
	var hits int
	for _, by := range []mode{byText, byVector, byBoth} {
		hits = 0
		for _, e := range asked {
			results, err := st.store.retrieve(ctx, e.question, by, search.Filter{}, among)
			if err != nil {
				return fmt.Errorf("%q: %w", e.question, err)
			}
			if slices.ContainsFunc(results, func(r models.SearchResult[Passage]) bool { return r.Document.Package == e.pkg }) {
				hits++
			}
		}
		fmt.Fprintf(st.w, "  %-8s %d of %d\n", by, hits, len(asked))
	}
	// Far above chance, and below the result when this was written.
	if enough := len(asked) * 7 / 10; hits < enough {
		return fmt.Errorf("hybrid search found the right package for %d of %d questions; %d should be possible", hits, len(asked), enough)
	}
	fmt.Fprintln(st.w, "  hashed vectors know spelling only, so they add little to text search")
	return nil
}

// change replaces the passages of a source that changes, changes back, and is deleted.
func (st *story) change(ctx context.Context, passages []Passage) error {
	source := passages[0].Source
	scope := search.Eq("source", source)
	before := slices.DeleteFunc(passages, func(p Passage) bool { return p.Source != source })
	more := append(slices.Clone(before), Passage{Source: source, Package: before[0].Package, Kind: "const", Symbol: "RagWasHere", Text: "It can be found, and is gone soon."})
	setIDs(more)
	fmt.Fprintf(st.w, "\nthe passages of %s\n", source)
	for _, step := range []struct {
		what     string
		passages []Passage // nil for a deleted file
	}{
		{"it gets a declaration", more},
		{"it loses it again", before},
		{"it is deleted", nil},
		{"it comes back", before},
	} {
		deleted, err := st.store.replace(ctx, scope, step.passages)
		if err != nil {
			return err
		}
		fmt.Fprintf(st.w, "  %-22s %3d uploaded, %3d deleted, %3d in the index\n", step.what, len(step.passages), deleted, len(step.passages))
	}
	return nil
}
