// Command mutate is for whoever doubts that the tests would notice: it applies
// each breakage of a MUTANTS.md and checks that the test named there fails.
//
//	go run ./internal/mutate bufferedsender/MUTANTS.md
//
// With -for 15m it tries as many as there is time for, in random order; with
// -check it runs no test: it only sees that each breakage can still be applied
// and compiles, and that its test exists.
//
// A breakage is a fenced block marked "mutant":
//
//	file: internal/publisher/pending.go
//	- 	if busy {
//	+ 	if false {
//	test: ./bufferedsender/test TestModel
//
// The file is named from the folder of the MUTANTS.md; the line after "- " must
// occur in it exactly once. Nothing is written to the tree: the compiler is
// given the changed file as an overlay. Flags after the package and the test go
// to go test. A breakage may make its test hang; that counts if the test without
// it ends in time.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// timeout is how long a test may take.
const timeout = 60 * time.Second

// mutant is one breakage.
type mutant struct {
	list     string // a MUTANTS.md
	line     int    // in it
	file     string
	old, new string
	test     []string // package, test, more flags
}

func main() {
	only := flag.Int("line", 0, "run only the mutant whose block starts at this line")
	limit := flag.Duration("for", 0, "try the mutants in random order and begin no other after this time; 0: try all, in order")
	check := flag.Bool("check", false, "run no test: only see that each mutant can still be applied and compiles, and that its test exists")
	flag.Parse()
	var mutants []mutant
	for _, list := range flag.Args() {
		more, err := parse(list)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		mutants = append(mutants, more...)
	}
	if *limit > 0 {
		rand.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	}
	if *only != 0 {
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return m.line != *only })
	}
	if len(mutants) == 0 {
		fmt.Fprintln(os.Stderr, "no mutants: name a MUTANTS.md with ```mutant blocks, and with -line the line of one")
		os.Exit(2)
	}
	var wrong int
	if *check {
		wrong = checkAll(mutants)
	} else {
		wrong = tryAll(mutants, *limit)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

// tryAll returns how many mutants were not killed.
func tryAll(mutants []mutant, limit time.Duration) (survivors int) {
	began := time.Now()
	for i, m := range mutants {
		if limit > 0 && time.Since(began) >= limit {
			fmt.Printf("the time is up: %d of %d mutants were tried\n", i, len(mutants))
			break
		}
		if err := m.run(); err != nil {
			survivors++
			fmt.Printf("%s:%d: %v\n", m.list, m.line, err)
			continue
		}
		fmt.Printf("%s:%d: killed by %s\n", m.list, m.line, m.test[1])
	}
	if survivors > 0 {
		fmt.Printf("%d mutants were not killed\n", survivors)
	}
	return survivors
}

// checkAll returns how many mutants cannot be applied any more.
func checkAll(mutants []mutant) (wrong int) {
	var c compiler
	for _, m := range mutants {
		broken, err := m.apply()
		if err == nil {
			err = c.compile(m.file, broken)
		}
		if err == nil {
			err = m.findTest()
		}
		if err != nil {
			wrong++
			fmt.Printf("%s:%d: %v\n", m.list, m.line, err)
		}
	}
	if wrong > 0 {
		fmt.Printf("%d of %d mutants cannot be applied any more\n", wrong, len(mutants))
		return wrong
	}
	fmt.Printf("%d mutants can be applied\n", len(mutants))
	return 0
}

// parse reads the blocks of a MUTANTS.md.
func parse(list string) (mutants []mutant, err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	var m *mutant
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "```mutant":
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
		}
	}
	return mutants, nil
}

// apply returns the file with the breakage.
func (m mutant) apply() ([]byte, error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		return nil, fmt.Errorf("%q occurs %d times in %s", m.old, n, m.file)
	}
	return []byte(strings.Replace(string(source), m.old, m.new, 1)), nil
}

// run reports whether the test fails, as it should, with the breakage.
func (m mutant) run() error {
	broken, err := m.apply()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	changed := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(changed, broken, 0o600); err != nil {
		return err
	}
	original, err := filepath.Abs(m.file)
	if err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return err
	}
	replace := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(replace, overlay, 0o600); err != nil {
		return err
	}
	output, err := m.goTest("-overlay=" + replace)
	var failed *exec.ExitError
	switch {
	case err == nil && strings.Contains(output, "no tests to run"):
		return fmt.Errorf("there is no test %s in %s", m.test[1], m.test[0])
	case err == nil:
		return fmt.Errorf("survived %s", strings.Join(m.test, " "))
	case !errors.As(err, &failed):
		return err
	case strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]"):
		return fmt.Errorf("does not compile:\n%s", output)
	case strings.Contains(output, "panic: test timed out"):
		if _, err := m.goTest(); err != nil {
			return fmt.Errorf("%s does not even pass in %v without it", strings.Join(m.test, " "), timeout)
		}
	}
	return nil
}

// testFunction is the beginning of what go test -run may run.
var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// findTest says if there is no such test in the package, as far as its source
// tells: subtests are not looked for.
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

// pattern is what go test -run is given.
func (m mutant) pattern() string { return "^" + m.test[1] + "$" }

// goTest runs the test.
func (m mutant) goTest(flags ...string) (output string, err error) {
	args := append([]string{"test", "-count=1", "-timeout=" + timeout.String(), "-run=" + m.pattern()}, flags...)
	args = append(append(args, m.test[0]), m.test[2:]...)
	out, err := exec.Command("go", args...).CombinedOutput()
	return string(out), err
}
