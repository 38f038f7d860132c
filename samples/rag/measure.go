package main

import (
	"context"
	"fmt"
	"slices"

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
