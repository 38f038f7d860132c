// Command mutate verifies that tests detect changes of the code: it applies each change in a MUTANTS.md and checks
// that the named test fails.
//
//	go run ./internal/mutate retry/MUTANTS.md
//
// With -check it runs no tests: it checks that each change can still be applied and compiles, and that its test
// exists. With -line N it tries only the mutant whose block begins at line N.
//
// A mutant is a fenced block marked "mutant":
//
//	file: pending.go
//	- 	if busy {
//	+ 	if false {
//	test: ./bufferedsender/test/outcomes TestModel
//
// The file is relative to the folder of the MUTANTS.md. The lines after "- " must occur in it exactly once, within
// one function. The tree is not changed: the compiler gets the changed files as an overlay. Flags of the test
// program may follow package and test. The seed of rapid is fixed, so that survival of a mutant does not depend on
// chance.
//
// Each test first runs without a change and must pass. A test that hangs with a change counts as failed after ten
// times its normal duration, at least five seconds.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
)

// most is the maximum number of mutants in all lists. Each quotes a line of code, so every change of that line must
// update it.
const most = 150

func main() {
	only := flag.Int("line", 0, "try only the mutant whose block starts at this line")
	check := flag.Bool("check", false, "run no test: only see that each mutant can still be applied and compiles, and that its test exists")
	flag.Parse()
	var mutants []mutant
	for _, list := range flag.Args() {
		more, err := parse(list)
		if err != nil {
			fail(err)
		}
		mutants = append(mutants, more...)
	}
	if *only != 0 {
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return m.line != *only })
	}
	if err := count(len(mutants)); err != nil {
		fail(err)
	}
	do := tryAll
	if *check {
		do = checkAll
	}
	wrong, err := do(mutants)
	if err != nil {
		fail(err)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

func count(mutants int) error {
	switch {
	case mutants == 0:
		return fmt.Errorf("mutate: got no mutants; name a MUTANTS.md with ```mutant blocks, and with -line the line of one")
	case mutants > most:
		return fmt.Errorf("mutate: too many mutants: got %d, want at most %d; "+
			"delete those whose argument another one guards, or that a table of cases shows (CONTRIBUTING.md, Mutants)", mutants, most)
	}
	return nil
}
