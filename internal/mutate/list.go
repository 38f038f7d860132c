package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// mutant is one change that a test must detect.
type mutant struct {
	list     string // path of a MUTANTS.md
	line     int    // in list
	file     string
	old, new string
	test     []string // package, test, further flags
}

// parse parses the blocks of a MUTANTS.md.
func parse(list string) (mutants []mutant, err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	var m *mutant
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "```mutant":
			if m != nil { // otherwise the previous block would be ignored silently
				return nil, fmt.Errorf("%s:%d: this block has no end", list, m.line)
			}
			m = &mutant{list: list, line: i + 1}
		case m == nil:
		case line == "```":
			if m.file == "" || m.old == "" || len(m.test) < 2 {
				return nil, fmt.Errorf("%s:%d: a mutant needs file, -, + and test", list, m.line)
			}
			mutants = append(mutants, *m)
			m = nil
		case strings.HasPrefix(line, "file: "):
			m.file = filepath.Join(filepath.Dir(list), strings.TrimPrefix(line, "file: "))
		case strings.HasPrefix(line, "test: "):
			m.test = strings.Fields(strings.TrimPrefix(line, "test: "))
		case strings.HasPrefix(line, "- "):
			m.old += strings.TrimPrefix(line, "- ") + "\n"
		case strings.HasPrefix(line, "+ "):
			m.new += strings.TrimPrefix(line, "+ ") + "\n"
		default:
			return nil, fmt.Errorf("%s:%d: %q is not a line of a mutant", list, i+1, line)
		}
	}
	if m != nil {
		return nil, fmt.Errorf("%s:%d: this block has no end", list, m.line)
	}
	return mutants, nil
}

// apply returns the file without and with the change.
func (m mutant) apply() (source, broken []byte, err error) {
	source, err = os.ReadFile(m.file)
	if err != nil {
		return nil, nil, err
	}
	if n := bytes.Count(source, []byte(m.old)); n != 1 {
		return nil, nil, fmt.Errorf("%q occurs %d times in %s", m.old, n, m.file)
	}
	return source, bytes.Replace(source, []byte(m.old), []byte(m.new), 1), nil
}

// testFunction matches the functions that go test -run can run.
var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// findTest returns an error if the package has no such test. It searches the source for the function, not for
// subtests.
func (m mutant) findTest() error {
	name, _, _ := strings.Cut(m.pattern(), "/")
	pattern, err := regexp.Compile(name)
	if err != nil {
		return fmt.Errorf("the test: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(m.test[0], "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, found := range testFunction.FindAllSubmatch(source, -1) {
			if pattern.Match(found[1]) {
				return nil
			}
		}
	}
	return fmt.Errorf("there is no test %s in %s", m.test[1], m.test[0])
}

// name returns the position of the mutant in its list.
func (m mutant) name() string { return fmt.Sprintf("%s:%d", m.list, m.line) }

// pattern returns the argument for -test.run.
func (m mutant) pattern() string { return "^" + m.test[1] + "$" }
